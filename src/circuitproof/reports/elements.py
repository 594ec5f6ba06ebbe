"""A tree of elements: what a page is made of. Text is escaped where it is written, never before."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from circuitproof.files.canonical import Json

_VOID = frozenset({"meta", "input", "br", "hr"})
_PLAIN = frozenset({"title", "text", "option"})
"""Elements that hold text and nothing else."""
_EDGE = re.compile(r"(?:(?:head|mlp) )?\S+ -&gt; (?:(?:head|mlp) )?[^\s,;:]+")
"""The name of an edge in escaped text; a browser would break it after the sign `-`."""


@dataclass(frozen=True, slots=True)
class Element:
    """A tag, its attributes, and what stands inside."""

    tag: str
    attributes: tuple[tuple[str, str], ...]
    children: "tuple[Element | RawText | str, ...]"

    def attribute(self, name: str) -> str:
        """Return an attribute's value, or nothing."""
        return dict(self.attributes).get(name, "")


@dataclass(frozen=True, slots=True)
class RawText:
    """Text of ours or JSON that stands in a `script` or `style` as it is; it cannot end that element."""

    text: str

    def __post_init__(self) -> None:
        if "</" in self.text or "<!--" in self.text:
            raise ValueError("a source that could end its element; write the sign < as an escape")


Child = Element | RawText | str


def el(tag: str, *children: Child, **attributes: str | float) -> Element:
    """Return an element; `class_` is spelled `class`, `data_x` `data-x`, and an attribute may be just there.

    >>> render(el("p", "a < b", class_="note", hidden=True, x=0.1 + 0.2))
    '<p class="note" hidden="" x="0.3">a &lt; b</p>'
    """
    spelled = (
        (name.rstrip("_").replace("_", "-"), _spelled(value))
        for name, value in attributes.items()
        if value is not False
    )
    return Element(tag, tuple(spelled), children)


def _spelled(value: str | float) -> str:
    if value is True:
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)


_POINTING = frozenset({"id", "aria-labelledby"})


def with_prefix(element: Element, prefix: str) -> Element:
    """Return an element whose names, and what points at them, have a prefix: several stand in one document.

    >>> render(with_prefix(el("a", el("b", id="x"), href="#x"), "p-"))
    '<a href="#p-x"><b id="p-x"></b></a>'
    """

    def spelled(name: str, value: str) -> str:
        if name == "href" and value.startswith("#"):
            return f"#{prefix}{value[1:]}"
        return f"{prefix}{value}" if name in _POINTING else value

    return Element(
        element.tag,
        tuple((name, spelled(name, value)) for name, value in element.attributes),
        tuple(with_prefix(one, prefix) if isinstance(one, Element) else one for one in element.children),
    )


def json_source(value: Json) -> RawText:
    r"""Return JSON that no HTML parser takes for markup.

    >>> json_source({"name": "</script>"}).text
    '{"name":"\\u003c/script\\u003e"}'
    """
    spelled = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return RawText(spelled.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026"))


def render(element: Element) -> str:
    """Return an element as HTML."""
    return "".join(_pieces(element))


def _escaped(text: str, tag: str) -> str:
    """Return text as HTML in which no edge's name is broken between lines."""
    spelled = escape(text, quote=False)
    if tag in _PLAIN or "-&gt;" not in spelled:
        return spelled
    return _EDGE.sub(lambda found: f'<span class="unbroken">{found[0]}</span>', spelled)


def _pieces(child: Child, inside: str = "") -> Iterator[str]:
    match child:
        case str():
            yield _escaped(child, inside)
        case RawText(text):
            yield text
        case Element(tag, attributes, children):
            yield f"<{tag}" + "".join(f' {name}="{escape(value)}"' for name, value in attributes) + ">"
            for one in children:
                yield from _pieces(one, tag)
            if tag not in _VOID:
                yield f"</{tag}>"


def table(columns: tuple[str, ...], rows: Sequence[tuple[Child, ...]], **attributes: str) -> Element:
    """Return a table; a column whose title ends in # holds numbers."""
    titles = [(column.removesuffix("#"), "number" if column.endswith("#") else "") for column in columns]
    heads = [el("th", label, scope="col", class_=kind) for label, kind in titles]
    cells = [
        [el("td", one, class_=kind, data_label=label) for one, (label, kind) in zip(row, titles, strict=True)]
        for row in rows
    ]
    body = (el("tr", *row) for row in cells)
    return el("table", el("thead", el("tr", *heads)), el("tbody", *body), **attributes)
