from fractions import Fraction

from hypothesis import given

from circuitproof.proof.regions.attack import attack, local_margins, size_of
from perturbed import decides, normed, question_of


@given(normed())
def test_an_attack_only_returns_what_changes_the_decision(drawn):
    """By the slow twin, not by what the attack believes."""
    question = question_of(drawn)
    if question is None:
        return
    eta = attack(question)
    assert eta is None or decides(drawn, eta) != {question.winner}


@given(normed())
def test_local_margins_are_those_of_the_decision(drawn):
    """At no perturbation, every one is positive, and conditions are listed instead of stopping."""
    question = question_of(drawn)
    if question is None:
        return
    margins, conditions = local_margins(question, question.zero(), Fraction(100))
    assert all(margin.constant > 0 for margin in margins)
    assert conditions


def test_the_size_of_a_perturbation_is_its_largest_coordinate():
    """Of one without coordinates it is zero."""
    assert size_of((Fraction(1), Fraction(-3))) == 3
    assert size_of(()) == 0
