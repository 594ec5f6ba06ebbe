import json
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.circuits.circuit import circuit_of, empty, whole
from circuitproof.circuits.graph import EMBED, LOGITS, Edge, Graph, Head, Mlp
from circuitproof.errors import InputError
from circuitproof.forward.binding import PrefixBinding
from circuitproof.forward.cells import (
    BiasPart,
    Cells,
    PositionPart,
    StagePart,
    TokenPart,
    refuse_unreadable,
)
from circuitproof.programs.text import parse
from strategies import circuits_in

GRAPH = Graph(2, 2)
HEAD, MLP = Head(1, 0), Mlp(0)
CHAIN = (Edge(EMBED, MLP), Edge(MLP, HEAD), Edge(HEAD, LOGITS))
OPENERS = {"quote_close": (366, 705, 7203, 10786), "bracket_type": (685, 1391, 15090, 26933)}


def selecting(openers, otherwise="self"):
    """Return the program that attends to the openers."""
    return parse(
        f"default 0\nadd 1 when key_token in {{{', '.join(map(str, openers))}}}\notherwise {otherwise}"
    )


def count(programs, edges, prompts, *, biases=True):
    """Return how many cells decide the prompts, and the cells."""
    cells = Cells(PrefixBinding(programs), biases=biases)
    _, rows = cells.cells(circuit_of(GRAPH, edges), prompts)
    return len(set(rows)), cells


def with_one_opener(openers, fillers, lengths):
    """Return every prompt with one opener among fillers."""
    return [
        (*before, opener, *after)
        for length in lengths
        for place in range(length)
        for opener in openers
        for before in product(fillers, repeat=place)
        for after in product(fillers, repeat=length - place - 1)
    ]


@pytest.mark.parametrize("biases", [True, False])
def test_a_selecting_chain_depends_on_its_opener_and_where_it_stands(biases):
    """Fillers, their number behind the opener and the length of the prompt change nothing."""
    prompts = with_one_opener((1, 2), (5, 6, 7), (2, 3, 4))
    found, cells = count({HEAD: selecting((1, 2))}, CHAIN, prompts, biases=biases)
    assert found == 2 * 4
    assert set(cells.tokens) == {1, 2}
    assert set(cells.positions) == {0, 1, 2, 3}


@pytest.mark.parametrize("task", OPENERS)
def test_the_prompts_of_the_paper_are_thirty_cells(reference, task):
    """1,280 prompts, 30 pairs of opener and position: so many computations prove the whole domain."""
    prompts = json.loads((reference / "gpt2_domain" / "token_ids.json").read_text())[task]
    domain = [tuple(prompt) for prompt in prompts]
    openers = OPENERS[task]
    pairs = {(token, place) for prompt in domain for place, token in enumerate(prompt) if token in openers}
    assert (len(domain), len(pairs)) == (1280, 30)
    found, cells = count({HEAD: selecting(openers)}, CHAIN, domain)
    assert found == 30
    assert set(cells.tokens) == set(openers)


def test_an_edge_from_embed_to_logits_adds_the_last_token_and_the_last_position():
    """What another edge lets in is counted, never assumed away."""
    prompts = with_one_opener((1, 2), (5, 6), (1, 2, 3))
    found, _ = count({HEAD: selecting((1, 2))}, (*CHAIN, Edge(EMBED, LOGITS)), prompts)
    read = {(next((t, i) for i, t in enumerate(p) if t in (1, 2)), p[-1], len(p) - 1) for p in prompts}
    assert found == len(read) > 6


def test_an_edge_from_the_mlp_to_logits_adds_the_same():
    """The MLP at the last position reads the last token there."""
    prompts = with_one_opener((1, 2), (5, 6), (1, 2, 3))
    directly, _ = count({HEAD: selecting((1, 2))}, (*CHAIN, Edge(EMBED, LOGITS)), prompts)
    through, _ = count({HEAD: selecting((1, 2))}, (*CHAIN, Edge(MLP, LOGITS)), prompts)
    assert through == directly


