"""Logits that are known up to a radius: what follows from them, and what does not."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.errors import NumericError
from circuitproof.proof.enclosed import NOT_KNOWN, Enclosed, EnclosedNumber, NotKnown

numbers = st.fractions(-4, 4, max_denominator=4)
within = st.fractions(-1, 1, max_denominator=8)


@given(st.lists(st.tuples(numbers, within), min_size=2, max_size=4), st.fractions(0, 4, max_denominator=4))
def test_a_known_decision_is_that_of_all_logits_within_the_radius(pairs, radius):
    """And margins hold all theirs."""
    found = Enclosed(tuple(midpoint for midpoint, _ in pairs), radius)
    logits = [midpoint + radius * offset for midpoint, offset in pairs]
    best = max(logits)
    if not isinstance(found.decision, NotKnown):
        assert found.decision == {place for place, logit in enumerate(logits) if logit == best}
    for place, logit in enumerate(logits):
        margin = found.margin(place)
        assert abs(logit - max(logits[:place] + logits[place + 1 :]) - margin.midpoint) <= margin.radius


@pytest.mark.parametrize(("lead", "is_known"), [(3, True), (2, False), (1, False), (0, False)])
def test_a_lead_must_exceed_twice_the_radius(lead, is_known):
    """At just that a tie is possible, and a tie cannot be known."""
    found = Enclosed((Fraction(lead), Fraction(0)), Fraction(1))
    assert isinstance(found.decision, NotKnown) is not is_known
    assert found.margin(0) == EnclosedNumber(Fraction(lead), Fraction(2))
    assert found.leader == 0


def test_a_tie_is_not_known_even_without_a_radius():
    """An enclosure has no equality."""
    assert isinstance(Enclosed((Fraction(1), Fraction(1)), Fraction(0)).decision, NotKnown)


def test_a_radius_below_zero_is_refused():
    """It would decide everything."""
    with pytest.raises(NumericError, match="a radius of -1; want 0 or more"):
        Enclosed((Fraction(1), Fraction(0)), Fraction(-1))


MISTAKES = {
    "equal": lambda unknown: frozenset({0}) == unknown,
    "different": lambda unknown: frozenset({0}) != unknown,
    "equal to itself": lambda unknown: unknown == NOT_KNOWN,
    "different from a number": lambda unknown: unknown != 1,
    "true": bool,
    "looked up": lambda unknown: {unknown},
    "in lists": lambda unknown: [unknown] == [frozenset({0})],
    "a member": lambda unknown: unknown in {frozenset({0}), frozenset({1})},
    "counted": len,
}


@pytest.mark.parametrize("name", MISTAKES)
def test_what_is_not_known_is_compared_with_nothing(name):
    """Nobody can write so by mistake and get an answer."""
    with pytest.raises(TypeError):
        MISTAKES[name](NOT_KNOWN)


def test_enclosed_logits_are_not_compared_either():
    """The same numbers may stand for other logits."""
    one, other = (Enclosed((Fraction(1), Fraction(0)), Fraction(2)) for _ in range(2))
    with pytest.raises(TypeError, match="not equal and not different"):
        assert one == other
    with pytest.raises(TypeError, match="not equal and not different"):
        assert one != other
    with pytest.raises(TypeError, match="cannot be looked up"):
        assert {one}
