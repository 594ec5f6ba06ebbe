"""A circuit drawn in layers, `embed` below and `logits` above.

A circuit of many edges is drawn smaller, and edges from `embed` and to `logits` are ticks at the nodes that
have them: those lines would cover everything else and tell no more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from circuitproof.declare.circuits.circuit import Circuit
from circuitproof.declare.circuits.graph import EMBED, LOGITS, Edge, Head, Node
from circuitproof.view.elements import Element, el

FEW = 60
"""Up to so many edges, each has its line and can be reached with the tabulator key."""
_SWEEPS = 6
_EDGE = 18
"""The room around a drawing."""


@dataclass(frozen=True, slots=True)
class _Style:
    """How large nodes are, and how far apart."""

    wide: int
    high: int
    step: int
    rise: int
    tick: int
    """How long the tick of an edge from `embed` or to `logits` is; none is drawn where it is 0."""


_LARGE = _Style(wide=84, high=30, step=104, rise=78, tick=0)
_SMALL = _Style(wide=46, high=20, step=66, rise=42, tick=9)


@dataclass(frozen=True, slots=True)
class _Spot:
    x: float
    y: float
    row: int


@dataclass(frozen=True, slots=True)
class _Layout:
    spots: Mapping[Node, _Spot]
    style: _Style
    width: float
    height: float


def draw_circuit(circuit: Circuit, titles: Mapping[Edge, str], programs: frozenset[Head]) -> Element:
    """Return a circuit in layers; `titles` say what an edge is to those who do not see it."""
    layout = _layout(circuit)
    is_few = len(circuit) <= FEW
    edges = [_edge(place, edge, layout, titles[edge], is_few=is_few) for place, edge in enumerate(circuit)]
    nodes = [_node(node, layout, is_program=node in programs) for node in layout.spots]
    return el(
        "svg",
        el("g", *edges),
        el("g", *nodes),
        viewBox=f"0 0 {layout.width:g} {layout.height:g}",
        style=f"width:{layout.width:g}px",
        role="group",
        aria_label=f"circuit of {len(circuit)} edges",
        class_="circuit" if is_few else "circuit many",
    )


def _layout(circuit: Circuit) -> _Layout:
    style = _LARGE if len(circuit) <= FEW else _SMALL
    rows = _ordered(circuit)
    row_of = {node: number for number, row in enumerate(rows) for node in row}
    width = style.step * max(map(len, rows)) + 2 * _EDGE
    if any(row_of[edge.target] - row_of[edge.source] > 1 for edge in circuit) and not style.tick:
        width += 2 * style.wide
    height = style.rise * (len(rows) - 1) + style.high + 2 * _EDGE
    spots = {
        node: _Spot(
            width / 2 + (place - (len(row) - 1) / 2) * style.step,
            height - _EDGE - style.high / 2 - number * style.rise,
            number,
        )
        for number, row in enumerate(rows)
        for place, node in enumerate(row)
    }
    return _Layout(spots, style, width, height)


def _ordered(circuit: Circuit) -> list[list[Node]]:
    """Return the rows of nodes, each ordered by where its neighbours stand, so that fewer edges cross."""
    rows = [list(group) for _, group in groupby(circuit.nodes(), key=lambda node: node.place[:2])]
    beside: dict[Node, list[Node]] = {node: [] for row in rows for node in row}
    for edge in circuit:
        if {edge.source, edge.target}.isdisjoint({EMBED, LOGITS}):
            beside[edge.source].append(edge.target)
            beside[edge.target].append(edge.source)
    for _ in range(_SWEEPS):
        places = {node: place - (len(row) - 1) / 2 for row in rows for place, node in enumerate(row)}
        means = {node: _mean([places[one] for one in beside[node]] or [places[node]]) for node in beside}
        for row in rows:
            row.sort(key=lambda node: (means[node], node.place))
    return rows


def _mean(places: Sequence[float]) -> float:
    return sum(places) / len(places)


def _edge(place: int, edge: Edge, layout: _Layout, title: str, *, is_few: bool) -> Element:
    path = _path(edge, layout)
    return el(
        "g",
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


def _path(edge: Edge, layout: _Layout) -> str:
    """Return a curve; one that skips rows goes round what stands between, if there is room."""
    source, target, style = layout.spots[edge.source], layout.spots[edge.target], layout.style
    start, end = source.y - style.high / 2, target.y + style.high / 2
    if style.tick and edge.source == EMBED:
        return f"M{target.x:g} {end + style.tick:g}V{end:g}"
    if style.tick and edge.target == LOGITS:
        return f"M{source.x:g} {start:g}V{start - style.tick:g}"
    span = target.row - source.row
    if span == 1 or style.tick:
        middle = (start + end) / 2
        return f"M{source.x:g} {start:g}C{source.x:g} {middle:g} {target.x:g} {middle:g} {target.x:g} {end:g}"
    side = -1 if source.x <= target.x else 1
    aside = side * min(style.wide / 2 + 20 * span, 1.6 * style.wide)
    lift = min((start - end) / 2, style.rise)
    first, second = source.x + aside, target.x + aside
    return (
        f"M{source.x:g} {start:g}C{first:g} {start - lift:g} {second:g} {end + lift:g} {target.x:g} {end:g}"
    )


def _node(node: Node, layout: _Layout, *, is_program: bool) -> Element:
    spot, style = layout.spots[node], layout.style
    left, top = spot.x - style.wide / 2, spot.y - style.high / 2
    return el(
        "g",
        el("title", f"{node}{', a program' if is_program else ''}"),
        el("rect", x=left, y=top, width=style.wide, height=style.high, rx=5),
        el("text", _label(node, style), x=spot.x, y=spot.y + 4, text_anchor="middle"),
        class_="node program" if is_program else "node",
        data_node=str(node),
        tabindex=0,
    )


def _label(node: Node, style: _Style) -> str:
    """Return what stands in a node; a small one has no room for the word head."""
    return str(node).removeprefix("head ") if style.tick else str(node)
