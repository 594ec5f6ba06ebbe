"""Every circuit up to a size, against all subsets of edges."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from circuitproof.circuits.circuit import circuit_of
from circuitproof.circuits.graph import EMBED, LOGITS, Graph
from circuitproof.circuits.smaller import circuits_of_size

GRAPHS = (Graph(1, 1), Graph(1, 2), Graph(2, 1), Graph(2, 2))


def reads(circuit):
    """Say whether embed reaches logits, edge by edge in order of computation."""
    reached = {EMBED}
    for edge in circuit:
        if edge.source in reached:
            reached.add(edge.target)
    return LOGITS in reached


@given(st.sampled_from(GRAPHS), st.integers(0, 3), st.booleans(), st.data())
def test_they_are_the_subsets_that_are_live_and_are_fed(graph, size, is_fed, data):
    """A circuit left out would be a gap in a proof of minimality; one listed twice a miscount."""
    edges = data.draw(st.sets(st.sampled_from(graph.edges())))
    subsets = (
        circuit_of(graph, chosen) for chosen in combinations(sorted(edges, key=lambda e: e.place), size)
    )
    wanted = [one for one in subsets if one.live() == one and (reads(one) or not is_fed)]
    assert list(circuits_of_size(graph, edges, size, {EMBED} if is_fed else None)) == wanted


def test_the_toy_graph_has_so_many():
    """Counted once by trying all subsets; a change of these numbers changes every certificate."""
    graph = Graph(2, 2)
    read = [circuits_of_size(graph, graph.edges(), size, {EMBED}) for size in range(5)]
    every = [circuits_of_size(graph, graph.edges(), size) for size in range(5)]
    assert [*map(len, read)] == [0, 1, 12, 90, 527]
    assert [*map(len, every)] == [1, 7, 40, 204, 931]
