"""Where circuits are drawn: laws of every circuit, on pages and in figures alike."""

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

import strategies
from circuitproof.circuits.circuit import Circuit, circuit_of, empty, whole
from circuitproof.circuits.graph import EMBED, LOGITS, Edge, Graph, Head, Mlp
from circuitproof.reports.drawings.layout import DrawnPoint, Layout, Route, Sizes, lay_out

PLAIN = Sizes(along=80, across=30, step=130, lane=20, apart=10)
TICKED = Sizes(along=40, across=18, step=60, lane=5, apart=6, tick=9, is_shared=True)
TANGLE = circuit_of(Graph(2, 2), list(Graph(2, 2).edges())[:14])
layouts = st.builds(lay_out, strategies.circuits, st.sampled_from((PLAIN, TICKED)))


def points_of(route: Route) -> list[DrawnPoint]:
    """Return many points of a way: cubic curves whose control points stand half way, as they are drawn."""
    found = [route.points[0]]
    for (a, c), (b, d) in pairwise(route.points):
        for step in range(1, 21):
            t = step / 20
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
            alongs, acrosses = (a, (a + b) / 2, (a + b) / 2, b), (c, c, d, d)
            found.append(
                tuple(sum(w * x for w, x in zip(weights, xs, strict=True)) for xs in (alongs, acrosses))
            )
    return found


def is_inside(point: DrawnPoint, middle: DrawnPoint, sizes: Sizes) -> bool:
    """Say whether a point lies in the box of a node, its border included."""
    return (
        abs(point[0] - middle[0]) <= sizes.along / 2 + 1e-9
        and abs(point[1] - middle[1]) <= sizes.across / 2 + 1e-9
    )


@given(layouts)
def test_no_edge_passes_behind_a_node_that_is_not_its_end(layout: Layout):
    """A line that comes out of a node it only passed would tell of an edge that is not there."""
    for edge, route in layout.routes.items():
        for node, middle in layout.nodes.items():
            if node not in (edge.source, edge.target):
                assert not any(is_inside(point, middle, layout.sizes) for point in points_of(route)), (
                    edge,
                    node,
                )


def test_an_edge_beside_a_longer_path_does_not_seem_to_come_from_its_head():
    """The case that was seen: `embed -> mlp 0` was drawn through head 0.0."""
    direct = Edge(EMBED, Mlp(0))
    circuit = circuit_of(
        Graph(1, 1), [Edge(EMBED, Head(0, 0)), Edge(Head(0, 0), Mlp(0)), direct, Edge(Mlp(0), LOGITS)]
    )
    layout = lay_out(circuit, PLAIN)
    passing = [
        across
        for along, across in layout.routes[direct].points
        if abs(along - layout.nodes[Head(0, 0)][0]) <= 40
    ]
    assert passing
    assert all(abs(across - layout.nodes[Head(0, 0)][1]) >= 15 + 10 for across in passing)


@given(layouts)
def test_an_edge_leaves_its_source_and_arrives_at_its_target(layout: Layout):
    """At the sides of their boxes, within their breadth; a tick has one of the two ends."""
    for edge, route in layout.routes.items():
        (first, start), (last, end) = route.points[0], route.points[-1]
        source, target = layout.nodes[edge.source], layout.nodes[edge.target]
        is_tick = layout.sizes.tick > 0 and (edge.source == EMBED or edge.target == LOGITS)
        if not is_tick or edge.source != EMBED:
            assert first == source[0] + layout.sizes.along / 2
            assert abs(start - source[1]) <= layout.sizes.across / 2
        if not is_tick or edge.source == EMBED:
            assert last == target[0] - layout.sizes.along / 2
            assert abs(end - target[1]) <= layout.sizes.across / 2
        assert all(one[0] <= other[0] for one, other in pairwise(route.points))


@given(layouts)
def test_heads_of_a_layer_stand_in_their_order_and_apart(layout: Layout):
    """Head 0 is looked for before head 1, in every circuit."""
    for one, other in combinations(sorted(layout.nodes, key=lambda node: node.place), 2):
        if one.place[:2] == other.place[:2]:
            gap = layout.nodes[other][1] - layout.nodes[one][1]
            between = min(layout.sizes.apart, layout.sizes.lane)  # a lane may pass there
            assert gap >= layout.sizes.across + between - 1e-9
        else:
            assert layout.nodes[one][0] < layout.nodes[other][0]


@given(layouts)
def test_everything_stands_on_the_canvas(layout: Layout):
    """Whatever is drawn is seen."""
    for route in layout.routes.values():
        for along, across in points_of(route):
            assert -1e-9 <= along <= layout.length + 1e-9
            assert -1e-9 <= across <= layout.breadth + 1e-9


def test_numbers_on_edges_do_not_touch_nodes_or_each_other():
    """Where fourteen edges cross, each number can still be read."""
    layout = lay_out(TANGLE, PLAIN)
    spots = layout.labels(40, 14)
    assert list(spots) == list(TANGLE)
    for one, other in combinations(spots.values(), 2):
        assert abs(one[0] - other[0]) >= 40 or abs(one[1] - other[1]) >= 14
    for spot in spots.values():
        for middle in layout.nodes.values():
            assert abs(spot[0] - middle[0]) >= 60 or abs(spot[1] - middle[1]) >= 22


def test_hundreds_of_edges_and_none_at_all_are_laid_out():
    """What is given is drawn."""
    assert len(lay_out(whole(Graph(6, 6)), TICKED).routes) == len(Graph(6, 6).edges())
    nothing: Circuit = empty(Graph(1, 1))
    assert lay_out(nothing, PLAIN).routes == {}
