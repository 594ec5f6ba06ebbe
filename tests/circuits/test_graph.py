import pytest
from hypothesis import given

from circuitproof.circuits.graph import EMBED, LOGITS, Edge, Embed, Graph, Head, LogitsNode, Mlp
from circuitproof.errors import DeclarationError
from strategies import graphs


def slow_edges(graph: Graph) -> set[tuple[object, object]]:
    """Walk the residual stream: each node reads all that was written before its block."""
    written, edges = [EMBED], set()
    for layer in range(graph.layers):
        heads = [Head(layer, index) for index in range(graph.heads)]
        edges |= {(source, head) for source in written for head in heads}
        before = list(written)
        written += heads
        edges |= {(source, Mlp(layer)) for source in (before if graph.is_parallel else written)}
        written.append(Mlp(layer))
    return edges | {(source, LOGITS) for source in written}


@given(graphs)
def test_the_edges_are_what_the_residual_stream_carries(graph):
    """Keeping all of them is the model itself, so none may be missing and none made up."""
    edges = graph.edges()
    assert {(edge.source, edge.target) for edge in edges} == slow_edges(graph)
    assert len(set(edges)) == len(edges)


@given(graphs)
def test_nodes_and_edges_come_in_the_order_of_computation(graph):
    """Files and reports list them the same way each time."""
    assert list(graph.nodes()) == sorted(graph.nodes(), key=lambda node: node.place)
    assert list(graph.edges()) == sorted(graph.edges(), key=lambda edge: edge.place)
    assert len(graph.nodes()) == graph.layers * (graph.heads + 1) + 2


@given(graphs)
def test_an_edge_exists_exactly_where_the_graph_lists_it(graph):
    """The check of one edge and the list of all edges must not drift apart."""
    listed = set(graph.edges())
    for source in graph.nodes():
        for target in graph.nodes():
            try:
                edge = Edge(source, target)
            except DeclarationError:
                edge = None
            assert (edge in listed) == ((source, target) in slow_edges(graph))
            assert (edge is not None and graph.has_edge(edge)) == (edge in listed)


@pytest.mark.parametrize(
    ("source", "target", "text"),
    [
        (Mlp(0), Head(0, 0), "there is no edge mlp 0 -> head 0.0: head 0.0 is not computed after mlp 0"),
        (Mlp(1), Mlp(0), "there is no edge mlp 1 -> mlp 0"),
        (Mlp(0), Mlp(0), "there is no edge mlp 0 -> mlp 0"),
        (Head(0, 0), Head(0, 1), "there is no edge head 0.0 -> head 0.1"),
        (LOGITS, Head(0, 0), "there is no edge logits -> head 0.0"),
        (Head(0, 0), EMBED, "there is no edge head 0.0 -> embed"),
        (EMBED, EMBED, "there is no edge embed -> embed"),
    ],
)
def test_an_edge_never_goes_backwards_or_sideways(source, target, text):
    """Heads of a layer read the same residual; nothing reads what is not yet there."""
    with pytest.raises(DeclarationError, match=text):
        Edge(source, target)


@given(graphs)
def test_the_graph_contains_its_nodes_and_no_neighbours(graph):
    """One layer or one head too many is outside."""
    assert all(node in graph for node in graph.nodes())
    layers, heads = graph.layers, graph.heads
    outside = [Head(layers, 0), Head(0, heads), Head(-1, 0), Head(0, -1), Mlp(layers), Mlp(-1)]
    assert not any(node in graph for node in outside)


@given(graphs)
def test_the_heads_of_a_layer_are_all_its_heads(graph):
    """A block of attention is the union of these."""
    for layer in range(graph.layers):
        assert list(graph.heads_of(layer)) == [
            node for node in graph.nodes() if isinstance(node, Head) and node.layer == layer
        ]


@pytest.mark.parametrize(("layers", "heads"), [(0, 1), (1, 0), (-1, 2)])
def test_a_graph_has_layers_and_heads(layers, heads):
    """A transformer without either is none."""
    with pytest.raises(
        DeclarationError, match=f"{layers} layers of {heads} heads, want at least one of each"
    ):
        Graph(layers, heads)


def test_nodes_are_named_as_in_the_design():
    """The same word in code, flags, files and reports."""
    names = [str(node) for node in Graph(1, 2).nodes()]
    assert names == ["embed", "head 0.0", "head 0.1", "mlp 0", "logits"]
    assert str(Edge(Head(0, 1), LOGITS)) == "head 0.1 -> logits"


def test_there_is_one_embedding_and_one_output():
    """Nodes are values: two that look alike are the same."""
    assert Embed() == EMBED
    assert LogitsNode() == LOGITS
    assert Head(0, 1) != Head(1, 0)
