"""The top of a page: what was judged, by whom, and how it ended."""

from circuitproof.view.elements import Element, el
from circuitproof.view.story import Judgement, Story, Unjudged
from circuitproof.view.words import plural, shown_text
from circuitproof_check.main import Outcome

_SAID = {
    Outcome.VALID: "Every property is proved, and the evidence holds.",
    Outcome.REFUTED: "A property is refuted, and the refutation holds.",
    Outcome.INCOMPLETE: "Nothing is broken, but not every property is decided.",
}


def heading(story: Story) -> Element:
    """Return the title and the checker's judgement."""
    task, edges = shown_text(story.bundle.task.name), plural(len(story.bundle.circuit), "edge")
    return el(
        "header",
        el("h1", el("bdi", task), f": {edges}, {_scope(story)}"),
        _judgement(story.judgement, _SAID.get(story.judgement.outcome, "")),
    )


def unjudged(found: Unjudged) -> Element:
    """Return what is said of a bundle of which nothing can be shown."""
    said = f"Nothing of {shown_text(found.path.name)} is shown here, because nothing in it can be relied on."
    return el("header", el("h1", found.judgement.outcome.name), _judgement(found.judgement, said))


def _judgement(judgement: Judgement, said: str) -> Element:
    word = judgement.outcome.name.lower()
    return el(
        "div",
        el("p", el("strong", f"{word}. "), said),
        el("p", "The independent checker, when this page was made: ", el("q", _whole(judgement.reason))),
        class_=f"judgement {word}",
        role="status",
    )


def _whole(reason: str) -> str:
    """Return the checker's sentence, all of it but signs that do not print."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in reason)


def _scope(story: Story) -> str:
    prompts = plural(len(story.bundle.domain), "prompt")
    return prompts if story.bundle.pattern is None else f"every prompt of a pattern, {prompts} shown"
