from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.circuits.graph import Head
from circuitproof.forward.cells import BiasKept
from circuitproof.nn.transformer import Transformer, initialise
from circuitproof.proof.fold import Fold, fold
from hand_models import ADDED, ADDER, DIRECT, PLAIN, build, circuit_of, freeze

rationals = st.fractions(-4, 4, max_denominator=5)
logit_rows = st.lists(rationals, min_size=2, max_size=4).map(tuple)


@given(logit_rows)
def test_the_decision_is_the_set_of_candidates_that_nobody_beats(logits):
    """The slow twin compares every pair."""
    found = Fold(logits)
    assert found.decision == {
        place for place, logit in enumerate(logits) if all(logit >= other for other in logits)
    }
    assert found.is_clear == (logits.count(max(logits)) == 1)


@given(logit_rows, rationals)
def test_a_common_shift_changes_no_decision(logits, shift):
    """Only differences of logits decide."""
    assert Fold(tuple(logit + shift for logit in logits)).decision == Fold(logits).decision


@given(logit_rows)
def test_equal_folds_are_one_in_a_dictionary(logits):
    """Also after one of them was asked for its hash before, which is then kept."""
    first, second = Fold(logits), Fold(tuple(map(Fraction, logits)))
    known = {first: 1}
    assert known[second] == known[first] == 1
    assert hash(first) == hash(second)
    assert Fold((*logits[:-1], logits[-1] + 1)) not in known


def test_a_tie_has_no_winner():
    """Naming one of the tied would decide by their order."""
    assert Fold((Fraction(1), Fraction(2))).winner == 1
    with pytest.raises(ValueError, match="too many values"):
        _ = Fold((Fraction(1), Fraction(1))).winner


def test_folds_are_the_logits_worked_out_by_hand():
    """The table stands in `ADDER`."""
    both, direct = circuit_of(ADDED), circuit_of(DIRECT)
    folded = fold(freeze(build(ADDER)), (0, 1), [both, direct], [(token,) for token in range(5)])
    assert [found.logits for found in folded.of(both)] == [(2, 3), (1, 0), (1, 3), (4, 3), (3, 3)]
    assert [found.logits for found in folded.of(direct)] == [(2, 1), (1, 0), (1, 1), (4, 1), (3, 1)]


def test_logits_stand_in_the_order_of_the_candidates():
    """Places, not tokens, are what evidence speaks of."""
    circuit = circuit_of(ADDED)
    folded = fold(freeze(build(ADDER)), (1, 4, 0), [circuit], [(0,)])
    assert [found.logits for found in folded.of(circuit)] == [(3, 0, 2)]


def test_equal_logits_are_one_fold_whichever_circuit_or_prompt_they_come_from():
    """Certificates list each row once."""
    both, direct = circuit_of(ADDED), circuit_of(DIRECT)
    folded = fold(freeze(build(ADDER)), (0, 1), [both, direct], [(1,), (0, 1), (4,)])
    assert len(set(folded.folds)) == len(folded.folds) == 3
    assert folded.places[both][0] == folded.places[both][1] == folded.places[direct][0]


def test_prompts_that_end_alike_are_one_cell_of_a_circuit_that_reads_only_the_end():
    """125 prompts of the same length are decided by five computations."""
    circuit = circuit_of(ADDED)
    prompts = list(product(range(5), repeat=3))
    folded = fold(freeze(build(ADDER)), (0, 1), [circuit], prompts)
    assert folded.cells[circuit] == 5
    assert [folded.of(circuit)[place].logits for place in (0, 124)] == [(2, 3), (3, 3)]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("target", ["logits", "mlp 0", "head 1.0", "mlp 1"])
def test_a_bias_that_is_kept_is_what_an_idle_head_brings(seed, target):
    """The slow twin: a second head of the layer that hands on nothing brings the shared bias and no more."""
    sizes = replace(PLAIN, layers=2, heads=2, biases=True)
    model = Transformer(sizes)
    initialise(model, seed, 1.0)
    with torch.no_grad():
        for name, values in model.named_slices().items():
            if name.endswith("bias"):
                values.normal_(generator=torch.Generator().manual_seed(seed))
        model.named_slices()["head.0.1.output.weight"].zero_()
    frozen = freeze(model)
    edges = ["embed -> head 0.0", "embed -> logits", f"head 0.0 -> {target}"]
    way_out = [] if target == "logits" else [f"{target} -> logits"]
    circuit = circuit_of([*edges, *way_out], layers=2, heads=2)
    idle = circuit_of([*edges[:2], f"head 0.1 -> {target}", *way_out], layers=2, heads=2)
    edge = next(edge for edge in circuit if isinstance(edge.source, Head) and edge.source.layer == 0)
    kept = BiasKept(circuit.without(edge), edge.target, 0)
    prompts = [(0,), (1, 2), (3, 4, 0)]
    folded = fold(frozen, (0, 1), [circuit, circuit.without(edge), kept, idle], prompts)
    assert folded.of(kept) == folded.of(idle)
