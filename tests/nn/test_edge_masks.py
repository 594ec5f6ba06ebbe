"""Masks say which outputs each node reads."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given

from circuitproof.circuits.circuit import circuit_of, empty, whole
from circuitproof.circuits.graph import EMBED, LOGITS, Edge, Graph, Head, Mlp
from circuitproof.errors import DeclarationError
from circuitproof.nn.edge_masks import edge_masks_of, source_column, target_row
from circuitproof.nn.stream import GapStream, MaskedStream
from floats import agree
from models import random_model, random_tokens, tiny_architecture
from strategies import circuits_in

GRAPH = Graph(2, 2)


def test_every_source_and_every_target_has_a_place_of_its_own():
    """Two nodes in one place would read each other's edges."""
    sources = [source_column(GRAPH, node) for node in GRAPH.nodes()[:-1]]
    targets = [target_row(GRAPH, node) for node in GRAPH.nodes()[1:]]
    assert len(set(sources)) == len(sources)
    assert targets == list(range(len(targets)))


def test_the_shared_bias_enters_a_reader_once_whatever_the_number_of_heads_it_reads():
    """One column for the bias of a layer, one where at least one head is read, else zero."""
    one = circuit_of(GRAPH, [Edge(Head(0, 0), LOGITS)])
    both = circuit_of(GRAPH, [Edge(Head(0, 0), LOGITS), Edge(Head(0, 1), LOGITS)])
    none = circuit_of(GRAPH, [Edge(EMBED, LOGITS)])
    masks = edge_masks_of([one, both, none])
    bias = masks.head_columns(0)[-1]
    assert masks.values[:, target_row(GRAPH, LOGITS), bias].tolist() == [1, 1, 0]
    assert masks.values.sum((1, 2)).tolist() == [2, 3, 1]


def test_nodes_that_no_circuit_uses_are_not_computed():
    """A three-edge circuit of a large model must not cost the whole model."""
    chain = circuit_of(GRAPH, [Edge(EMBED, Mlp(0)), Edge(Mlp(0), Head(1, 1)), Edge(Head(1, 1), LOGITS)])
    masks = edge_masks_of([chain, empty(GRAPH)])
    assert masks.heads == ((), (1,))
    assert masks.mlps == (True, False)


def test_dead_edges_open_no_gate():
    """An edge that cannot reach logits changes nothing, so it is not computed either."""
    dead = circuit_of(GRAPH, [Edge(EMBED, Head(0, 0)), Edge(EMBED, LOGITS)])
    assert torch.equal(edge_masks_of([dead]).values, edge_masks_of([dead.live()]).values)


def test_no_circuits_and_mixed_graphs_are_refused():
    """An empty batch has no answer; a mixed one no common meaning."""
    with pytest.raises(DeclarationError, match="no circuits"):
        edge_masks_of([])
    with pytest.raises(DeclarationError, match="different graphs"):
        edge_masks_of([whole(GRAPH), whole(Graph(1, 2))])


def test_embed_reads_nothing_and_nothing_reads_logits():
    """Asking for their place on the other side is a mistake in the program."""
    with pytest.raises(DeclarationError, match="embed reads no node"):
        target_row(GRAPH, EMBED)
    with pytest.raises(DeclarationError, match="nothing reads logits"):
        source_column(GRAPH, LOGITS)


@given(circuits_in(GRAPH))
def test_a_stream_with_gaps_computes_what_a_gated_one_does(circuit):
    """The fast way for circuits that keep nearly everything, against the one that sums up every edge."""
    model = random_model(tiny_architecture()).double()
    tokens, masks = random_tokens(model.architecture), edge_masks_of([circuit])
    streams = [GapStream(masks, model.device), MaskedStream(masks, model.device)]
    fast, slow = (model._residual(tokens, stream)[..., -1, :] for stream in streams)
    assert agree(fast.expand_as(slow), slow)


def test_only_constant_masks_of_one_nearly_whole_large_circuit_have_gaps():
    """Masks to differentiate by, half-open ones, several circuits, small and sparse ones are summed up."""
    large = Graph(12, 4)
    everything = whole(large)
    assert len(large.edges()) > 1000
    assert edge_masks_of([everything]).is_nearly_whole
    assert edge_masks_of([everything.without(large.edges()[0])]).is_nearly_whole
    assert not edge_masks_of([whole(GRAPH)]).is_nearly_whole
    assert not edge_masks_of([everything, everything]).is_nearly_whole
    kept = [edge for edge in large.edges() if edge.target != LOGITS or edge.source == Mlp(11)]
    assert not edge_masks_of([circuit_of(large, kept)]).is_nearly_whole
    values = edge_masks_of([everything]).values
    assert not replace(edge_masks_of([everything]), values=values / 2).is_nearly_whole
    assert not replace(edge_masks_of([everything]), values=values.requires_grad_()).is_nearly_whole
