import itertools
from dataclasses import replace
from fractions import Fraction
from math import inf

import pytest

from circuitproof.bundle.files import bundle_files, write_bundle
from circuitproof.circuits.graph import Mlp
from circuitproof.forward.forward import Side
from circuitproof.forward.interface import Interface
from circuitproof.models.operators import LeakyRelu
from circuitproof.proof.battery import prove
from circuitproof.proof.effort import UNHURRIED, Effort, Pace
from circuitproof.proof.minimal import search_minimum
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.faithfulness import Faithfulness
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.properties.subset_minimality import SubsetMinimality
from circuitproof.proof.verdict import Verdict
from circuitproof_check.main import Outcome, check
from hand_models import ADDER, ADDER_TASK, PLAIN, adder_claim, build, freeze
from pattern_claims import random_claim
from tiny_claims import tiny_claim

EVERY = (
    Equivalence(),
    Invariance(),
    Necessity(),
    Robustness(Fraction(1, 100), Interface(Mlp(0), Side.INPUT)),
    Faithfulness(),
    SubsetMinimality(),
)
CLAIMS = {
    "adder": lambda: adder_claim(*EVERY, sizes=replace(PLAIN, activation=LeakyRelu(Fraction(1, 100)))),
    **{f"list {seed}": lambda seed=seed: tiny_claim(seed) for seed in (1, 4, 6)},
    **{f"pattern {seed}": lambda seed=seed: random_claim(seed) for seed in (0, 3, 5)},
}
OUTCOMES = {
    Verdict.PROVED: Outcome.VALID,
    Verdict.REFUTED: Outcome.REFUTED,
    Verdict.UNDECIDED: Outcome.INCOMPLETE,
}


def ticking(deadline):
    """Return a pace whose clock goes on by one whenever it is looked at."""
    return Pace(deadline, itertools.count().__next__)


def ticks(claim):
    """Return how often a whole proof looks at the clock."""
    clock = itertools.count()
    prove(claim, Effort(pace=Pace(10**9, clock.__next__)))
    return next(clock)


@pytest.mark.parametrize("name", CLAIMS)
def test_without_time_everything_is_undecided_and_the_checker_says_incomplete(name, tmp_path):
    """Silence is never a proof, nor a refutation."""
    battery = prove(CLAIMS[name](), Effort(pace=Pace(0)))
    assert {answer.verdict for answer in battery.answers} == {Verdict.UNDECIDED}
    assert [answer.met for answer in battery.answers] == [0] * len(battery.answers)
    assert all("the work was ended" in answer.evidence.reason for answer in battery.answers)
    write_bundle(tmp_path / "bundle", battery)
    assert check(tmp_path / "bundle")[0] is Outcome.INCOMPLETE


@pytest.mark.parametrize("name", CLAIMS)
def test_whatever_is_decided_by_a_deadline_is_what_a_whole_proof_decides(name, tmp_path):
    """A deadline in the middle takes answers away and changes none; the checker agrees with what is left."""
    claim = CLAIMS[name]()
    whole, end = prove(claim).answers, ticks(claim)
    decided = []
    for deadline in sorted({*range(0, end, max(1, end // 8)), end + 1}):
        battery = prove(claim, Effort(pace=ticking(deadline)))
        for answer, full in zip(battery.answers, whole, strict=True):
            assert answer == full or answer.verdict is Verdict.UNDECIDED
            assert full.verdict is not Verdict.PROVED or answer.met <= full.met
        decided.append(sum(answer == full for answer, full in zip(battery.answers, whole, strict=True)))
        write_bundle(tmp_path / str(deadline), battery)
        found, sentence = check(tmp_path / str(deadline))
        assert found is OUTCOMES[battery.verdict], sentence
    assert (decided[0], decided[-1]) == (0, len(whole))
    assert decided == sorted(decided)


def test_a_deadline_in_the_middle_leaves_some_properties_proved():
    """Those whose circuits were computed; of necessity, the edges that are known to be needed count."""
    claim = CLAIMS["adder"]()
    seen = [prove(claim, Effort(pace=ticking(deadline))).answers for deadline in range(ticks(claim))]
    proved = {[answer.verdict for answer in answers].count(Verdict.PROVED) for answers in seen}
    assert len(proved) > 2
    assert {answers[2].met for answers in seen} > {0, len(claim.circuit)}


@pytest.mark.parametrize("name", CLAIMS)
def test_a_deadline_that_does_not_come_changes_no_byte(name):
    """Who listens and for how long is no part of a proof."""
    claim, heard = CLAIMS[name](), []
    patient = Effort(pace=Pace(inf, itertools.count().__next__, lambda *told: heard.append(told)))
    assert bundle_files(prove(claim, patient)) == bundle_files(prove(claim))
    assert heard
    assert all(0 <= done <= total for _, done, total in heard)


def test_a_minimum_without_time_is_a_lower_bound_that_holds():
    """Sizes that were not finished are not spoken of, and no circuit is taken for a minimum."""
    frozen = freeze(build(ADDER))
    known = search_minimum(frozen, ADDER_TASK, most=4, budget=1000)
    found = [
        search_minimum(frozen, ADDER_TASK, most=4, budget=1000, pace=ticking(deadline))
        for deadline in range(200)
    ]
    assert found[0].trials == found[0].minimum == ()
    assert found[0].refuted_below == 1
    assert found[-1] == known
    for search in found:
        assert search.minimum in {(), known.minimum}
        assert search.refuted_below <= known.refuted_below
        assert set(search.trials) <= set(known.trials)
    assert len({len(search.trials) for search in found}) > 2


def test_time_stands_still_without_a_clock():
    """Nobody is hurried who was not asked to be."""
    assert not UNHURRIED.is_over
    assert UNHURRIED.left == inf
    assert UNHURRIED.share(3).left == inf


def test_a_share_is_an_equal_part_of_the_time_that_is_left():
    """So that the last of several is looked at as long as the first."""
    assert Pace(12, lambda: 3.0).share(3).left == 3
    assert Pace(2, lambda: 3.0).share(3).is_over
    assert Pace(inf, lambda: inf).share(3).is_over


def test_steps_end_with_the_time_and_each_does_not():
    """What was not reached is left to whoever counts."""
    heard = []
    pace = Pace(2, itertools.count().__next__, lambda *told: heard.append(told))
    assert list(pace.steps("letters", "abcd")) == ["a", "b"]
    assert heard == [("letters", 0, 4), ("letters", 1, 4), ("letters", 2, 4)]
    assert list(pace.each("letters", "abcd")) == list("abcd")
    assert heard[-1] == ("letters", 4, 4)
