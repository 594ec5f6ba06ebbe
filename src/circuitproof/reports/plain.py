"""The same tree as text of at most 80 columns: what a page says, on a terminal."""

from collections.abc import Iterator
from itertools import zip_longest
from textwrap import wrap

from circuitproof.files.columns import column_widths
from circuitproof.reports.elements import Child, Element

WIDTH = 80
_ROWS = 41
"""How many rows of a table are written, its titles included."""
_SILENT = frozenset({"svg", "script", "style", "head", "nav", "button", "input", "label", "select"})


def as_text(element: Element) -> str:
    """Return what an element says; drawings, controls and what `data-page` marks say nothing."""
    return "\n".join(_lines(element)).strip("\n") + "\n"


def words(child: Child) -> str:
    """Return the words inside an element, on one line."""
    return " ".join("".join(_texts(child)).split())


def _is_silent(element: Element) -> bool:
    return element.tag in _SILENT or ("data-page", "") in element.attributes


def _lines(child: Child) -> Iterator[str]:
    if not isinstance(child, Element) or _is_silent(child):
        return
    match child.tag:
        case "h1" | "h2" | "h3":
            title = _wrapped(words(child))
            rule = "=" if child.tag == "h1" else "-"
            yield from ("", *title, *([rule * max(map(len, title), default=0)] if child.tag != "h3" else []))
        case "p" | "figcaption" | "summary":
            yield from _wrapped(words(child))
        case "li":
            yield from _wrapped(words(child), "- ")
        case "pre":
            for line in "".join(_texts(child)).splitlines():
                yield from _wrapped(line, "    ", keep=True)
        case "table":
            yield from _table(child)
        case _:
            for one in child.children:
                yield from _lines(one)


def _texts(child: Child) -> Iterator[str]:
    if isinstance(child, str):
        yield child
    elif isinstance(child, Element) and not _is_silent(child):
        for one in child.children:
            yield from _texts(one)


def _wrapped(text: str, indent: str = "", *, keep: bool = False) -> list[str]:
    further = " " * len(indent) + "  " * keep
    return wrap(text, WIDTH, initial_indent=indent, subsequent_indent=further)


def _rows(element: Element) -> Iterator[Element]:
    for one in element.children:
        if isinstance(one, Element):
            yield from [one] if one.tag == "tr" else _rows(one)


def _table(element: Element) -> Iterator[str]:
    """Lay cells out in columns; where a word has no room there, each row is a list of its own."""
    lines = list(_rows(element))
    rows = [[words(cell) for cell in line.children] for line in lines]
    rights = [isinstance(cell, Element) and "number" in cell.attribute("class") for cell in lines[0].children]
    widths = column_widths(list(zip(*rows, strict=True)), WIDTH - 2 * (len(rights) - 1))
    is_titled = element.attribute("class") != "facts"
    if widths is None:
        yield from _listed(rows[:_ROWS], is_titled=is_titled)
    else:
        for number, row in enumerate(rows[:_ROWS]):
            yield from _row(row, widths, rights)
            if number == 0 and is_titled:
                yield "  ".join("-" * width for width in widths)
    if len(rows) > _ROWS:
        yield f"… and {len(rows) - _ROWS} more rows"


def _listed(rows: list[list[str]], *, is_titled: bool) -> Iterator[str]:
    """Return rows as lists, of the columns' titles and what stands there."""
    titles = [f"{title}: " for title in rows[0]] if is_titled else [""] * len(rows[0])
    for row in rows[is_titled:]:
        for place, (title, cell) in enumerate(zip(titles, row, strict=True)):
            yield from _wrapped(f"{title}{cell}", "  " if place else "- ")


def _row(row: list[str], widths: list[int], rights: list[bool]) -> Iterator[str]:
    cells = [wrap(cell, width) or [""] for cell, width in zip(row, widths, strict=True)]
    for parts in zip_longest(*cells, fillvalue=""):
        placed = [
            part.rjust(width) if is_right else part.ljust(width)
            for part, width, is_right in zip(parts, widths, rights, strict=True)
        ]
        yield "  ".join(placed).rstrip()[:WIDTH]