def test_a_program_that_reads_more_has_more_cells():
    """The distance to the query is something else than the position of the key."""
    prompts = with_one_opener((1, 2), (5,), (3,))
    nearby = parse("default 1\nadd 1 when key_token in {1, 2} and relative_distance < 2\notherwise self")
    assert count({HEAD: selecting((1, 2))}, CHAIN, prompts)[0] == 6
    assert count({HEAD: nearby}, CHAIN, prompts)[0] == 6
    longer = with_one_opener((1, 2), (5,), (3, 4))
    assert count({HEAD: selecting((1, 2))}, CHAIN, longer)[0] == 8
    assert count({HEAD: nearby}, CHAIN, longer)[0] == 14


def test_a_neural_head_depends_on_the_whole_prefix():
    """Its scores read every token before, so no two prompts are alike."""
    prompts = with_one_opener((1, 2), (5, 6), (2, 3))
    assert count({}, CHAIN, prompts)[0] == len(prompts)


def test_prompts_with_the_same_prefix_share_its_rows():
    """Work on a prefix is done once, and what stands behind it is read by nobody before."""
    cells = Cells(PrefixBinding({}), biases=True)
    cells.cells(circuit_of(GRAPH, CHAIN), [(1, 2, 3), (1, 2, 4), (1, 2)])
    mlp, head, logits = cells.stages
    assert [stage.node for stage in cells.stages] == [MLP, HEAD, LOGITS]
    assert len(mlp.inputs) == 4
    assert [(query, keys) for query, keys, *_ in head.contexts] == [
        (2, (0, 1, 2)),
        (3, (0, 1, 3)),
        (1, (0, 1)),
    ]
    assert len(logits.inputs) == 3


def test_rows_that_attend_nowhere_are_one_cell_and_read_nothing():
    """Whatever the prompt."""
    nowhere = {HEAD: selecting((1,), "nowhere")}
    found, cells = count(nowhere, CHAIN, [(5,), (6, 7), (8, 9, 5)])
    assert found == 1
    mlp, head, logits = cells.stages
    assert not any((len(mlp.inputs), len(head.inputs), cells.tokens, cells.positions))
    assert list(head.mixes) == [()]
    assert len(logits.inputs) == 1


def test_keys_with_the_same_value_are_one_term_of_a_mix():
    """Where only positions before a node differ and it reads none, two keys are one row with both weights."""
    program = {HEAD: parse("default 1\notherwise self")}
    _, cells = count(program, (Edge(MLP, HEAD), Edge(HEAD, LOGITS)), [(1, 2, 3), (4, 5)])
    head = cells.stages[1]
    assert list(head.mixes) == [((0, Fraction(1)),)]


def test_a_node_without_inputs_has_one_row():
    """It reads zero everywhere, and still carries its biases."""
    found, cells = count({}, (Edge(MLP, LOGITS),), [(1, 2), (3,)])
    assert found == 1
    mlp, logits = cells.stages
    assert (mlp.parts, list(mlp.inputs)) == ((), [()])
    assert logits.parts == (StagePart(0),)


def test_a_circuit_without_edges_is_one_cell():
    """Its logits read zero on every prompt."""
    cells = Cells(PrefixBinding({}), biases=True)
    stage, rows = cells.cells(empty(GRAPH), [(1, 2), (3,)])
    assert rows == (0, 0)
    assert cells.stages[stage].parts == ()


def test_dead_edges_make_no_stage_and_split_no_cell():
    """What cannot reach logits is not computed."""
    prompts = with_one_opener((1, 2), (5, 6), (2, 3))
    dead = (Edge(EMBED, Mlp(1)), Edge(Head(0, 1), Head(1, 1)), Edge(EMBED, Head(0, 1)))
    found, cells = count({HEAD: selecting((1, 2))}, (*CHAIN, *dead), prompts)
    assert found == count({HEAD: selecting((1, 2))}, CHAIN, prompts)[0]
    assert [stage.node for stage in cells.stages] == [MLP, HEAD, LOGITS]


