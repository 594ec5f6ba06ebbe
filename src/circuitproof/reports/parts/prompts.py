"""The table of prompts: what each is, what is decided, by how much, and in which cell."""

from circuitproof.files.printing import plural, shown_text
from circuitproof.files.reading import shown
from circuitproof.proof.known import decides, divide
from circuitproof.reports.bundle_view import BundleView
from circuitproof.reports.elements import Child, Element, el
from circuitproof.reports.numbers import Numbers
from circuitproof.reports.parts.section import link, scrolled, section
from circuitproof.reports.words import answer_name, decision_text, prompt_text

_ROWS = 50
"""How many prompts a table shows at first."""
_COLUMNS = ("prompt", "answer", "decision", "margin#", "radius#", "cell#")


def prompts(view: BundleView) -> Element:
    """Return the prompts of the least margins; the page searches and sorts all of them."""
    rows = [_row(view, place) for place in closest(view)[:_ROWS]]
    return section(
        "prompts",
        "The prompts",
        el("p", _summary(view)),
        el(
            "p",
            el("label", "search ", el("input", type="search", autocomplete="off", data_at="search")),
            el("button", "all prompts", type="button", data_at="unfilter", hidden=True),
            el("span", data_at="found", aria_live="polite"),
            class_="controls",
            data_page=True,
        ),
        scrolled(_COLUMNS, rows, class_="prompts", data_at="prompt-table", tall=True),
        el("p", el("button", "more", type="button", data_at="more"), data_page=True),
    )


def closest(view: BundleView) -> list[int]:
    """Return the places of the prompts, those of the least margin first."""
    places, found = list(range(len(view.bundle.domain))), view.numbers
    if not isinstance(found, Numbers):
        return places
    order = sorted(range(len(found.cells)), key=lambda cell: found.cells[cell].margin)
    ranks = {cell: rank for rank, cell in enumerate(order)}
    return sorted(places, key=lambda place: ranks[found.cell_of[place]])


def _row(view: BundleView, place: int) -> tuple[Child, ...]:
    task = view.bundle.task
    text = shown_text(prompt_text(task, view.bundle.domain.prompts[place]), most=200)
    known = (link(text, "explanation", data_prompt=place), el("bdi", answer_name(task, view.answers[place])))
    if not isinstance(view.numbers, Numbers):
        return (*known, "–", "–", "–", "–")
    number = view.numbers.cell_of[place]
    cell = view.numbers.cells[number]
    radius = "–" if cell.flip is None else shown(cell.flip.radius)
    return (
        *known,
        el("bdi", decision_text(task, cell.fold.decision)),
        shown(cell.margin),
        radius,
        f"{number}",
    )


def _summary(view: BundleView) -> str:
    count = plural(len(view.bundle.domain), "prompt")
    what = f"{count} shown of the pattern" if view.bundle.pattern is not None else count
    if not isinstance(view.numbers, Numbers):
        return f"{what}."
    cells = plural(len(view.numbers.cells), "cell")
    pairs = zip(view.numbers.cell_of, view.answers, strict=True)
    candidates, found = view.bundle.task.candidates, view.numbers.cells
    right = sum(decides(found[c].fold, candidates.index(answer)) is True for c, answer in pairs)
    known = divide(found[c].is_clear for c in view.numbers.cell_of)
    unclear = plural(len(known.no), "tie")
    if view.bundle.precision is not None:
        unclear = f"{len(known.open):,} not known"
    return f"{what} in {cells}; {right:,} decided right, {unclear}. The least margins come first."
