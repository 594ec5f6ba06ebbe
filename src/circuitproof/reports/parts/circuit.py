"""The circuit: drawn in layers, and its edges with what they bring and who needs them."""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from circuitproof.circuits.graph import Edge, Granularity
from circuitproof.files.printing import plural
from circuitproof.files.reading import shown
from circuitproof.reports.bundle_view import BundleView
from circuitproof.reports.drawings.circuit import FEW, draw_circuit
from circuitproof.reports.elements import Child, Element, el
from circuitproof.reports.numbers import Needs, Numbers
from circuitproof.reports.parts.section import chosen_prompt, link, note, scrolled, section

_COLUMNS = ("edge", "flips#", "ties#", "brings, least#", "most#")


def circuit(view: BundleView) -> Element:
    """Return the drawing and the table of edges."""
    kept = view.bundle.circuit
    needs: Mapping[Edge, Needs] = view.numbers.needs if isinstance(view.numbers, Numbers) else {}
    titles = {edge: _title(edge, needs.get(edge)) for edge in kept}
    rows = [_row(view, place, edge, needs.get(edge)) for place, edge in enumerate(kept)]
    drawn = draw_circuit(kept, titles, frozenset(view.bundle.frozen.programs), brought(view))
    card = el("div", class_="card", data_at="edge-card", role="tooltip", hidden=True)
    return section(
        "circuit",
        "The circuit",
        el("p", _legend(view), class_="note", data_page=True),
        chosen_prompt(),
        el("div", el("div", drawn, class_="scroll", tabindex="0"), card, class_="drawing", data_page=True),
        el("div", class_="panel", data_at="edge-panel", aria_live="polite", data_page=True),
        scrolled(_COLUMNS, rows, class_="sortable edges", tall=True),
        *_notes(view),
    )


def _legend(view: BundleView) -> str:
    hint = "Blue edges speak for the decision on the chosen prompt, orange ones against it. "
    numbers = "The number on an edge is its share of the margin there. "
    ticks = "An arrow before a node is its edge from embed, one after it its edge to logits. "
    programs = "Nodes with a dashed border are programs. " if view.bundle.frozen.programs else ""
    chooses = "Choose an edge to see the prompts that need it, or a node to keep its edges in sight."
    is_split = view.bundle.circuit.graph.granularity is Granularity.PORT
    ports = (
        "The letters q, k and v in a head stand where arrows feed its query, keys and values. "
        if is_split
        else ""
    )
    return f"{hint}{ports}{ticks if len(view.bundle.circuit) > FEW else numbers}{programs}{chooses}"


def _row(view: BundleView, place: int, edge: Edge, needs: Needs | None) -> tuple[Child, ...]:
    brought = _shares(view, edge)
    return (
        link(str(edge), f"edge-{place}", data_edge=place),
        "–" if needs is None else f"{len(needs.flips):,}",
        "–" if needs is None else f"{len(needs.ties):,}",
        shown(min(brought)) if brought else "–",
        shown(max(brought)) if brought else "–",
    )


def _title(edge: Edge, needs: Needs | None) -> str:
    if needs is None:
        return str(edge)
    return f"{edge}: without it {plural(len(needs.flips), 'decision')} flip and {len(needs.ties):,} tie"


def brought(view: BundleView) -> Mapping[Edge, str]:
    """Return what edges bring to the least margin, in a few digits."""
    if not isinstance(view.numbers, Numbers):
        return {}
    flow = min(view.numbers.cells, key=lambda cell: cell.margin).flow
    return {} if flow is None else {edge: shown(share, digits=3) for edge, share in flow.edges.items()}


def _shares(view: BundleView, edge: Edge) -> list[Fraction]:
    """Return what an edge brings to the margin in each cell for which that was computed."""
    if not isinstance(view.numbers, Numbers):
        return []
    flows = [cell.flow for cell in view.numbers.cells if cell.flow is not None]
    return [flow.edges.get(edge, Fraction(0)) for flow in flows]


def _enclosed_words(found: Numbers) -> str:
    """Say what the numbers of an enclosed claim are."""
    within = shown(max(cell.within for cell in found.cells), digits=2)
    return (
        "Logits are enclosed: margins and weights of heads on this page are midpoints, and every margin is "
        f"known to within {within}. Flips: prompts whose known decision is known to be another one without "
        "the edge. What an edge brings to a margin is told of exact logits only."
    )


def _notes(view: BundleView) -> Iterator[Element]:
    if not isinstance(view.numbers, Numbers):
        yield note(f"No numbers are shown: {view.numbers.reason}.")
        return
    if view.bundle.precision is not None:
        yield note(_enclosed_words(view.numbers))
        return
    yield note(
        "Flips and ties: prompts whose clear decision is another one, or a tie, without the edge. What an "
        "edge brings: its exact share of the margin of the decision over the next candidate, with attention "
        "and branches as they are; the shares of edges into logits and the biases there sum to the margin."
    )
    computed = sum(cell.flow is not None for cell in view.numbers.cells)
    if computed < len(view.numbers.cells):
        cells = f"{computed:,} of {len(view.numbers.cells):,} cells"
        yield note(f"Shares are computed for {cells}; circuitproof explain tells them for any prompt.")
    if not view.numbers.needs:
        yield note(
            "The circuit without each edge is not computed here: there are too many edges and prompts."
        )
