from dataclasses import replace
from fractions import Fraction

import pytest

from circuitproof.circuits.graph import Head, Mlp
from circuitproof.forward.forward import Side
from circuitproof.forward.interface import Interface, Span
from circuitproof.models.operators import BandNorm, Lift
from circuitproof.programs.text import parse
from circuitproof.proof.effort import Effort
from circuitproof.proof.regions import relax
from circuitproof.proof.regions.disturbed import Question, disturb
from circuitproof.proof.regions.radius import find_radius
from circuitproof.proof.regions.relax import relaxed_radius, settled_radius, stable_radius
from hand_models import circuit_of, freeze
from models import random_model
from pattern_claims import SIZES

FAR = Fraction(1000)
MANY = 3000
ONE_LAYER = ["embed -> mlp 0", "mlp 0 -> head 1.0", "head 1.0 -> logits", "mlp 0 -> logits"]
TWO_LAYERS = ["embed -> mlp 0", "mlp 0 -> mlp 1", "mlp 1 -> logits"]
PROMPT = (1, 3, 2)
PROGRAM = {Head(1, 0): parse("default 1\nadd 1 when key_token in {3}\notherwise self")}


def question_of(seed, edges=ONE_LAYER, sizes=SIZES, span=Span.LAST, side=Side.INPUT):
    """Return whether a random circuit keeps its decision when what its first MLP reads is perturbed."""
    frozen = freeze(random_model(sizes, seed, PROGRAM))
    circuit = circuit_of(edges, layers=2, heads=2)
    function = disturb(frozen, (0, 1, 2), circuit, PROMPT, Interface(Mlp(0), side, span))
    found = function.fold((Fraction(0),) * function.variables)
    return Question(function, found.winner) if found.is_clear else None


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("span", [Span.LAST, Span.ALL])
def test_bends_may_change_below_the_relaxed_radius_but_not_the_decision(seed, span):
    """It is at most the exact radius, and never less than where the first branch changes."""
    question = question_of(seed, span=span)
    assert question is not None
    exact = find_radius(question, Effort(budget=MANY))
    relaxed = relaxed_radius(question, FAR)
    assert stable_radius(question, FAR) <= relaxed
    assert exact.upper is None or relaxed <= exact.upper
    assert settled_radius(question, FAR) == relaxed


def test_it_proves_more_than_stable_branches_do():
    """On most random circuits, and on some by far."""
    questions = [question_of(seed) for seed in range(8)]
    gains = [relaxed_radius(q, FAR) / stable_radius(q, FAR) for q in questions if q is not None]
    assert sorted(gains)[len(gains) // 2] > 1
    assert max(gains) > 2


def test_what_is_not_one_layer_is_not_relaxed():
    """Two layers of bends, none, or a norm: then only stable branches say something."""
    norm = BandNorm(Fraction(1), Fraction(2), Lift.CONTINUOUS)
    for question in (
        question_of(0, TWO_LAYERS),
        question_of(0, side=Side.OUTPUT),
        question_of(0, sizes=replace(SIZES, norm=norm)),
    ):
        assert question is not None
        assert relaxed_radius(question, FAR) == 0
        assert settled_radius(question, FAR) == stable_radius(question, FAR)


def test_no_more_than_what_is_asked_for_is_promised():
    """A radius that is given bounds the answer."""
    tiny = Fraction(1, 10**9)
    assert settled_radius(question_of(0), tiny) == tiny


def test_a_layer_too_large_to_hold_is_not_relaxed(monkeypatch):
    """Memory is bounded; the answer is weaker then, not wrong."""
    question = question_of(0)
    assert relaxed_radius(question, FAR) > 0
    monkeypatch.setattr(relax, "_MOST_SLOPES", 3)
    assert relaxed_radius(question, FAR) == 0
