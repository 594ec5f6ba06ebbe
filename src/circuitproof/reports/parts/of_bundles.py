"""What a run has proved: the circuit of each bundle, its verdicts, and the whole of its page below."""

from collections.abc import Sequence

from circuitproof.files.printing import shown_text
from circuitproof.reports.drawings.circuit import draw_still
from circuitproof.reports.elements import Element, el
from circuitproof.reports.judged import JudgedBundle
from circuitproof.reports.parts.circuit import brought
from circuitproof.reports.parts.heading import size_words
from circuitproof.reports.parts.section import (
    link,
    name,
    note,
    outcome_badge,
    scrolled,
    section,
    verdict_badge,
)

_LONGEST = 120
"""How much of the path of a bundle is shown."""


def bundle_prefix(number: int) -> str:
    """Return what the names of a bundle's own parts begin with on the page of a run."""
    return f"bundle-{number}-"


def bundles(judged: Sequence[JudgedBundle]) -> Element | None:
    """Return the circuit of each bundle, its verdicts, and what the checker says of it."""
    if not judged:
        return None
    told = note(
        "The number on an edge is its share of the margin on the prompt of the least margin. "
        "circuitproof show BUNDLE tells all of one of them."
    )
    shown = (_bundle(number, one) for number, one in enumerate(judged))
    return section("bundles", "Circuits and verdicts", *shown, told)


def _bundle(number: int, one: JudgedBundle) -> Element:
    said = note(f"The checker: {shown_text(one.report.reason, most=600)}")
    if (view := one.view) is None:
        title = el("h3", name(one.place, most=_LONGEST), " ", verdict_badge(one.outcome))
        return el("div", title, said, class_="bundle")
    place = link(shown_text(one.place, most=_LONGEST), f"{bundle_prefix(number)}circuit")
    drawn = draw_still(view.bundle.circuit, frozenset(view.bundle.frozen.programs), brought(view))
    rows = [
        (answer.prop.name, verdict_badge(answer.verdict), "; ".join(answer.remarks))
        for answer in view.bundle.answers
    ]
    return el(
        "div",
        el("h3", place, " ", outcome_badge(one.outcome, view.beside)),
        el("p", f"{size_words(view)}."),
        el("div", drawn, class_="scroll drawing", tabindex="0"),
        scrolled(("property", "verdict", "remarks"), rows),
        said,
        class_="bundle",
    )
