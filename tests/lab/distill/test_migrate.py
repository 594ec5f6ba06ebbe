from dataclasses import replace
from fractions import Fraction

import pytest

from circuitproof.circuits.circuit import whole
from circuitproof.circuits.graph import EMBED, Head, Mlp
from circuitproof.errors import InputError
from circuitproof.files.codec import to_json
from circuitproof.tasks.quotes import toy_quotes
from circuitproof_lab.distill.lesion import Behaviour, Where
from circuitproof_lab.distill.migrate import Fate, LesionGates, migration_of
from hand_models import IDENTITY, QUOTE_EDGES, QUOTE_SIZES, SELECT, circuit_of, quote_model

TWO_HEADS = replace(QUOTE_SIZES, heads=2)
OWN, OTHER = Head(0, 0), Head(0, 1)
DECLARED = circuit_of(QUOTE_EDGES, heads=2)
ELSEWHERE = circuit_of(("embed -> head 0.1", "head 0.1 -> logits"), heads=2)
QUOTES = Behaviour(toy_quotes(), DECLARED)
GATES = LesionGates(kl=0.1, right=Fraction(3, 4))


def beside(strength: float, programs=None):
    """Return the quote model with a second head that copies too, so strongly."""
    copied = [[strength, 0], [0, strength]]
    changes = {"head.0.1.value.weight": IDENTITY, "head.0.1.output.weight": copied}
    return quote_model(changes, TWO_HEADS, programs)


def test_a_program_that_is_essential_holds():
    """It is all there is, and extraction finds it where it was declared."""
    found = migration_of(beside(0), QUOTES, DECLARED, GATES)
    assert found.fate is Fate.HELD
    assert (found.survives, found.arrived) == (False, ())
    assert [found.idle(where) for where in Where] == [(), ()]


def test_a_planted_bypass_is_detected():
    """Every answer is right and the circuit alone is right; only the lesion tells."""
    found = migration_of(beside(100), QUOTES, DECLARED, GATES)
    assert found.is_right
    assert found.effect(Where.CIRCUIT).answers.agreed == 128
    assert (found.fate, found.survives, found.idle(Where.MODEL)) == (Fate.BYPASSED, True, (OWN,))


def test_a_bypass_is_a_bypass_though_the_candidates_move():
    """The lesion moves the distribution a lot and changes no decision: suppression is not enough."""
    found = migration_of(beside(0.01), QUOTES, DECLARED, replace(GATES, kl=0.01))
    joint = found.effect(Where.MODEL, (OWN,))
    assert joint.change.kl > 0.01
    assert joint.answers.agreed == 128
    assert (found.fate, found.survives, found.idle(Where.MODEL)) == (Fate.BYPASSED, True, ())


def test_two_programs_that_stand_in_for_each_other_are_idle_alone():
    """Neither is missed while the other is there, though both together are."""
    model = beside(1, {OWN: SELECT, OTHER: SELECT})
    both = circuit_of((*QUOTE_EDGES, "embed -> head 0.1", "head 0.1 -> logits"), heads=2)
    found = migration_of(model, Behaviour(toy_quotes(), both), both, GATES)
    assert (found.survives, found.fate) == (False, Fate.BYPASSED)
    assert [found.idle(where) for where in Where] == [(OWN, OTHER)] * 2


def test_a_neural_head_that_was_not_declared_has_drifted_in():
    """The program still matters, but it is no longer the only attention of the circuit."""
    found = migration_of(beside(0), QUOTES, DECLARED | ELSEWHERE, GATES)
    assert (found.fate, found.arrived, found.new_nodes, found.lost_nodes) == (
        Fate.DRIFTED,
        (OTHER,),
        (OTHER,),
        (),
    )


def test_a_program_head_that_was_not_declared_for_a_task_is_no_drift():
    """It is new in this circuit, and yet there is no neural attention in it."""
    found = migration_of(beside(0, {OWN: SELECT, OTHER: SELECT}), QUOTES, DECLARED | ELSEWHERE, GATES)
    assert (found.fate, found.arrived, found.new_nodes) == (Fate.HELD, (), (OTHER,))


def test_nodes_are_compared_both_ways():
    """What a mechanism left behind is part of how it moved; dead edges are no part of it."""
    moved = circuit_of(
        ("embed -> head 0.1", "head 0.1 -> mlp 0", "mlp 0 -> logits", "embed -> head 0.0"), heads=2
    )
    found = migration_of(beside(0), QUOTES, moved, GATES)
    assert found.new_nodes == (OTHER, Mlp(0))
    assert found.lost_nodes == (OWN,)
    assert EMBED not in (*found.new_nodes, *found.lost_nodes)


def test_a_wrong_answer_comes_before_everything_else():
    """A model that lost the task has nothing to be bypassed."""
    found = migration_of(beside(-100), QUOTES, DECLARED | ELSEWHERE, GATES)
    assert found.fate is Fate.FAILED


def test_a_tie_is_a_wrong_answer():
    """Gates fail closed: a model without any preference must not pass for right."""
    nothing = quote_model({"head.0.0.output.weight": [[0, 0], [0, 0]]}, TWO_HEADS)
    assert migration_of(nothing, QUOTES, DECLARED, GATES).fate is Fate.FAILED


def test_a_model_without_programs_cannot_be_asked():
    """Silencing nothing changes nothing; that must not look like a bypass, and even less like none."""
    with pytest.raises(
        InputError, match="the model has no programs, so nothing can have moved away from them"
    ):
        migration_of(quote_model(None, TWO_HEADS, {}), QUOTES, DECLARED, GATES)


@pytest.mark.parametrize("kl", [0.0, -1.0, float("nan"), float("inf")])
def test_a_gate_that_every_lesion_passes_is_refused(kl):
    """Zero nats would let an idle program pass, and so would NaN, which is below nothing."""
    with pytest.raises(InputError, match=f"a lesion must move {kl} nats, want a finite number above 0"):
        LesionGates(kl, Fraction(1, 2))


@pytest.mark.parametrize("right", [Fraction(1), Fraction(-1, 2)])
def test_a_share_that_asks_nothing_is_refused(right):
    """If all prompts may survive, no bypass is ever found."""
    with pytest.raises(InputError, match=f"a share {right} may survive a lesion, want from 0 to below 1"):
        LesionGates(0.1, right)


def test_the_report_says_what_moved():
    """The columns that a reader compares, and every lesion behind them."""
    report = to_json(migration_of(beside(100), QUOTES, whole(DECLARED.graph), GATES).record())
    assert (report["fate"], report["survives"]) == ("bypassed", True)
    assert report["idle"] == {"model": ["head 0.0"], "circuit": []}
    assert (report["arrived"], report["new_nodes"]) == (["head 0.1"], ["head 0.1", "mlp 0"])
    assert [lesion["silenced"] for lesion in report["lesions"]] == [[], ["head 0.0"], ["head 0.0"]] * 2