@pytest.mark.parametrize("biases", [True, False])
def test_the_shared_bias_of_a_layer_is_one_part_however_many_of_its_heads_are_read(biases):
    """Once per layer and reader."""
    edges = [Edge(head, LOGITS) for layer in range(2) for head in GRAPH.heads_of(layer)]
    _, cells = count({}, [*edges, Edge(EMBED, LOGITS)], [(1,)], biases=biases)
    parts = cells.stages[-1].parts
    assert parts[:2] == (TokenPart(), PositionPart())
    assert parts[2:6] == tuple(StagePart(stage) for stage in range(4))
    assert parts[6:] == ((BiasPart(0), BiasPart(1)) if biases else ())


def test_a_circuit_shares_the_stages_that_a_lesion_leaves_alone():
    """A head whose own edges are kept is computed once for all of them."""
    graph = Graph(1, 2)
    circuit = circuit_of(
        graph,
        [
            Edge(EMBED, Head(0, 0)),
            Edge(EMBED, Head(0, 1)),
            Edge(Head(0, 0), LOGITS),
            Edge(Head(0, 1), LOGITS),
        ],
    )
    cells = Cells(PrefixBinding({}), biases=True)
    cells.logits_stage(circuit)
    assert len(cells.stages) == 3
    for lesion in circuit.lesions():
        cells.logits_stage(lesion)
    # Four lesions: two heads that read nothing with their logits, and two logits with one head less.
    assert len(cells.stages) == 3 + 2 + 2 + 2
    cells.logits_stage(circuit)
    assert len(cells.stages) == 9


def test_all_lesions_of_a_model_need_far_fewer_stages_than_they_have_nodes():
    """A lesion has new stages only where the edge leads to and behind that."""
    cells = Cells(PrefixBinding({}), biases=True)
    circuits = (whole(GRAPH), *whole(GRAPH).lesions())
    for circuit in circuits:
        cells.logits_stage(circuit)
    alone = sum(len(set(circuit.live().nodes()) - {EMBED}) for circuit in circuits)
    # Edges times nodes from their target on, for targets in head 0.x, mlp 0, head 1.x, mlp 1 and logits.
    assert len(cells.stages) == 7 + (2 * 6 + 3 * 5 + 8 * 3 + 6 * 2 + 7 * 1)
    assert alone == 27 * 7 - 1


@given(st.lists(circuits_in(GRAPH), min_size=1, max_size=3))
def test_stages_are_distinct_and_read_only_earlier_ones(circuits):
    """One pass in order computes everything once."""
    cells = Cells(PrefixBinding({HEAD: selecting((1,))}), biases=True)
    for circuit in circuits:
        stage, _ = cells.cells(circuit, [(1, 2), (2, 1, 1)])
        assert cells.stages[stage].node == LOGITS
    assert len({(stage.node, stage.parts) for stage in cells.stages}) == len(cells.stages)
    for number, stage in enumerate(cells.stages):
        assert all(part.stage < number for part in stage.parts if isinstance(part, StagePart))


def test_prompts_that_a_model_can_read_pass():
    """Up to the last token and the longest prompt."""
    refuse_unreadable([(0, 6), (6,) * 5], vocabulary=7, context=5)


@pytest.mark.parametrize(
    ("prompt", "sentence"),
    [
        ((0,) * 6, "prompt 1 has 6 tokens, the model's context is 5"),
        ((0, 7), "prompt 1 has token 7, the model's vocabulary is 7"),
    ],
)
def test_prompts_that_a_model_has_no_embedding_for_are_refused(prompt, sentence):
    """Before anything is computed."""
    with pytest.raises(InputError, match=sentence):
        refuse_unreadable([(0,), prompt], vocabulary=7, context=5)
