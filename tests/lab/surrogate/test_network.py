from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from safetensors.numpy import save

from circuitproof.errors import DeclarationError, InputError, NumericError
from circuitproof.tasks.alphabet import Alphabet
from circuitproof_lab.surrogate.network import NetworkShape, measure_fidelity, open_network, write_network
from circuitproof_lab.surrogate.relation import Relation
from circuitproof_lab.surrogate.words import Words
from surrogate_twin import AB, NO_YES, SMALL, network_of, networks, relation_of

PAIR = Words(AB, 1, 2)
SEES_B = ([[0, 1, 0, 1]], [0]), ([[-1], [1]], [Fraction(1, 2), 0])
"""The hidden number counts b: at none "no" leads with 1/2 against 0, at one "yes" with 1 against -1/2."""
WHERE_B = relation_of("b", PAIR, NO_YES, lambda word: int(1 in word))
SHAPE = NetworkShape(PAIR, NO_YES, (1,))
TENSORS = {
    "layer.0.weight": np.array(SEES_B[0][0], np.float32),
    "layer.0.bias": np.array(SEES_B[0][1], np.float32),
    "layer.1.weight": np.array(SEES_B[1][0], np.float32),
    "layer.1.bias": np.array([0.5, 0], np.float32),
}


def twin_decision(network, word):
    """Compute a decision in fractions, number by number."""
    tokens = len(network.shape.words.tokens)
    values = [Fraction(0)] * (network.shape.words.longest * tokens)
    for place, token in enumerate(word):
        values[place * tokens + token] = Fraction(1)
    for depth, layer in enumerate(network.layers):
        rows = zip(layer.weight.fractions(), layer.bias.fractions()[0], strict=True)
        values = [sum(w * v for w, v in zip(row, values, strict=True)) + shift for row, shift in rows]
        if depth + 1 < len(network.layers):
            values = [max(value, Fraction(0)) for value in values]
    return frozenset(place for place, value in enumerate(values) if value == max(values))


@given(networks())
def test_decisions_are_those_of_plain_fractions(network):
    """Ties included."""
    words = list(SMALL)
    assert network.decide(words) == tuple(twin_decision(network, word) for word in words)


def test_a_surrogate_agrees_where_its_only_maximal_answer_is_the_teachers():
    """The example does so on every word."""
    assert measure_fidelity(network_of(PAIR, NO_YES, *SEES_B), WHERE_B) == len(PAIR) == 6


def test_a_tie_never_counts_as_agreement():
    """With equal logits everywhere nothing agrees, whatever the teacher says."""
    tied = network_of(PAIR, NO_YES, ([[0] * 4], [0]), ([[0], [0]], [1, 1]))
    assert tied.decide([(0,)]) == (frozenset({0, 1}),)
    assert measure_fidelity(tied, WHERE_B) == 0


def test_the_first_difference_is_named():
    """A teacher that answers otherwise on one word only."""
    other = Relation("other", PAIR, NO_YES, (0, 1, 0, 1, 0, 1))
    assert measure_fidelity(network_of(PAIR, NO_YES, *SEES_B), other) == 5


@pytest.mark.parametrize(
    "other",
    [
        relation_of("x", Words(Alphabet(("a", "c")), 1, 2), NO_YES, lambda _: 0),
        relation_of("x", Words(AB, 1, 1), NO_YES, lambda _: 0),
        relation_of("x", PAIR, Alphabet(("yes", "no")), lambda _: 0),
    ],
)
def test_a_teacher_of_another_alphabet_is_not_compared(other):
    """Other tokens, other lengths, other answers."""
    with pytest.raises(InputError, match="different alphabets, answers or lengths"):
        measure_fidelity(network_of(PAIR, NO_YES, *SEES_B), other)


def test_a_surrogate_is_read_back_from_its_bits(tmp_path):
    """FP32 values are the dyadic rationals that they are."""
    write_network(tmp_path / "surrogate", SHAPE, save(TENSORS), WHERE_B)
    found = open_network(tmp_path / "surrogate", WHERE_B)
    assert found.shape == SHAPE
    assert found.layers[1].bias.fractions() == ((Fraction(1, 2), Fraction(0)),)
    assert measure_fidelity(found, WHERE_B) == len(PAIR)


def test_a_surrogate_of_another_teacher_is_refused(tmp_path):
    """Its fidelity would be about somebody else."""
    write_network(tmp_path / "surrogate", SHAPE, save(TENSORS), WHERE_B)
    with pytest.raises(InputError, match="fitted to another teacher"):
        open_network(tmp_path / "surrogate", Relation("b", PAIR, NO_YES, (0,) * 6))


def test_a_changed_surrogate_is_refused(tmp_path):
    """The manifest holds its digest."""
    write_network(tmp_path / "surrogate", SHAPE, save(TENSORS), WHERE_B)
    weights = tmp_path / "surrogate" / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x40")
    with pytest.raises(InputError, match="the file was changed"):
        open_network(tmp_path / "surrogate", WHERE_B)


def test_tensors_of_other_shapes_are_refused(tmp_path):
    """A layer too wide, or one that is missing."""
    write_network(tmp_path / "wide", NetworkShape(PAIR, NO_YES, (2,)), save(TENSORS), WHERE_B)
    with pytest.raises(InputError, match="holds tensors"):
        open_network(tmp_path / "wide", WHERE_B)


def test_a_weight_that_is_no_number_is_refused(tmp_path):
    """Never a verdict about it."""
    broken = {**TENSORS, "layer.1.bias": np.array([np.nan, 0], np.float32)}
    write_network(tmp_path / "surrogate", SHAPE, save(broken), WHERE_B)
    with pytest.raises(NumericError, match="NaN"):
        open_network(tmp_path / "surrogate", WHERE_B)


@pytest.mark.parametrize("hidden", [(), (0,), (3, -1)])
def test_hidden_layers_must_be_there(hidden):
    """A surrogate without one is no ReLU network."""
    with pytest.raises(DeclarationError, match="hidden widths are"):
        NetworkShape(PAIR, NO_YES, hidden)


def test_layers_must_fit_together():
    """Holding a network is proof that it can be computed."""
    with pytest.raises(DeclarationError, match="layers have shapes"):
        network_of(PAIR, NO_YES, ([[0, 1, 0]], [0]), ([[1], [0]], [0, 0]))


def test_a_word_outside_the_domain_is_not_decided():
    """The network has no input for it."""
    with pytest.raises(DeclarationError, match="not in the surrogate's domain"):
        network_of(PAIR, NO_YES, *SEES_B).decide([(0, 1, 1)])
