"""A page: its parts in order, as one HTML file that needs nothing else, or as text.

A new kind of evidence or claim adds a part to `PARTS` and changes no other; what the part does when it is
touched is a module of its own in `script/`. Notebooks call `bundle_fragment`.
"""

from collections.abc import Callable, Sequence
from importlib.resources import files

from circuitproof.files.canonical import Json
from circuitproof.reports.bundle_view import BundleView, Unjudged
from circuitproof.reports.data import page_data
from circuitproof.reports.elements import Element, RawText, el, json_source, render, with_prefix
from circuitproof.reports.judged import JudgedBundle
from circuitproof.reports.parts.circuit import circuit
from circuitproof.reports.parts.claim import claim
from circuitproof.reports.parts.cost import cost
from circuitproof.reports.parts.explanation import explanation
from circuitproof.reports.parts.heading import heading, unjudged
from circuitproof.reports.parts.heads import heads
from circuitproof.reports.parts.of_bundles import bundle_prefix
from circuitproof.reports.parts.of_claims import claims_heading, claims_section
from circuitproof.reports.parts.prompts import prompts
from circuitproof.reports.parts.regions import regions
from circuitproof.reports.parts.section import name, outcome_badge, section
from circuitproof.reports.parts.spread import spreads
from circuitproof.reports.parts.verdicts import limits, verdicts
from circuitproof.reports.parts.witnesses import witnesses
from circuitproof.reports.plain import as_text, words
from circuitproof.reports.said import Table
from circuitproof.version import __version__

PARTS: tuple[Callable[[BundleView], Element | None], ...] = (
    heading,
    verdicts,
    circuit,
    claim,
    limits,
    explanation,
    heads,
    prompts,
    spreads,
    witnesses,
    regions,
    cost,
)
_OURS = files("circuitproof.reports")
_ENDS, _FRAME = ("shared.js", "start.js"), "frame.js"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""A browser refuses whatever a page would fetch."""


def bundle_page(view: BundleView | Unjudged) -> str:
    """Return the page of a bundle; of one that was not judged to its end it has only the reason."""
    return page(bundle_parts(view), _data(view))


def bundle_fragment(view: BundleView | Unjudged, prefix: str = "") -> str:
    """Return what the page shows as a piece of HTML, with its style and script, for a notebook.

    Several stand in one document if each has a prefix of its own for its names.
    """
    return fragment(bundle_parts(view), _data(view), prefix)


def bundle_text(view: BundleView | Unjudged) -> str:
    """Return what the page of a bundle says, in 80 columns."""
    return as_text(el("main", *bundle_parts(view)))


def claims_page(title: str, sentences: Sequence[str], table: Table, bundles: Sequence[JudgedBundle]) -> str:
    """Return the page of a claims file: all claims in one table, and what each bundle's own page shows."""
    heading = claims_heading(title, sentences)
    return page((heading, claims_section(table.columns, table.rows), *proofs(bundles)), {})


def proofs(bundles: Sequence[JudgedBundle]) -> tuple[Element, ...]:
    """Return the parts of each bundle, closed until somebody opens them; text tells them bundle by bundle."""
    opened = [
        _proof(one.place, one.view, bundle_prefix(number))
        for number, one in enumerate(bundles)
        if one.view is not None
    ]
    return (section("proofs", "What is proved, bundle by bundle", *opened),) if opened else ()


def _proof(place: str, view: BundleView, prefix: str) -> Element:
    _, *parts = bundle_parts(view)
    shown = (with_prefix(part, prefix) for part in parts)
    return el(
        "details",
        el("summary", name(place), " ", outcome_badge(view.judgement.outcome.name.lower(), view.beside)),
        el("div", *shown, _data_script(page_data(view)), class_="circuitproof", data_prefix=prefix),
        data_page=True,
    )


def bundle_parts(view: BundleView | Unjudged) -> tuple[Element, ...]:
    """Return the parts that there are of a bundle."""
    if isinstance(view, Unjudged):
        return (unjudged(view),)
    return tuple(made for part in PARTS if (made := part(view)) is not None)


def _data(view: BundleView | Unjudged) -> Json:
    return {} if isinstance(view, Unjudged) else page_data(view)


def fragment(parts: tuple[Element, ...], data: Json, prefix: str = "") -> str:
    """Return some parts, with the data of their script, as a piece of HTML that stands in any document."""
    shown = (with_prefix(part, prefix) for part in parts)
    return render(el("div", _style(), *shown, *_scripts(data), class_="circuitproof"))


def page(parts: tuple[Element, ...], data: Json) -> str:
    """Return a whole HTML file with these parts and the data of their script."""
    names = [part.attribute("id") for part in parts]
    toggle = el("button", "light or dark", type="button", data_at="theme")
    title = next(one for one in parts[0].children if isinstance(one, Element))
    body = el(
        "body",
        el("a", "to the content", href="#main", class_="skip"),
        el("nav", *(el("a", one, href=f"#{one}") for one in names if one), toggle, aria_label="parts"),
        el("main", *parts, id="main"),
        el("footer", el("p", f"Made by circuitproof {__version__}. It loads nothing and sends nothing.")),
        *_scripts(data),
        class_="circuitproof",
    )
    return _document(words(title), body)


def alone(*parts: Element) -> str:
    """Return a whole HTML file with nothing but these parts, for a frame in a notebook that fits them."""
    script = el("script", RawText(_ours("script", _FRAME)))
    body = el("body", el("main", *parts), script, class_="circuitproof", data_fit=True)
    return _document("circuitproof", body)


def _document(title: str, body: Element) -> str:
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("title", title),
        _style(),
    )
    return "<!doctype html>\n" + render(el("html", head, body, lang="en")) + "\n"


def _scripts(data: Json) -> tuple[Element, Element]:
    """Return the data, and the script in one closure: what modules share first, what starts them last."""
    names = sorted(file.name for file in _OURS.joinpath("script").iterdir() if file.name not in _ENDS)
    texts = [_ours("script", one) for one in (_ENDS[0], *names, _ENDS[1])]
    return _data_script(data), el("script", RawText("\n".join(["(() => {", *texts, "})();"])))


def _data_script(data: Json) -> Element:
    return el("script", json_source(data), type="application/json", class_="data")


def _style() -> Element:
    return el("style", RawText(_ours("page.css")))


def _ours(*names: str) -> str:
    return _OURS.joinpath(*names).read_text(encoding="utf-8")
