"""The top of a page: what was judged, by whom, and how it ended."""

from circuitproof.files.printing import plural, shown_text
from circuitproof.reports.bundle_view import BundleView, Unjudged
from circuitproof.reports.elements import Element, el
from circuitproof.reports.parts.section import link, name, uncompared
from circuitproof_check.main import Outcome, Report

_SAID = {
    Outcome.VALID: "Every property is proved, and the evidence holds.",
    Outcome.REFUTED: "A property is refuted, and the refutation holds.",
    Outcome.INCOMPLETE: "Nothing is broken, but not every property is decided.",
}


def heading(view: BundleView) -> Element:
    """Return the title and the checker's judgement."""
    return el(
        "header",
        el("h1", name(view.bundle.task.name), f": {size_words(view)}"),
        _judgement(view.judgement, _SAID.get(view.judgement.outcome, ""), uncompared(view.beside)),
    )


def size_words(view: BundleView) -> str:
    """Say how many edges a claim is about, and which prompts."""
    edges, prompts = plural(len(view.bundle.circuit), "edge"), plural(len(view.bundle.domain), "prompt")
    scope = prompts if view.bundle.pattern is None else f"every prompt of a pattern, {prompts} shown"
    return f"{edges}, {scope}"


def unjudged(found: Unjudged) -> Element:
    """Return what is said of a bundle of which nothing can be shown."""
    said = f"Nothing of {shown_text(found.path.name)} is shown here, because nothing in it can be relied on."
    return el("header", el("h1", found.judgement.outcome.name), _judgement(found.judgement, said, ""))


def _judgement(judgement: Report, said: str, missing: str) -> Element:
    word, reason = judgement.outcome.name.lower(), shown_text(judgement.reason, most=len(judgement.reason))
    is_open = judgement.outcome is Outcome.VALID and missing
    told = f"Not compared: {missing}. The verdicts are about what the bundle holds; "
    open_ends = (el("p", told, link("how to compare", "limits"), "."),) if is_open else ()
    return el(
        "div",
        el("p", el("strong", f"{word}, not compared. " if is_open else f"{word}. "), said),
        *open_ends,
        el("p", "The independent checker, when this page was made: ", el("q", reason)),
        class_=f"judgement {word} uncompared" if is_open else f"judgement {word}",
        role="status",
    )
