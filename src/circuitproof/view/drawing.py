"""Drawings in plain SVG: a circuit in layers, and a histogram."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from circuitproof.declare.circuits.circuit import Circuit
from circuitproof.declare.circuits.graph import Edge, Head, Node
from circuitproof.prove.findings import shown
from circuitproof.view.elements import Element, el
from circuitproof.view.run import Point

_WIDE, _HIGH = 76, 26
_STEP, _RISE = 92, 74
_MARGIN = 60
_FEW = 60
"""Up to so many edges, each can be reached with the tabulator key; more are reached in the table."""
_BINS = 24


@dataclass(frozen=True, slots=True)
class _Spot:
    x: float
    y: float
    row: int


def draw_circuit(circuit: Circuit, titles: Mapping[Edge, str], programs: frozenset[Head]) -> Element:
    """Return a circuit in layers, `embed` below and `logits` above; `titles` say what an edge is."""
    spots, width, height = _spots(circuit)
    is_few = len(circuit) <= _FEW
    edges = [_edge(place, edge, spots, titles, is_few=is_few) for place, edge in enumerate(circuit)]
    nodes = [_node(node, spot, is_program=node in programs) for node, spot in spots.items()]
    return el(
        "svg",
        *edges,
        *nodes,
        viewBox=f"0 0 {width:g} {height:g}",
        style=f"max-width:{width:g}px;min-width:{min(width, 640):g}px",
        role="group",
        aria_label=f"circuit of {len(circuit)} edges",
        class_="circuit" if is_few else "circuit many",
    )


def _spots(circuit: Circuit) -> tuple[Mapping[Node, _Spot], float, float]:
    rows = [list(group) for _, group in groupby(circuit.nodes(), key=lambda node: node.place[:2])]
    widest = max(map(len, rows))
    width, height = _STEP * widest + 2 * _MARGIN, _RISE * (len(rows) - 1) + 2 * _HIGH + 12
    spots = {
        node: _Spot(
            width / 2 + (place - (len(row) - 1) / 2) * _STEP, height - _HIGH - 6 - number * _RISE, number
        )
        for number, row in enumerate(rows)
        for place, node in enumerate(row)
    }
    return spots, width, height


def _edge(
    place: int, edge: Edge, spots: Mapping[Node, _Spot], titles: Mapping[Edge, str], *, is_few: bool
) -> Element:
    path, title = _path(spots[edge.source], spots[edge.target]), titles[edge]
    return el(
        "g",
        el("title", title),
        el("path", d=path, class_="hit"),
        el("path", d=path, class_="line"),
        id=f"edge-{place}",
        class_="edge",
        data_edge=place,
        data_source=str(edge.source),
        data_target=str(edge.target),
        tabindex=0 if is_few else -1,
        role="button",
        aria_label=title,
    )


def _path(source: _Spot, target: _Spot) -> str:
    """Return a curve; one that skips rows goes round what stands between."""
    start, end = source.y - _HIGH / 2, target.y + _HIGH / 2
    span = target.row - source.row
    if span == 1:
        middle = (start + end) / 2
        return f"M{source.x:g} {start:g}C{source.x:g} {middle:g} {target.x:g} {middle:g} {target.x:g} {end:g}"
    aside = min(_WIDE / 2 + 14 * span, 3 * _WIDE) * (-1 if source.x <= target.x else 1)
    first, second = source.x + aside, target.x + aside
    return f"M{source.x:g} {start:g}C{first:g} {start - 40:g} {second:g} {end + 40:g} {target.x:g} {end:g}"


def _node(node: Node, spot: _Spot, *, is_program: bool) -> Element:
    return el(
        "g",
        el("title", f"{node}{', a program' if is_program else ''}"),
        el("rect", x=f"{spot.x - _WIDE / 2:g}", y=f"{spot.y - _HIGH / 2:g}", width=_WIDE, height=_HIGH, rx=6),
        el("text", str(node), x=f"{spot.x:g}", y=f"{spot.y + 4:g}", text_anchor="middle"),
        class_="node program" if is_program else "node",
        data_node=str(node),
        tabindex=0,
    )


def draw_histogram(values: Sequence[Fraction], what: str) -> Element:
    """Return how often values of each size occur."""
    low, high = min(values), max(values)
    counts = [0] * _BINS
    for value in values:
        place = int((value - low) / (high - low) * _BINS) if high > low else 0
        counts[min(place, _BINS - 1)] += 1
    bar, top = 20, max(counts)
    bars = [
        el(
            "rect",
            el("title", f"{count} from {shown(low + (high - low) * place / _BINS)}"),
            x=10 + place * bar,
            y=f"{12 + 100 * (1 - count / top):g}",
            width=bar - 2,
            height=f"{100 * count / top:g}",
        )
        for place, count in enumerate(counts)
        if count
    ]
    wide = 20 + _BINS * bar
    return el(
        "svg",
        *bars,
        el("line", x1=10, x2=wide - 10, y1="112.5", y2="112.5"),
        el("text", shown(low), x=10, y=130),
        el("text", shown(high), x=wide - 10, y=130, text_anchor="end"),
        el("text", f"{top:,}", x=10, y=10),
        viewBox=f"0 0 {wide} 138",
        role="img",
        aria_label=f"histogram of {len(values)} {what}",
        class_="histogram",
    )


def draw_frontier(points: Sequence[Point], title: str) -> Element:
    """Return edges against the worst margin, a mark for each point."""
    most = max(point.edges for point in points)
    low, high = min(0.0, *(point.margin for point in points)), max(point.margin for point in points)
    span = (high - low) or 1.0

    def height(margin: float) -> float:
        return 160 - 140 * (margin - low) / span

    marks = [
        el(
            "circle",
            el("title", f"{point.origin}: {point.edges} edges, worst margin {point.margin:.4g}"),
            cx=f"{40 + 340 * point.edges / max(most, 1):g}",
            cy=f"{height(point.margin):g}",
            r=5,
            class_="selected" if point.is_selected else "nested" if point.is_nested else "",
        )
        for point in sorted(points, key=lambda point: point.is_selected)
    ]
    return el(
        "svg",
        el("line", x1=40, x2=390, y1=f"{height(0.0):g}", y2=f"{height(0.0):g}"),
        el("line", x1=40, x2=40, y1=10, y2=165),
        *marks,
        el("text", f"{high:.3g}", x=36, y=24, text_anchor="end"),
        el("text", f"{low:.3g}", x=36, y=164, text_anchor="end"),
        el("text", "0 edges", x=40, y=182),
        el("text", f"{most} edges", x=390, y=182, text_anchor="end"),
        viewBox="0 0 400 188",
        role="img",
        aria_label=f"frontier of {title}",
        class_="chart",
    )
