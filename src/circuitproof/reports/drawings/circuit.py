"""A circuit drawn in the order of computation: as wide as the page, and upwards where the page is narrow.

A circuit of many edges is drawn smaller, without numbers, and edges from `embed` and to `logits` are ticks at
the nodes that have them: those lines would cover everything else and tell no more.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Edge, Head, Node, Port
from circuitproof.reports.drawings.layout import DrawnPoint, Layout, Sizes, lay_out, port_offset
from circuitproof.reports.elements import Element, el

FEW = 60
"""Up to so many edges, each has its line and number and can be reached with the tabulator key."""
PAGE_WIDTH = 1060
"""How wide a drawing is made: as the text of a page on a desk."""
_EDGE = 8
"""The room around a drawing."""
_LETTER = 5
"""How far inside its head the letter of a port stands."""
_SIDEWAYS = Sizes(along=84, across=34, step=136, lane=22, apart=14)
_UPWARDS = Sizes(along=34, across=84, step=94, lane=34, apart=12)
_SMALL = Sizes(along=40, across=18, step=64, lane=5, apart=6, tick=12, is_shared=True)


@dataclass(frozen=True, slots=True)
class _Canvas:
    """A layout on paper: from left to right, or upwards."""

    layout: Layout
    is_upwards: bool = False

    @property
    def is_small(self) -> bool:
        return self.layout.sizes.tick > 0

    @property
    def head(self) -> tuple[float, float]:
        """Return how long an arrow's head is, and how wide to either side."""
        return (5, 2.5) if self.is_small else (11, 5.5)

    def spot(self, at: DrawnPoint) -> DrawnPoint:
        along, across = at
        if self.is_upwards:
            return across + _EDGE, self.layout.length - along + _EDGE
        return along + _EDGE, across + _EDGE

    def spelled(self, *points: DrawnPoint) -> str:
        return " ".join(f"{x:.5g} {y:.5g}" for x, y in map(self.spot, points))

    def size(self) -> tuple[float, float]:
        length, breadth = self.layout.length + 2 * _EDGE, self.layout.breadth + 2 * _EDGE
        return (breadth, length) if self.is_upwards else (length, breadth)


def draw_circuit(
    circuit: Circuit,
    titles: Mapping[Edge, str],
    programs: frozenset[Head],
    numbers: Mapping[Edge, str],
) -> Element:
    """Return a circuit; `titles` say what an edge is to those who do not see it, `numbers` stand on edges."""
    return _graph(circuit, titles, programs, numbers)


def draw_still(
    circuit: Circuit, programs: frozenset[Head], numbers: Mapping[Edge, str] | None = None
) -> Element:
    """Return a circuit of which nothing can be chosen."""
    return _graph(circuit, {}, programs, numbers or {})


def draw_sideways(circuit: Circuit, programs: frozenset[Head], numbers: Mapping[Edge, str]) -> Element:
    """Return the drawing of a wide page alone, of which nothing can be chosen."""
    return _drawn(_sideways(circuit), {}, programs, numbers)


def _graph(
    circuit: Circuit, titles: Mapping[Edge, str], programs: frozenset[Head], numbers: Mapping[Edge, str]
) -> Element:
    canvases = [_sideways(circuit)]
    if len(circuit) <= FEW:
        canvases.append(_Canvas(lay_out(circuit, _UPWARDS), is_upwards=True))
    return el("div", *(_drawn(canvas, titles, programs, numbers) for canvas in canvases), class_="graph")


def _sideways(circuit: Circuit) -> _Canvas:
    return _Canvas(_stretched(circuit, _SMALL if len(circuit) > FEW else _SIDEWAYS))


def _stretched(circuit: Circuit, sizes: Sizes) -> Layout:
    """Return a layout that is as wide as the page, or wider if it must."""
    columns = len({node.place[:2] for node in circuit.nodes()})
    step = max(sizes.step, (PAGE_WIDTH - sizes.along) / max(1, columns - 1))
    return lay_out(circuit, replace(sizes, step=step))


