"""Counterexamples and witnesses: the prompts on which anyone can see what is said."""

from circuitproof.files.printing import shown_text
from circuitproof.files.reading import shown
from circuitproof.proof.fold import Fold
from circuitproof.reports.bundle_view import BundleView
from circuitproof.reports.elements import Child, Element, el
from circuitproof.reports.evidence import PromptWitness, Shown, ShownDecision
from circuitproof.reports.numbers import lead
from circuitproof.reports.parts.section import link, scrolled, section
from circuitproof.reports.words import decision_text, moved, prompt_text

_COLUMNS = ("what it shows", "prompt", "decides", "what is changed", "then decides")


def witnesses(view: BundleView) -> Element | None:
    """Return a table of what the evidence replays, refutations first; the page goes through them."""
    found = enumerate(view.witnesses)
    rows = [_row(view, place, one, entry) for place, one in found for entry in one.shown]
    if not rows:
        return None
    return section(
        "witnesses",
        "Counterexamples and witnesses",
        el("div", class_="walk", data_at="walk", data_page=True),
        scrolled(_COLUMNS, rows, class_="stacked", tall=True),
    )


def says(one: PromptWitness) -> str:
    """Return what a witness is for."""
    return f"{'refutes' if one.is_refutation else 'shows'} {one.prop.name}"


def _row(view: BundleView, place: int, one: PromptWitness, entry: Shown) -> tuple[Child, ...]:
    prompt = shown_text(prompt_text(view.bundle.task, view.bundle.domain.prompts[entry.prompt]), most=200)
    changed = one.change() + (f": {moved(entry.perturbation)}" if entry.perturbation else "")
    return (
        says(one),
        link(prompt, "witnesses", data_witness=place, class_="prompt"),
        _decided(view, entry.found),
        changed or "nothing",
        "" if entry.other is None else _decided(view, entry.other),
    )


def _decided(view: BundleView, found: ShownDecision) -> Element:
    margin = f" by {shown(lead(found))}" if isinstance(found, Fold) else ""
    return el("bdi", decision_text(view.bundle.task, found.decision) + margin)
