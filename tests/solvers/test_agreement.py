"""Exact engine, z3 and cvc5 on random tiny circuits: they agree, and a wrong encoder does not get past them.

CIRCUITPROOF_CASES=1000 is the nightly size.
"""

import os
from fractions import Fraction

import pytest

from circuitproof.arithmetic.exact import Exact
from circuitproof.arithmetic.grid import multiply
from circuitproof.proof.battery import prove
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.verdict import Verdict
from circuitproof.solvers import encode, pieces
from circuitproof.solvers.arithmetic import Symbolic
from circuitproof.solvers.choices import Asking, Branching, Engine
from circuitproof.solvers.pieces import Pieces
from circuitproof.solvers.rulings import DisagreementError
from circuitproof.solvers.table import TermTable
from circuitproof.solvers.terms import ZeroRelation
from circuitproof.verbs.cross_check import compare
from tiny_claims import tiny_claim

CASES = int(os.environ.get("CIRCUITPROOF_CASES", "9"))
MUTANT_CASES = 60


def cross_checked(claim, branching=Branching.KEPT, engine=Engine.ALL):
    """Return what the exact engine and solvers make of a claim; a contradiction raises."""
    return compare(claim, prove(claim), Asking(engine=engine, branching=branching, seconds=30))


def test_engines_agree_on_random_circuits_with_every_branch_kept():
    """No contradiction, and both solvers decide all that the exact engine decides, in the same way."""
    seen = set()
    for seed in range(CASES):
        for one in cross_checked(tiny_claim(seed)):
            assert one.answer is not None
            for ruling in one.solver_answers.rulings:
                assert ruling.verdict is one.answer.verdict, (seed, one.prop, ruling)
            seen.add((one.prop.kind, one.verdict))
    for prop in (Equivalence, Invariance, Necessity, Robustness):
        assert {(prop.kind, Verdict.PROVED), (prop.kind, Verdict.REFUTED)} <= seen


def test_engines_agree_on_random_circuits_along_traces():
    """A traced query decides what has no perturbation, and of balls those that stay in their branches."""
    unstable = 0
    for seed in range(100, 100 + max(CASES // 2, 6)):
        for one in cross_checked(tiny_claim(seed), Branching.TRACED):
            for ruling in one.solver_answers.rulings:
                if ruling.verdict is Verdict.UNDECIDED:
                    assert isinstance(one.prop, Robustness)
                    assert all("branch unstable" in reason for reason in ruling.open)
                    unstable += 1
    assert unstable


def flipped_comparison(patch):
    """A flipped inequality: > becomes ≥ with the sides exchanged."""
    real = TermTable.compare
    patch.setattr(
        Pieces,
        "_above",
        lambda self, value: real(self.group.log.terms, self._negated(value), ZeroRelation.ABOVE),
    )


def dropped_branch(patch):
    """A dropped branch: negative numbers are no longer bent."""
    patch.setattr(Pieces, "rectify", lambda _self, value, _slope, _sign: value)


def dropped_lift(patch):
    """A dropped branch: a side below the band stays there."""
    none = Fraction(0)

    def lift(self, values, *_):
        return [self.group.log.terms.number(none)] * len(values)

    patch.setattr(Pieces, "_lift", lift)


def unsorted(patch):
    """A network without its last comparison."""
    real = pieces.comparators
    patch.setattr(pieces, "comparators", lambda count: list(real(count))[:-1])


def wide_ball(patch):
    """A ball twice as large as claimed."""
    real = encode._bounded
    patch.setattr(encode, "_bounded", lambda log, eta, epsilon: real(log, eta, 2 * epsilon))


def forgotten_bias(patch):
    """An affine map without its bias, where the terms are made."""
    real = Symbolic.affine
    patch.setattr(Symbolic, "affine", lambda self, values, weight, _bias: real(self, values, weight, None))


def wrong_exact_activation(patch):
    """The exact engine itself bends the wrong way; the solvers notice."""
    real = Exact.activate

    def activate(self, values, activation):
        return multiply(real(self, multiply(values, Fraction(-1)), activation), Fraction(-1))

    patch.setattr(Exact, "activate", activate)


def wrong_exact_norm(patch):
    """The exact engine forgets gain and shift."""
    real = Exact.normalise
    patch.setattr(
        Exact, "normalise", lambda self, values, norm, gain: real(self, values, norm, (gain[1], gain[0]))
    )


def first_contradiction(*properties):
    """Return the first contradiction between the exact engine and z3 on random claims, if there is one."""
    for seed in range(MUTANT_CASES):
        try:
            cross_checked(tiny_claim(seed, *properties), engine=Engine.Z3)
        except DisagreementError as error:
            return error
    return None


@pytest.mark.parametrize(
    "mutate", [flipped_comparison, dropped_branch, dropped_lift, unsorted, wide_ball, forgotten_bias]
)
def test_a_wrong_encoder_is_caught(mutate, monkeypatch):
    """Each mutation of terms ends in a contradiction that carries its smallest query."""
    mutate(monkeypatch)
    found = first_contradiction()
    assert found is not None
    assert found.reproduction.startswith("; prompt")
    assert found.reproduction.endswith("(check-sat)\n")


@pytest.mark.parametrize("mutate", [wrong_exact_activation, wrong_exact_norm])
def test_wrong_exact_numbers_are_caught(mutate, monkeypatch):
    """Solvers watch the exact engine as it watches them."""
    mutate(monkeypatch)
    assert first_contradiction(Equivalence(), Invariance(), Necessity()) is not None
