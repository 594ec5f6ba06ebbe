import pytest

from circuitproof.circuits.graph import EMBED, LOGITS, Graph, Head, Mlp
from circuitproof.errors import InputError
from circuitproof.forward.forward import Side
from circuitproof.forward.interface import (
    FINAL_RESIDUAL,
    Interface,
    ReadSpan,
    Span,
    parse_interface,
    parse_positions,
    refuse_misplaced,
)
from hand_models import circuit_of

GRAPH = Graph(2, 2)


@pytest.mark.parametrize(
    ("spelled", "node", "side"),
    [
        ("logits input", LOGITS, Side.INPUT),
        ("mlp 0 output", Mlp(0), Side.OUTPUT),
        ("head 1.0 input", Head(1, 0), Side.INPUT),
        ("embed output", EMBED, Side.OUTPUT),
        ("m1 input", Mlp(1), Side.INPUT),
        ("blocks.0.hook_mlp_out", Mlp(0), Side.OUTPUT),
        ("blocks.1.hook_mlp_in", Mlp(1), Side.INPUT),
        ("blocks.1.hook_resid_post", LOGITS, Side.INPUT),
        ("blocks.0.hook_resid_pre", EMBED, Side.OUTPUT),
        ("hook_embed", EMBED, Side.OUTPUT),
    ],
)
def test_a_place_has_our_name_or_that_of_a_hook(spelled, node, side):
    """The table of the module, row by row."""
    assert parse_interface(spelled, GRAPH) == Interface(node, side)


@pytest.mark.parametrize(
    ("spelled", "sentence"),
    [
        ("mlp 0", "'mlp 0' is no place to perturb; want a node and its side"),
        ("mlp 7 output", "mlp 7 is outside 2 layers of 2 heads"),
        ("attn 0 output", "'attn 0' is 2 nodes; perturb one of them, such as 'head 0.0 output'"),
        ("blocks.1.hook_resid_pre", "each later node reads its own sum there"),
        ("blocks.0.hook_resid_mid", "each later node reads its own sum there"),
        ("blocks.0.hook_attn_out", "it is the sum of 2 heads and a bias; name a head"),
        ("blocks.0.attn.hook_z", "want a head's side, such as"),
        ("blocks.2.hook_mlp_out", "blocks.2 is outside 2 layers"),
        ("embed input", "embed input is no place to perturb"),
        ("logits output", "logits output is no place to perturb"),
    ],
)
def test_what_is_not_one_place_is_refused_in_a_sentence(spelled, sentence):
    """A hook that means several of our places is named as such, never guessed."""
    with pytest.raises(InputError, match=sentence):
        parse_interface(spelled, GRAPH)


@pytest.mark.parametrize(
    ("spelled", "positions"),
    [("last", Span.LAST), ("all", Span.ALL), ("0,3", (0, 3)), ("2", (2,))],
)
def test_positions_are_named_or_listed(spelled, positions):
    """As on the command line."""
    assert parse_positions(spelled) == positions


@pytest.mark.parametrize("spelled", ["first", "", "1,,2", "-1"])
def test_other_positions_are_refused(spelled):
    """With what is wanted instead."""
    with pytest.raises(InputError, match="want 'last', 'all' or numbers such as '0,3'"):
        parse_positions(spelled)


@pytest.mark.parametrize("positions", [(), (1, 0), (2, 2), (-1,)])
def test_listed_positions_are_distinct_and_in_order(positions):
    """Their order is that of the coordinates of η."""
    with pytest.raises(InputError, match="not distinct and increasing from 0"):
        Interface(positions=positions)


def test_the_perturbed_positions_of_a_prompt():
    """The last, all of them, or those that are listed."""
    assert FINAL_RESIDUAL.places(ReadSpan(3, 4)) == (3,)
    assert Interface(positions=Span.ALL).places(ReadSpan(1, 3)) == (0, 1, 2)
    assert Interface(positions=(0, 2)).places(ReadSpan(4, 5)) == (0, 2)
    assert FINAL_RESIDUAL.is_final_residual
    assert not Interface(positions=Span.ALL).is_final_residual


def test_a_node_that_a_circuit_does_not_use_cannot_be_perturbed():
    """Nothing would happen, and a claim about nothing is refused."""
    circuit = circuit_of(["embed -> logits", "embed -> mlp 0"])
    with pytest.raises(InputError, match="the circuit does not use mlp 0"):
        refuse_misplaced(Interface(Mlp(0)), circuit, {ReadSpan(2, 3)})
    refuse_misplaced(FINAL_RESIDUAL, circuit, {ReadSpan(2, 3)})


def test_a_position_that_some_prompt_lacks_is_refused():
    """The claim is about every prompt."""
    circuit = circuit_of(["embed -> logits"])
    with pytest.raises(InputError, match="position 3 is perturbed, but a prompt has only 2 tokens"):
        refuse_misplaced(Interface(positions=(0, 3)), circuit, {ReadSpan(4, 5), ReadSpan(1, 2)})