def _drawn(
    canvas: _Canvas, titles: Mapping[Edge, str], programs: frozenset[Head], numbers: Mapping[Edge, str]
) -> Element:
    layout, (width, height) = canvas.layout, canvas.size()
    edges = [_edge(place, edge, canvas, titles.get(edge)) for place, edge in enumerate(layout.routes)]
    nodes = [_node(node, canvas, is_program=node in programs, is_live=bool(titles)) for node in layout.nodes]
    kind = "many" if canvas.is_small else "upwards" if canvas.is_upwards else "sideways"
    return el(
        "svg",
        el("g", *edges),
        el("g", *nodes),
        el("g", *(() if canvas.is_small else _ports(canvas))),
        el("g", *(() if canvas.is_small else _numbers(canvas, numbers))),
        viewBox=f"0 0 {width:.5g} {height:.5g}",
        style=f"--drawn:{width:.5g}px",
        role="group",
        aria_label=f"circuit of {len(layout.routes)} edges",
        class_=f"circuit {kind}",
    )


def _edge(place: int, edge: Edge, canvas: _Canvas, title: str | None) -> Element:
    path, head = _line(edge, canvas), _arrowhead(edge, canvas)
    if title is None:
        return el("g", el("path", d=path, class_="line"), el("path", d=head, class_="head"), class_="edge")
    names = {} if canvas.is_upwards else {"id": f"edge-{place}"}
    return el(
        "g",
        el("path", d=path, class_="hit"),
        el("path", d=path, class_="line"),
        el("path", d=head, class_="head"),
        **names,
        class_="edge",
        data_edge=place,
        data_source=str(edge.source),
        data_target=str(edge.target),
        tabindex=-1 if canvas.is_small else 0,
        role="button",
        aria_label=title,
    )


def _ports(canvas: _Canvas) -> Iterator[Element]:
    """Return the first letter of each port that is fed, inside its head, where its arrows end."""
    layout = canvas.layout
    for port in dict.fromkeys(edge.target for edge in layout.routes if isinstance(edge.target, Port)):
        along, across = layout.nodes[port.head]
        inside = along - layout.sizes.along / 2 + _LETTER
        x, y = canvas.spot((inside, across + port_offset(port, layout.sizes)))
        yield el("text", port.use[0], x=x, y=y + 3, text_anchor="middle", class_="port")


def _line(edge: Edge, canvas: _Canvas) -> str:
    """Return the curve of an edge, up to where the head of its arrow begins."""
    *points, (along, across) = canvas.layout.routes[edge].points
    pieces = pairwise([*points, (along - canvas.head[0], across)])
    bends = (f"C{canvas.spelled(((a + b) / 2, c), ((a + b) / 2, d), (b, d))}" for (a, c), (b, d) in pieces)
    return f"M{canvas.spelled(points[0])}{''.join(bends)}"


def _arrowhead(edge: Edge, canvas: _Canvas) -> str:
    (along, across), (long, wide) = canvas.layout.routes[edge].points[-1], canvas.head
    back = along - long
    return f"M{canvas.spelled((along, across), (back, across - wide), (back, across + wide))}Z"


def _numbers(canvas: _Canvas, numbers: Mapping[Edge, str]) -> Iterator[Element]:
    labels = canvas.layout.labels(*((17, 52) if canvas.is_upwards else (52, 17)))
    for place, (edge, at) in enumerate(labels.items()):
        x, y = canvas.spot(at)
        number = numbers.get(edge, "")
        yield el("text", number, x=x, y=y + 4, text_anchor="middle", class_="brings", data_edge=place)


def _node(node: Node, canvas: _Canvas, *, is_program: bool, is_live: bool) -> Element:
    (x, y), sizes = canvas.spot(canvas.layout.nodes[node]), canvas.layout.sizes
    wide, high = (sizes.across, sizes.along) if canvas.is_upwards else (sizes.along, sizes.across)
    acts = {"data_node": str(node), "tabindex": 0, "role": "button", "aria_pressed": "false"}
    return el(
        "g",
        el("title", f"{node}{', a program' if is_program else ''}"),
        el("rect", x=x - wide / 2, y=y - high / 2, width=wide, height=high, rx=5),
        el("text", _label(node, canvas), x=x, y=y + (3 if canvas.is_small else 5), text_anchor="middle"),
        class_="node program" if is_program else "node",
        **(acts if is_live else {}),
    )


def _label(node: Node, canvas: _Canvas) -> str:
    """Return what stands in a node; a small one has no room for the word head."""
    return str(node).removeprefix("head ") if canvas.is_small else str(node)
