from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.circuits.circuit import Circuit, circuit_of, empty, whole
from circuitproof.circuits.graph import EMBED, LOGITS, Edge, Graph, Head, Mlp
from circuitproof.circuits.spelling import parse_circuit
from circuitproof.errors import DeclarationError
from circuitproof.files.canonical import canonical_json
from circuitproof.files.reading import parse_json
from strategies import alike_circuits, circuits, graphs

CHAIN = circuit_of(
    Graph(2, 2),
    [Edge(EMBED, Head(0, 1)), Edge(Head(0, 1), Mlp(1)), Edge(Mlp(1), LOGITS), Edge(EMBED, Mlp(0))],
)


@given(circuits)
def test_a_circuit_reads_back_from_its_canonical_json(circuit):
    """The circuit in a bundle is the one that was proved about."""
    assert parse_circuit(parse_json(canonical_json(circuit.to_json()), "circuit"), "circuit") == circuit


def test_a_circuit_is_written_in_plain_words():
    """The file says the ablation, and lists the edges in the order of computation."""
    assert CHAIN.to_json() == {
        "layers": 2,
        "heads": 2,
        "mlps": True,
        "granularity": "head",
        "ablation": "zero",
        "edges": ["embed -> head 0.1", "embed -> mlp 0", "head 0.1 -> mlp 1", "mlp 1 -> logits"],
    }


@given(alike_circuits(2))
def test_circuits_are_equal_exactly_when_their_digests_are(pair):
    """The digest stands for the circuit, however its edges were collected."""
    one, other = pair
    assert (one.digest == other.digest) == (one == other)
    assert circuit_of(one.graph, reversed(list(one))).digest == one.digest


@given(alike_circuits(3))
def test_circuits_obey_the_laws_of_sets(triple):
    """Union, intersection and difference mean what they mean everywhere."""
    a, b, c = triple
    assert a | b == b | a
    assert a & b == b & a
    assert (a | b) | c == a | (b | c)
    assert (a & b) & c == a & (b & c)
    assert a & (b | c) == (a & b) | (a & c)
    assert a | (a & b) == a == a & (a | b)
    assert a - (b | c) == (a - b) & (a - c)
    assert (a - b) | (a & b) == a
    assert len(a | b) + len(a & b) == len(a) + len(b)


@given(alike_circuits(2))
def test_being_part_of_a_circuit_is_an_order(pair):
    """Parts are what union and intersection say they are."""
    a, b = pair
    assert (a <= b) == (a | b == b) == (a & b == a) == (len(a - b) == 0)
    assert a & b <= a <= a | b
    assert (a >= b) == (b <= a)
    assert (a <= b <= a) == (a == b)


@given(circuits)
def test_every_circuit_lies_between_nothing_and_the_model(circuit):
    """The empty circuit and the whole graph are the two ends."""
    nothing, model = empty(circuit.graph), whole(circuit.graph)
    assert nothing <= circuit <= model
    assert circuit | nothing == circuit == circuit & model
    assert len(nothing) == 0
    assert tuple(model) == circuit.graph.edges()


@given(circuits)
def test_walking_a_circuit_meets_each_kept_edge_once_in_order(circuit):
    """Reports and obligations are numbered by this order."""
    walked = list(circuit)
    assert frozenset(walked) == circuit.edges
    assert len(walked) == len(circuit)
    assert walked == [edge for edge in circuit.graph.edges() if edge in circuit]


@given(circuits)
def test_the_nodes_are_those_that_a_kept_edge_touches(circuit):
    """A node that no kept edge touches outputs zero and is not part of the circuit."""
    touched = {edge.source for edge in circuit} | {edge.target for edge in circuit}
    assert list(circuit.nodes()) == [node for node in circuit.graph.nodes() if node in touched]
    assert list(circuit.heads()) == [node for node in circuit.nodes() if isinstance(node, Head)]


@given(circuits)
def test_the_sources_of_a_node_are_what_it_reads(circuit):
    """A node's input is the sum over just these."""
    for target in circuit.graph.nodes():
        assert list(circuit.sources(target)) == [
            source
            for source in circuit.graph.nodes()
            if (source, target) in {(edge.source, edge.target) for edge in circuit}
        ]


