"""The parts of the page of a claims file: whose claims these are, and all verdicts in one table."""

from collections.abc import Sequence

from circuitproof.reports.elements import Child, Element, el
from circuitproof.reports.parts.section import name, note, scrolled, section, verdict_badge


def claims_heading(title: str, sentences: Sequence[str]) -> Element:
    """Return the name of the claims file, and what all of its claims come to."""
    told = (el("p", name(f"{one[:1].upper()}{one[1:]}.", most=600)) for one in sentences)
    return el("header", el("h1", "The claims of ", name(title)), *told)


def claims_section(columns: tuple[str, ...], rows: Sequence[Sequence[str]]) -> Element:
    """Return the table of all claims, with verdicts as they are drawn everywhere."""
    about = note(
        "Verdicts are those of the independent checker; times are in seconds on the machine at hand."
    )
    cells = [tuple(map(_cell, columns, row)) for row in rows]
    return section("claims", "Claims", about, scrolled(columns, cells))


def _cell(column: str, cell: str) -> Child:
    return verdict_badge(cell) if column in {"verdict", "expected"} else name(cell, most=200)
