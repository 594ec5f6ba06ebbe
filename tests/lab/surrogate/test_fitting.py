from dataclasses import replace

import pytest

from circuitproof.errors import InputError, NumericError
from circuitproof_lab.surrogate.fitting import Fitting, fit_network
from circuitproof_lab.surrogate.network import measure_fidelity, open_network, write_network
from surrogate_twin import NO_YES, SMALL, automaton_teacher, relation_of

PARITY = automaton_teacher([(1, 0), (0, 1)], [0, 1])
FITTING = Fitting(hidden=(12,), steps=2000, learning_rate=0.02, attempts=5, seed=1)


def test_a_fitted_surrogate_agrees_on_every_word_of_its_file(tmp_path):
    """Proved on the bits that are stored, in exact arithmetic; the weights are as coarse as they can be."""
    fitted = fit_network(PARITY, FITTING)
    write_network(tmp_path / "surrogate", fitted.shape, fitted.weights, PARITY)
    network = open_network(tmp_path / "surrogate", PARITY)
    assert measure_fidelity(network, PARITY) == len(PARITY.words)
    numbers = [number for layer in network.layers for row in layer.weight.fractions() for number in row]
    assert max(number.denominator for number in numbers) <= 1 << 8


def test_the_same_fitting_gives_the_same_bits():
    """The seed is in the recipe."""
    assert fit_network(PARITY, FITTING) == fit_network(PARITY, FITTING)


def test_a_surrogate_too_small_for_its_teacher_is_refused():
    """One hidden number cannot tell parity; there is no surrogate then, and so no verdict."""
    narrow = replace(FITTING, hidden=(1,), steps=60, attempts=2)
    sentence = (
        r"hidden layers \[1\] agrees with teacher 'machine' on \d+ of 30 words at best, "
        "in 2 attempts of 60 steps; want all of them: widen it or train it longer"
    )
    with pytest.raises(InputError, match=sentence):
        fit_network(PARITY, narrow)


def test_training_that_runs_away_is_refused():
    """A learning rate beyond all measure."""
    with pytest.raises(NumericError, match="lower its learning rate"):
        fit_network(PARITY, replace(FITTING, learning_rate=1e30, steps=40))


def test_two_hidden_layers_work_as_well():
    """Depth is the recipe's choice."""
    constant = relation_of("constant", SMALL, NO_YES, lambda word: int(word[0] == 0))
    assert fit_network(constant, replace(FITTING, hidden=(6, 5))).shape.hidden == (6, 5)
