"""The top of a page: what was judged, by whom, and how it ended."""

from circuitproof.view.elements import Element, el
from circuitproof.view.parts.section import name
from circuitproof.view.story import Story, Unjudged
from circuitproof.view.words import plural, shown_text
from circuitproof_check.main import Outcome, Report

_SAID = {
    Outcome.VALID: "Every property is proved, and the evidence holds.",
    Outcome.REFUTED: "A property is refuted, and the refutation holds.",
    Outcome.INCOMPLETE: "Nothing is broken, but not every property is decided.",
}


def heading(story: Story) -> Element:
    """Return the title and the checker's judgement."""
    edges, prompts = plural(len(story.bundle.circuit), "edge"), plural(len(story.bundle.domain), "prompt")
    scope = prompts if story.bundle.pattern is None else f"every prompt of a pattern, {prompts} shown"
    return el(
        "header",
        el("h1", name(story.bundle.task.name), f": {edges}, {scope}"),
        _judgement(story.judgement, _SAID.get(story.judgement.outcome, "")),
    )


def unjudged(found: Unjudged) -> Element:
    """Return what is said of a bundle of which nothing can be shown."""
    said = f"Nothing of {shown_text(found.path.name)} is shown here, because nothing in it can be relied on."
    return el("header", el("h1", found.judgement.outcome.name), _judgement(found.judgement, said))


def _judgement(judgement: Report, said: str) -> Element:
    word, reason = judgement.outcome.name.lower(), shown_text(judgement.reason, most=len(judgement.reason))
    return el(
        "div",
        el("p", el("strong", f"{word}. "), said),
        el("p", "The independent checker, when this page was made: ", el("q", reason)),
        class_=f"judgement {word}",
        role="status",
    )
