"""Accuracy by hand, in exact numbers: the adder decides token 1 wrongly, and ties on token 4."""

from dataclasses import replace
from fractions import Fraction

import pytest

from circuitproof.errors import DeclarationError, InputError, UsageError
from circuitproof.models.operators import BandNorm, Lift
from circuitproof.proof.battery import prove
from circuitproof.proof.brackets import ClaimedBracket
from circuitproof.proof.counterexamples import counterexample
from circuitproof.proof.effort import Effort, Pace
from circuitproof.proof.properties.accuracy import Accuracy
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.logit_difference import LogitDifferences
from circuitproof.proof.properties.loss import Loss
from circuitproof.proof.properties.recovered_difference import RecoveredDifference
from circuitproof.proof.verdict import Verdict
from circuitproof.solvers.obligations import Questions
from hand_models import PLAIN, adder_claim, table_task

WRONG = table_task({(0,): 1, (1,): 1, (2,): 1, (4,): 0})


def answered(prop):
    """Return the claim with what was found, and its answer."""
    battery = prove(adder_claim(prop, task=WRONG))
    return battery.claim, battery.answers[0]


def test_errors_are_found_and_stated():
    """The claim in the battery lists them, and is proved."""
    claim, answer = answered(Accuracy())
    assert claim.properties == (Accuracy(wrong=(1, 3)),)
    assert (answer.verdict, answer.met, answer.obligations) == (Verdict.PROVED, 4, 4)
    assert answer.findings.words() == "2 of 4 are right"
    assert [str(one) for one in answer.remarks] == ["no better than a constant: 3"]


def test_a_refuted_equivalence_says_how_many_are_right():
    """In the table, beside the counterexample and in JSON."""
    claim, answer = answered(Equivalence())
    assert answer.findings.words() == "2 of 4 are right; 2 counterexamples, first prompt 1"
    assert counterexample(claim, answer).says == "2 of 4 are right"
    assert answer.findings.to_json()["right"] == {"right": 2, "open": 0, "size": 4}


def test_a_wrong_list_of_errors_is_refuted_by_a_prompt_that_is_not_as_said():
    """Both ways."""
    claim, answer = answered(Accuracy(wrong=(1,)))
    assert answer.verdict is Verdict.REFUTED
    assert counterexample(claim, answer).says == "2 of 4 are right; prompt 3 is said to be right"
    claim, answer = answered(Accuracy(wrong=(0, 1, 3)))
    assert counterexample(claim, answer).says == "2 of 4 are right; prompt 0 is said to be wrong"


def test_too_many_errors_refute_a_bound():
    """Each of them is replayed."""
    claim, answer = answered(Accuracy(least=3))
    assert (answer.verdict, answer.met, answer.obligations) == (Verdict.REFUTED, 2, 3)
    assert len(counterexample(claim, answer).prompts) == 2


def test_where_nothing_is_right_one_right_prompt_is_claimed_and_refuted():
    """There is no accuracy of nothing."""
    battery = prove(adder_claim(Accuracy(), task=table_task({(1,): 1, (4,): 0})))
    assert battery.claim.properties == (Accuracy(least=1),)
    assert battery.verdict is Verdict.REFUTED


def test_what_there_was_no_time_for_is_stated_and_open():
    """A bundle states a claim in any case."""
    late = Effort(pace=Pace(deadline=0.0, clock=lambda: 1.0))
    found = (Accuracy(), Loss(), LogitDifferences(), RecoveredDifference())
    battery = prove(adder_claim(*found, task=WRONG), late)
    assert battery.verdict is Verdict.UNDECIDED
    assert not any(prop.is_to_be_found for prop in battery.claim.properties)
    assert battery.claim.properties == tuple(prop.unfound() for prop in found)


@pytest.mark.parametrize("prop", [Loss(), LogitDifferences(), RecoveredDifference()])
def test_a_measure_has_no_exact_value(prop):
    """A claim in exact numbers leaves it open; `verify` claims it in enclosed ones."""
    _, answer = answered(prop)
    assert answer.verdict is Verdict.UNDECIDED
    assert answer.evidence.reason == f"{prop.kind} is measured in enclosed numbers alone"


@pytest.mark.parametrize("prop", [Loss(), LogitDifferences(), RecoveredDifference()])
def test_a_band_norm_is_refused_for_a_measure(prop):
    """In one sentence, with what to do."""
    sizes = replace(PLAIN, norm=BandNorm(Fraction(1, 2), Fraction(2), Lift.CONTINUOUS))
    with pytest.raises(InputError) as refusal:
        adder_claim(prop, sizes=sizes)
    assert str(refusal.value) == (
        f"{prop.kind} is measured in enclosed numbers, in which BandNorm has no value; "
        "claim an accuracy, which is counted in exact ones"
    )


MISFITS = [
    (Accuracy(least=5), "at least 5 prompts are said to be right, the task has 4"),
    (Accuracy(wrong=(1, 4)), "prompt 4 is said to be wrong, the task has prompts 0 to 3"),
    (
        Accuracy(wrong=(0, 1, 2, 3)),
        "every prompt is said to be wrong; an accuracy is of one right prompt or more",
    ),
    (RecoveredDifference(without=(7,)), "prompt 7 is left out, the task has prompts 0 to 3"),
    (RecoveredDifference(without=(0, 1, 2, 3)), "every prompt is left out; a mean wants at least one"),
]


@pytest.mark.parametrize(("prop", "sentence"), MISFITS)
def test_what_does_not_fit_the_prompts_is_refused(prop, sentence):
    """Before anything is computed."""
    with pytest.raises(InputError) as refusal:
        adder_claim(prop, task=WRONG)
    assert str(refusal.value) == sentence


CONTRADICTIONS = [
    (
        lambda: Accuracy((1,), 1),
        "accuracy lists errors and says how many are right at least; give one",
    ),
    (lambda: Accuracy(least=0), "accuracy wants at least 1 right prompt, got 0"),
    (
        lambda: Accuracy((2, 1)),
        "accuracy wants the numbers of wrong prompts distinct and increasing",
    ),
    (
        lambda: RecoveredDifference(ClaimedBracket(Fraction(0), None), (1, 1)),
        "recovered difference wants prompts left out distinct and increasing",
    ),
]


@pytest.mark.parametrize(("make", "sentence"), CONTRADICTIONS)
def test_a_contradiction_cannot_be_held(make, sentence):
    """Holding a property is proof that it says something."""
    with pytest.raises(DeclarationError) as refusal:
        make()
    assert str(refusal.value) == sentence


def test_solvers_are_not_asked_for_counts():
    """A sentence names what they are asked."""
    with pytest.raises(UsageError, match=r"^accuracy is not asked of solvers; want equivalence, invariance"):
        Questions(adder_claim(Accuracy(), task=WRONG)).obligations(Accuracy())


def test_words_name_the_errors_and_the_brackets():
    """As the page tells them."""
    said = Accuracy(wrong=(1, 3)).meaning().words
    assert said.endswith("nothing ties with it, but for 2 prompts: 1, 3. On each of these it does not.")
    assert Accuracy(least=2).name == "accuracy: at least 2 right"
    bracket = ClaimedBracket(None, Fraction(1, 2))
    assert Loss(bracket).name == "mean loss at most 0.5"
    assert LogitDifferences(least=bracket).meaning().formula == "least of m(x) ≤ 0.5"
    assert "2 prompts left out, at most 0.5" in RecoveredDifference(bracket, (0, 2)).meaning().words
