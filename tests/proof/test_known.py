"""Questions with three answers: a table for each, in which unknown is never taken for yes or no."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.errors import NotExactError
from circuitproof.proof.enclosed import NOT_KNOWN, Enclosed, NotKnown
from circuitproof.proof.fold import Fold
from circuitproof.proof.known import (
    all_of,
    changes_nothing,
    decides,
    divide,
    exact_folds,
    is_changed,
    is_clear,
    known_decision,
    least_lead,
    same_decision,
    same_logits,
)


def fold_of(*logits):
    """Return exact logits."""
    return Fold(tuple(map(Fraction, logits)))


def around(radius, *midpoints):
    """Return enclosed logits."""
    return Enclosed(tuple(map(Fraction, midpoints)), Fraction(radius))


FIRST, SECOND, TIE = fold_of(1, 0), fold_of(0, 1), fold_of(1, 1)
LEADING, BLURRED = around(1, 3, 0), around(1, 1, 0)
ternaries = st.sampled_from([True, False, NOT_KNOWN])


@given(st.lists(ternaries))
def test_every_place_has_one_answer(answers):
    """Unknown ones are open, and all are yes only if none is open."""
    found = divide(answers)
    assert sorted((*found.yes, *found.no, *found.open)) == list(range(len(answers)))
    assert all(isinstance(answers[place], NotKnown) for place in found.open)
    assert (all_of(answers) is True) is (len(found.yes) == len(answers))
    assert (all_of(answers) is False) is bool(found.no)


@pytest.mark.parametrize(
    ("before", "after", "is_same", "is_other"),
    [
        (FIRST, FIRST, True, False),
        (FIRST, SECOND, False, True),
        (FIRST, TIE, False, True),
        (TIE, FIRST, False, False),
        (TIE, TIE, True, False),
        (LEADING, FIRST, True, False),
        (LEADING, SECOND, False, True),
        (LEADING, TIE, False, True),
        (FIRST, BLURRED, NOT_KNOWN, NOT_KNOWN),
        (BLURRED, FIRST, NOT_KNOWN, NOT_KNOWN),
        (BLURRED, BLURRED, NOT_KNOWN, NOT_KNOWN),
        (TIE, BLURRED, NOT_KNOWN, False),
        (BLURRED, TIE, NOT_KNOWN, NOT_KNOWN),
    ],
)
def test_decisions_are_compared_where_both_are_known(before, after, is_same, is_other):
    """A tie has no clear decision that could change, whatever comes after it."""
    assert same_decision(before, after) is is_same
    assert same_decision(after, before) is is_same
    assert is_changed(before, after) is is_other
    kept = is_other if isinstance(is_other, NotKnown) else not is_other
    assert changes_nothing([FIRST, before], [FIRST, after]) is kept
    assert changes_nothing([FIRST, before], [SECOND, after]) is False


@pytest.mark.parametrize(
    ("found", "is_first", "clear"),
    [
        (FIRST, True, True),
        (SECOND, False, True),
        (TIE, False, False),
        (LEADING, True, True),
        (BLURRED, NOT_KNOWN, NOT_KNOWN),
    ],
)
def test_a_decision_is_clear_where_it_is_known_to_be(found, is_first, clear):
    """A tie decides for nobody."""
    assert decides(found, 0) is is_first
    assert is_clear(found.decision) is clear


@pytest.mark.parametrize(
    ("one", "other", "are_same"),
    [
        (FIRST, FIRST, True),
        (FIRST, TIE, False),
        (BLURRED, BLURRED, NOT_KNOWN),
        (BLURRED, fold_of(0, 0), NOT_KNOWN),
        (BLURRED, fold_of(0, 2), False),
        (around(1, 0, 0), around(2, 3, 0), NOT_KNOWN),
        (around(1, 0, 0), around(2, 4, 0), False),
    ],
)
def test_enclosed_logits_may_differ_for_certain_but_are_never_the_same(one, other, are_same):
    """Enclosures that touch tell nothing."""
    assert same_logits(one, other) is are_same
    assert same_logits(other, one) is are_same


def test_the_least_lead_of_an_enclosure_is_its_lower_end():
    """Of exact logits it is the margin."""
    assert least_lead(FIRST) == 1
    assert least_lead(TIE) == 0
    assert least_lead(LEADING) == 1


def test_where_exact_logits_are_wanted_enclosed_ones_are_refused():
    """They are not silently left out."""
    assert exact_folds([FIRST, TIE]) == (FIRST, TIE)
    with pytest.raises(NotExactError, match="logits are enclosed where exact ones are wanted"):
        exact_folds([FIRST, LEADING])


def test_a_proof_rests_on_known_decisions():
    """One that does not is a fault of the prover."""
    assert known_decision(LEADING) == known_decision(FIRST) == frozenset({0})
    with pytest.raises(TypeError, match="rests on a decision that is not known"):
        known_decision(BLURRED)
