"""Where the nodes and edges of a circuit are drawn, the same on pages and in figures.

Nodes stand in columns in the order of computation, the heads of a layer in theirs. An edge that passes a
column has a lane there, apart from all nodes, and lines bend only between columns: no edge passes behind a
node.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise, product
from statistics import fmean
from typing import TypeAlias

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import EMBED, LOGITS, Edge, Node, Port, Use

_SWEEPS = 12
_SHARES = (0.5, 0.4, 0.6, 0.3, 0.7)
"""Where on a bend a number may stand, the best place first."""

DrawnPoint: TypeAlias = tuple[float, float]
"""How far in the order of computation, and how far across it."""
Piece: TypeAlias = tuple[DrawnPoint, DrawnPoint]


@dataclass(frozen=True, slots=True)
class Lane:
    """Where the lines of a track pass a column; a track is an edge, or a node with all its edges."""

    track: Edge | Node
    column: int


Waypoint: TypeAlias = Node | Lane


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large things are, in any unit; along is the order of computation."""

    along: float
    """The extent of a node."""
    across: float
    step: float
    """From one column to the next."""
    lane: float
    """The least distance of a lane from whatever is beside it."""
    apart: float
    """Between two nodes of a column."""
    tick: float = 0
    """If not 0, edges from `embed` and to `logits` are ticks of this length at their other ends."""
    is_shared: bool = False
    """Whether the edges of a node share a lane."""


@dataclass(frozen=True, slots=True)
class Route:
    """The way of an edge from point to point; it leaves and arrives at each in the order of computation."""

    points: tuple[DrawnPoint, ...]

    def places(self) -> Iterator[tuple[float, Piece]]:
        """Return where on it a number may stand, on straight pieces first: shares of pieces."""
        pieces = sorted(pairwise(self.points), key=lambda piece: piece[0][1] != piece[1][1])
        return product(_SHARES, pieces)


@dataclass(frozen=True, slots=True)
class Layout:
    """The middles of nodes, the ways of edges, and how large all of it is."""

    sizes: Sizes
    nodes: Mapping[Node, DrawnPoint]
    routes: Mapping[Edge, Route]
    length: float
    breadth: float

    def labels(self, along: float, across: float) -> Mapping[Edge, DrawnPoint]:
        """Return where a number of this size stands on each edge: off nodes, other numbers and other edges.

        Where that cannot be, as nearly so as it can.
        """
        near = (self.sizes.along + along) / 2 + self.sizes.lane / 2, (self.sizes.across + across) / 2
        taken, between = [(at, near) for at in self.nodes.values()], self._between()
        found: dict[Edge, DrawnPoint] = {}
        for edge, route in self.routes.items():
            spots = [
                (_on(piece, share), self._clear(between, edge, piece, share))
                for share, piece in route.places()
            ]
            found[edge] = max(spots, key=lambda spot: 2 * _room(spot[0], taken) + spot[1])[0]
            taken.append((found[edge], (along, across)))
        return found

    def _between(self) -> "_Between":
        """Return the pieces of all edges by where they begin and end."""
        found = defaultdict[tuple[float, float], list[tuple[Edge, Piece]]](list)
        for edge, route in self.routes.items():
            for piece in pairwise(route.points):
                found[piece[0][0], piece[1][0]].append((edge, piece))
        return found

    def _clear(self, between: "_Between", edge: Edge, piece: Piece, share: float) -> float:
        """Return how far other edges are from a spot of a piece, 1 if far enough.

        Pieces between the same columns have the same share of their ways behind them at the same length.
        """
        mine, beside = _on(piece, share)[1], between[piece[0][0], piece[1][0]]
        gaps = (abs(_on(other, share)[1] - mine) for name, other in beside if name != edge)
        return min(1.0, min(gaps, default=self.sizes.lane) / (self.sizes.lane / 2))