def reaches_logits(circuit: Circuit, edge: Edge) -> bool:
    """Follow kept edges forward: the slow twin of `live`."""
    return edge.target == LOGITS or any(
        reaches_logits(circuit, later) for later in circuit if later.source == edge.target
    )


@given(circuits)
def test_an_edge_is_live_exactly_when_a_path_of_kept_edges_leads_on_to_logits(circuit):
    """That is the definition; what it carries on the way plays no part."""
    assert circuit.live().edges == {edge for edge in circuit if reaches_logits(circuit, edge)}


@given(circuits)
def test_taking_the_live_part_twice_changes_nothing(circuit):
    """The live part is a part, and all of it is live."""
    live = circuit.live()
    assert live <= circuit
    assert live.live() == live
    assert (live.graph, live.ablation) == (circuit.graph, circuit.ablation)


@given(circuits, st.data())
def test_deleting_dead_edges_does_not_change_the_live_part(circuit, data):
    """Dead edges change nothing, in whatever number they go."""
    dead = tuple(circuit - circuit.live())
    deleted = data.draw(st.frozensets(st.sampled_from(dead))) if dead else ()
    assert circuit.without(*deleted).live() == circuit.live()


@given(alike_circuits(2))
def test_more_edges_never_make_a_live_edge_dead(pair):
    """A path stays a path."""
    a, b = pair
    assert a.live() <= (a | b).live()


@given(graphs)
def test_every_edge_of_the_model_is_live(graph):
    """In the whole graph every node reaches the output."""
    assert whole(graph).live() == whole(graph)
    assert empty(graph).live() == empty(graph)


def test_an_edge_out_of_a_node_that_reads_nothing_is_live():
    """Such a node still adds its biases: the edge carries a constant and may matter."""
    constant = circuit_of(Graph(2, 2), [Edge(Head(1, 0), LOGITS)])
    assert constant.live() == constant


def test_an_edge_into_a_node_that_nobody_reads_is_dead():
    """In the chain, mlp 0 is fed and never read."""
    assert CHAIN.live() == CHAIN.without(Edge(EMBED, Mlp(0)))


@given(circuits)
def test_a_lesion_lacks_just_one_edge(circuit):
    """Necessity asks about each kept edge by itself."""
    lesions = circuit.lesions()
    assert len(lesions) == len(circuit)
    for edge, lesion in zip(circuit, lesions, strict=True):
        assert (circuit - lesion).edges == {edge}
        assert lesion <= circuit


@given(circuits, st.data())
def test_deleting_edges_takes_away_those_and_no_others(circuit, data):
    """Deleting is subtraction, with a check."""
    gone = data.draw(st.frozensets(st.sampled_from(list(circuit)))) if circuit else frozenset()
    assert circuit.without(*gone) == circuit - circuit_of(circuit.graph, gone)


def test_an_edge_that_is_not_kept_cannot_be_deleted():
    """A lesion of an absent edge would be no lesion, and would count as one."""
    with pytest.raises(
        DeclarationError, match=r"edge embed -> logits cannot be deleted: the circuit does not keep it"
    ):
        CHAIN.without(Edge(EMBED, Mlp(0)), Edge(EMBED, LOGITS))


@pytest.mark.parametrize("edge", [Edge(Head(2, 0), LOGITS), Edge(EMBED, Head(0, 2)), Edge(EMBED, Mlp(2))])
def test_an_edge_outside_the_graph_is_refused(edge):
    """A circuit of one model is not a circuit of another."""
    with pytest.raises(DeclarationError, match=f"edge {edge} is outside 2 layers of 2 heads"):
        circuit_of(Graph(2, 2), [edge])


@pytest.mark.parametrize(
    "combine", [Circuit.__or__, Circuit.__and__, Circuit.__sub__, Circuit.__le__], ids=["|", "&", "-", "<="]
)
def test_circuits_of_different_graphs_do_not_combine(combine):
    """The same edge names mean other things in another model."""
    other = replace(CHAIN, graph=Graph(2, 3))
    with pytest.raises(
        DeclarationError, match="circuits of different graphs or ablations cannot be combined"
    ):
        combine(CHAIN, other)
