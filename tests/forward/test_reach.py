from itertools import product

import pytest

from circuitproof.circuits.circuit import whole
from circuitproof.circuits.graph import EMBED, LOGITS, Graph, Head, Mlp
from circuitproof.errors import InputError
from circuitproof.forward.interface import FINAL_RESIDUAL, Interface, Side, Span, read_span
from circuitproof.forward.reach import readings, refuse_unreached_prompts, unreached
from circuitproof.models.operators import Mask
from circuitproof.programs.meaning import row
from circuitproof.programs.text import parse
from hand_models import circuit_of

CHAIN = circuit_of(("embed -> head 0.0", "head 0.0 -> mlp 0", "mlp 0 -> logits"))
FIVES = parse("default 0\nadd 1 when key_token == 5\notherwise self")
ELSEWHERE = parse("default 0\nadd 1 when key_token == 5\notherwise nowhere")
FIRST = parse("default 0\nadd 1 when key_position == 0\nadd 0 when token_match\notherwise self")


def at(node, side=Side.OUTPUT, positions=Span.LAST):
    """Return a place to perturb."""
    return Interface(node, side, positions)


def test_a_neural_head_reads_every_key_of_a_query():
    """Whatever its weights are, they depend on all of its keys."""
    found = readings(CHAIN, {}, (1, 2, 3))
    assert found[EMBED, Side.OUTPUT] == found[Head(0, 0), Side.INPUT] == {0, 1, 2}
    assert found[Head(0, 0), Side.OUTPUT] == found[Mlp(0), Side.INPUT] == found[LOGITS, Side.INPUT] == {2}


def test_a_program_head_reads_the_keys_that_have_weight():
    """Itself where nothing has any, unless it then attends nowhere; a weight of zero is none."""
    head = Head(0, 0)
    assert readings(CHAIN, {head: FIVES}, (5, 2, 5, 3))[EMBED, Side.OUTPUT] == {0, 2}
    assert readings(CHAIN, {head: FIVES}, (1, 2, 3))[EMBED, Side.OUTPUT] == {2}
    assert readings(CHAIN, {head: ELSEWHERE}, (1, 2, 3))[EMBED, Side.OUTPUT] == frozenset()
    assert readings(CHAIN, {head: FIRST}, (1, 2, 2))[EMBED, Side.OUTPUT] == {0}


def test_what_a_later_head_reads_an_earlier_one_answers():
    """Two heads in a row: the second asks the first at position 0, where the first sees only itself."""
    edges = ("embed -> head 0.0", "head 0.0 -> head 1.0", "head 1.0 -> logits")
    circuit = circuit_of(edges, layers=2)
    found = readings(circuit, {Head(1, 0): FIRST, Head(0, 0): FIVES}, (1, 5, 2))
    assert found[Head(0, 0), Side.OUTPUT] == {0}
    assert found[EMBED, Side.OUTPUT] == {0}


def test_dead_edges_read_nothing():
    """What cannot reach the logits is not on the way to them."""
    circuit = circuit_of(("embed -> head 0.0", "embed -> logits"))
    found = readings(circuit, {}, (1, 2))
    assert found[EMBED, Side.OUTPUT] == {1}
    assert found[Head(0, 0), Side.OUTPUT] == frozenset()


def slowly_reached(circuit, programs, prompt, interface, position) -> bool:
    """Say whether a perturbation is on some path, by following every path forward."""
    span = read_span(len(prompt), position, Mask.CAUSAL)
    perturbed = {(interface.node, interface.side, place) for place in interface.places(span)}
    moved = True
    while moved:
        after = set(perturbed)
        for node, side, place in perturbed:
            if side is Side.OUTPUT:
                after |= {(edge.target, Side.INPUT, place) for edge in circuit if edge.source == node}
            elif not isinstance(node, Head):
                after.add((node, Side.OUTPUT, place))
            else:
                after |= {
                    (node, Side.OUTPUT, query)
                    for query in range(place, len(prompt))
                    if node not in programs or place in dict(row(programs[node], prompt, query))
                }
        moved, perturbed = after != perturbed, after
    return (LOGITS, Side.INPUT, span.decided) in perturbed


@pytest.mark.parametrize("kept", [{}, {Head(0, 0): FIVES}, {Head(0, 0): ELSEWHERE, Head(1, 0): FIRST}])
def test_following_the_paths_forward_says_the_same(kept):
    """Backward from the logits and forward from the perturbation must agree."""
    edges = ("embed -> head 0.0", "head 0.0 -> mlp 0", "mlp 0 -> head 1.0", "head 1.0 -> logits")
    for circuit in (circuit_of(edges, layers=2), whole(Graph(2, 1))):
        places = [(EMBED, Side.OUTPUT), (Head(0, 0), Side.INPUT), (Mlp(0), Side.OUTPUT), (LOGITS, Side.INPUT)]
        for (node, side), positions in product(places, [Span.LAST, Span.ALL, (0,), (1,)]):
            interface = at(node, side, positions)
            for prompt in product((1, 5), repeat=3):
                for position in (-1, 0, -2):
                    reached = slowly_reached(circuit, kept, prompt, interface, position)
                    found = unreached(interface, circuit, kept, [prompt], position=position)
                    assert found == (not reached)


def test_the_final_residual_reaches_every_prompt_without_a_look():
    """The decision reads it, whatever the prompt holds."""
    assert unreached(FINAL_RESIDUAL, CHAIN, {}, [(1,), (2, 3)]) == 0
    assert unreached(Interface(positions=(0,)), CHAIN, {}, [(1,), (2, 3)]) == 1


def test_reaching_no_prompt_is_refused_and_reaching_one_is_not():
    """The sentence names the place, the positions and what to do."""
    interface = Interface(positions=(0, 2))
    refuse_unreached_prompts(interface, 1, 2)
    with pytest.raises(
        InputError, match=r"^a perturbation of logits input at positions 0,2 reaches the logits"
    ):
        refuse_unreached_prompts(interface, 2, 2)