_Between: TypeAlias = Mapping[tuple[float, float], list[tuple[Edge, Piece]]]


def _room(spot: DrawnPoint, taken: Iterable[tuple[DrawnPoint, DrawnPoint]]) -> float:
    """Return how far a spot is from the nearest of what has a place already, 1 if far enough."""
    gaps = (max(abs(spot[0] - at) / far, abs(spot[1] - over) / wide) for (at, over), (far, wide) in taken)
    return min(1.0, *gaps)


def _on(piece: Piece, share: float) -> DrawnPoint:
    """Return a point of a piece: a cubic curve that leaves and arrives in the order of computation."""
    (a, c), (b, d) = piece
    rest, middle = 1 - share, (a + b) / 2
    along = rest**3 * a + 3 * rest * share * middle + share**3 * b
    return along, rest**2 * (rest + 3 * share) * c + share**2 * (share + 3 * rest) * d


def lay_out(circuit: Circuit, sizes: Sizes) -> Layout:
    """Return where a circuit is drawn."""
    columns = [list(group) for _, group in groupby(circuit.nodes(), key=lambda node: node.place[:2])]
    column_of = {node: number for number, column in enumerate(columns) for node in column}
    ways = {edge: _way(edge, column_of, sizes) for edge in circuit}
    across = _across(columns, [*ways.values()], sizes)
    low = min((at - _half(stop, sizes) for stop, at in across.items()), default=0.0)
    high = max((at + _half(stop, sizes) for stop, at in across.items()), default=0.0)
    middles = [sizes.along / 2 + sizes.step * number for number in range(len(columns))]
    spots = {stop: (middles[_column(stop, column_of)], at - low) for stop, at in across.items()}
    ports = _ports(ways, spots, sizes)
    routes = {edge: _route(edge, ways[edge], spots, ports, sizes) for edge in circuit}
    length = max(middles, default=0.0) + sizes.along / 2
    return Layout(sizes, {node: spots[node] for node in column_of}, routes, length, high - low)


def _is_tick(edge: Edge, sizes: Sizes) -> bool:
    return sizes.tick > 0 and (edge.source == EMBED or edge.target == LOGITS)


def _column(stop: Waypoint, column_of: Mapping[Node, int]) -> int:
    return stop.column if isinstance(stop, Lane) else column_of[stop]


def _half(stop: Waypoint, sizes: Sizes) -> float:
    """Return how far a stop reaches to either side."""
    return sizes.lane / 2 if isinstance(stop, Lane) else sizes.across / 2


def _way(edge: Edge, column_of: Mapping[Node, int], sizes: Sizes) -> tuple[Waypoint, ...]:
    """Return an edge's source, its lanes in the columns that it passes (a tick has none), and its target."""
    if _is_tick(edge, sizes):
        return (edge.source, edge.reader)
    track = edge.source if sizes.is_shared else edge
    passed = range(column_of[edge.source] + 1, column_of[edge.reader])
    return (edge.source, *(Lane(track, number) for number in passed), edge.reader)


def _across(
    columns: Sequence[Sequence[Node]], ways: Sequence[tuple[Waypoint, ...]], sizes: Sizes
) -> Mapping[Waypoint, float]:
    """Return where stops stand across: each near the middle of its neighbours, nodes in their order."""
    beside: dict[Waypoint, list[Waypoint]] = defaultdict(list)
    lanes: list[dict[Lane, None]] = [{} for _ in columns]
    for way in ways:
        for lane in way:
            if isinstance(lane, Lane):
                lanes[lane.column][lane] = None
        for one, other in pairwise(way):
            beside[one].append(other)
            beside[other].append(one)
    found: dict[Waypoint, float] = {}
    for column in columns:
        found |= _apart(column, [0.0] * len(column), sizes)
    for sweep in range(_SWEEPS):
        numbers = range(len(columns))
        for number in reversed(numbers) if sweep % 2 else numbers:
            nodes, passing = columns[number], lanes[number]
            near = {stop: [found[one] for one in beside[stop] if one in found] for stop in (*nodes, *passing)}
            wanted = {stop: fmean(places or [found.get(stop, 0.0)]) for stop, places in near.items()}
            order = sorted(
                wanted, key=lambda stop: (wanted[stop], 1) if isinstance(stop, Lane) else (found[stop], 0)
            )
            found |= _apart(order, [wanted[stop] for stop in order], sizes)
    return found


