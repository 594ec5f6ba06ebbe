"""What is said of a result: tables, drawings and sentences, as text or as the page's elements."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from circuitproof.reports.elements import Child, Element, el, render
from circuitproof.reports.parts.section import scrolled, verdict_badge
from circuitproof.reports.plain import as_text


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its title; a column whose title ends in # holds numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


_LINE, _MOST = 28, 420
"""How high a line is, and a frame whose script does not run, in pixels."""
Said: TypeAlias = Table | Element | str
"""A table, a part of a page such as a drawing, or a sentence."""


def text_of(said: Iterable[Said]) -> str:
    """Return what is said in 80 columns, as Python's prompt shows it."""
    return as_text(_section(said)).rstrip("\n")


def html_of(said: Iterable[Said]) -> str:
    """Return what is said with the elements of the page, as a notebook shows it."""
    from circuitproof.reports.page import alone  # whoever prints on a terminal needs no page

    made = _section(said)
    return framed(alone(made), min(_MOST, _LINE * (3 + as_text(made).count("\n"))))


def framed(document: str, height: int) -> str:
    """Return a whole HTML file inside another page, where neither changes how the other looks.

    Where scripts run, what is to be seen at once is as high as it is; elsewhere it has this height.
    """
    style = f"width:100%;height:{height}px;border:0"
    return render(el("iframe", srcdoc=document, style=style, title="circuitproof"))


def _section(said: Iterable[Said]) -> Element:
    return el("section", *(child for one in said for child in _children(one)))


def _children(one: Said) -> Iterator[Element]:
    match one:
        case str():
            yield el("p", one)
        case Element():
            yield one
        case Table(title, columns, rows):
            yield el("h3", title)
            yield scrolled(columns, [tuple(map(_cell, columns, row)) for row in rows])
        case _:
            assert_never(one)


def _cell(column: str, cell: str) -> Child:
    return verdict_badge(cell) if column == "verdict" else cell
