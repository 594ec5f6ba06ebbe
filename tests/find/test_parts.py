from collections import Counter
from dataclasses import replace

import pytest

from circuitproof.circuits.graph import EMBED, LOGITS, Edge, Graph, Head, Mlp
from circuitproof.find.choices import RemovalUnit
from circuitproof.find.parts import parts_of, topological

GRAPHS = [Graph(1, 1), Graph(2, 2), Graph(3, 2), Graph(1, 4)]


@pytest.mark.parametrize("removal", RemovalUnit)
@pytest.mark.parametrize("graph", GRAPHS)
def test_parts_share_no_edge_and_leave_none_out(graph, removal):
    """Removing all parts removes the model, and no edge twice."""
    graph = replace(graph, granularity=removal.granularity)
    counts = Counter(edge for part in parts_of(graph, removal) for edge in part)
    assert counts == Counter(graph.edges())


@pytest.mark.parametrize("graph", GRAPHS)
def test_a_part_of_head_granularity_is_one_edge(graph):
    """The finest that a circuit can say."""
    assert [len(part) for part in parts_of(graph, RemovalUnit.HEAD)] == [1] * len(graph.edges())


def test_a_part_of_block_granularity_is_what_a_block_edge_spells():
    """`attn 0 -> attn 1` is four edges between two layers of two heads, `attn 0 -> mlp 0` is two."""
    parts = parts_of(Graph(2, 2), RemovalUnit.BLOCK)
    assert tuple(Edge(Head(0, i), Head(1, j)) for i in (0, 1) for j in (0, 1)) in parts
    assert (Edge(Head(0, 0), Mlp(0)), Edge(Head(0, 1), Mlp(0))) in parts
    assert (Edge(EMBED, LOGITS),) in parts
    blocks = [[node.place[:2] for node in (edge.source, edge.target)] for part in parts for edge in part]
    assert len({tuple(block) for block in blocks}) == len(parts)


@pytest.mark.parametrize("removal", RemovalUnit)
@pytest.mark.parametrize("graph", GRAPHS)
def test_the_topological_order_tries_a_nodes_readers_before_its_sources(graph, removal):
    """So that a node nobody reads any more is dead by the time its own inputs are tried."""
    order = topological(parts_of(replace(graph, granularity=removal.granularity), removal))
    assert order[0][0].target == LOGITS
    assert order[-1][0].source == EMBED
    places = [part[0].target.place[:2] for part in order]
    assert places == sorted(places, reverse=True)
