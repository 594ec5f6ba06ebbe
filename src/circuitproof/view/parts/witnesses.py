"""Counterexamples and witnesses: the prompts on which anyone can see what is said."""

from circuitproof.prove.verdict import Verdict
from circuitproof.view.elements import Child, Element, el, table
from circuitproof.view.evidence import Witness
from circuitproof.view.parts.section import link, section
from circuitproof.view.story import Story
from circuitproof.view.words import moved, prompt_text, property_name, shown_text


def witnesses(story: Story) -> Element | None:
    """Return a table of what the evidence replays, refutations first."""
    if not story.witnesses:
        return None
    ordered = sorted(story.witnesses, key=lambda one: one.verdict is not Verdict.REFUTED)
    rows = [_row(story, one) for one in ordered]
    return section(
        "witnesses",
        "Counterexamples and witnesses",
        el("div", table(("shows", "prompt", "what is changed"), rows), class_="scroll tall", tabindex="0"),
    )


def _row(story: Story, one: Witness) -> tuple[Child, ...]:
    refutes = "refutes" if one.verdict is Verdict.REFUTED else "shows"
    prompts = [
        link(_prompt(story, place), "explanation", data_prompt=place, class_="prompt")
        for place in one.prompts
    ]
    return (f"{refutes} {property_name(one.prop)}", el("span", *_joined(prompts)), _changed(one))


def _prompt(story: Story, place: int) -> str:
    return shown_text(prompt_text(story.bundle.task, story.bundle.domain.prompts[place]), most=200)


def _joined(links: list[Element]) -> list[Child]:
    return [part for place, one in enumerate(links) for part in ((" and ", one) if place else (one,))]


def _changed(one: Witness) -> str:
    if one.edge is not None:
        return f"without {one.edge}"
    return moved(one.perturbation) if one.perturbation else "nothing"