def _apart(order: Sequence[Waypoint], wanted: Sequence[float], sizes: Sizes) -> Mapping[Waypoint, float]:
    """Return places in this order, far enough apart and by least squares nearest to those that are wanted."""
    gaps = (
        _half(one, sizes) + _half(other, sizes) + _between(one, other, sizes)
        for one, other in pairwise(order)
    )
    offsets = list(accumulate(gaps, initial=0.0))[: len(order)]
    pools: list[list[float]] = []
    for want, offset in zip(wanted, offsets, strict=True):
        pools.append([want - offset])
        while len(pools) > 1 and fmean(pools[-2]) > fmean(pools[-1]):
            pools[-2:] = [[*pools[-2], *pools[-1]]]
    level = [fmean(pool) for pool in pools for _ in pool]
    return {stop: at + offset for stop, at, offset in zip(order, level, offsets, strict=True)}


def _between(one: Waypoint, other: Waypoint, sizes: Sizes) -> float:
    return 0.0 if isinstance(one, Lane) or isinstance(other, Lane) else sizes.apart


def _ports(
    ways: Mapping[Edge, tuple[Waypoint, ...]], spots: Mapping[Waypoint, DrawnPoint], sizes: Sizes
) -> Mapping[tuple[Edge, Node], float]:
    """Return where on the side of a node an edge leaves or arrives: in the order of where it goes.

    Where ports of a head are told apart, each has its third of the side.
    """
    sides: dict[tuple[Node, Port | bool], list[tuple[float, Edge]]] = defaultdict(list)
    for edge, way in ways.items():
        sides[edge.source, True].append((spots[way[1]][1], edge))
        port = edge.target if isinstance(edge.target, Port) else False
        sides[edge.reader, port].append((spots[way[-2]][1], edge))
    found: dict[tuple[Edge, Node], float] = {}
    for (node, side), ends in sides.items():
        ends.sort(key=lambda end: (end[0], end[1].place))
        middle, room = spots[node][1], sizes.across
        if isinstance(side, Port) and not sizes.is_shared:
            middle, room = middle + port_offset(side, sizes), sizes.across / 5
        apart = 0.0 if sizes.is_shared else min(sizes.across / 3, 0.8 * room / len(ends))
        for place, (_, edge) in enumerate(ends):
            found[edge, node] = middle + apart * (place - (len(ends) - 1) / 2)
    return found


def port_offset(port: Port, sizes: Sizes) -> float:
    """Return how far from the middle of its head's side a port is."""
    return sizes.across * 0.3 * (list(Use).index(port.use) - 1)


def _route(
    edge: Edge,
    way: tuple[Waypoint, ...],
    spots: Mapping[Waypoint, DrawnPoint],
    ports: Mapping[tuple[Edge, Node], float],
    sizes: Sizes,
) -> Route:
    half = sizes.along / 2
    start = (spots[edge.source][0] + half, ports[edge, edge.source])
    end = (spots[edge.reader][0] - half, ports[edge, edge.reader])
    if _is_tick(edge, sizes) and edge.source == EMBED:
        return Route(((end[0] - sizes.tick, end[1]), end))
    if _is_tick(edge, sizes):
        return Route((start, (start[0] + sizes.tick, start[1])))
    passed = [spots[stop] for stop in way[1:-1]]
    lanes = [point for at, across in passed for point in ((at - half, across), (at + half, across))]
    return Route((start, *lanes, end))
