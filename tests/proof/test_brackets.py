from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.errors import DeclarationError
from circuitproof.proof.brackets import ClaimedBracket, KnownRange, decimal_text
from circuitproof.proof.enclosed import NotKnown

numbers = st.fractions(min_value=-(10**12), max_value=10**12, max_denominator=10**40)


@given(numbers, st.fractions(min_value=0, max_value=10**6))
def test_a_stated_bracket_holds_what_is_known_and_little_more(low, width):
    """Ten digits of the larger end, rounded outward."""
    known = KnownRange(low, low + width)
    stated = known.outward()
    assert stated.holds(known) is True
    size = max(abs(known.low), abs(known.high))
    assert (stated.high - stated.low) - width <= max(2 * size / 10**9, Fraction(2, 10**20))


@given(numbers, numbers, numbers, numbers)
def test_a_bracket_is_met_or_missed_or_neither(low, high, one, other):
    """Met if all that is known is in it, missed if nothing is."""
    bracket = ClaimedBracket(min(low, high), max(low, high))
    known = KnownRange(min(one, other), max(one, other))
    ends_in = [bracket.low <= end <= bracket.high for end in (known.low, known.high)]
    held = bracket.holds(known)
    assert (held is True) == all(ends_in)
    is_apart = known.high < bracket.low or known.low > bracket.high
    assert (held is False) == is_apart
    assert isinstance(held, NotKnown) == (not all(ends_in) and not is_apart)


@given(numbers)
def test_short_decimals_are_written_as_such(value):
    """And whatever is written is the number itself."""
    assert Fraction(decimal_text(value)) == value
    assert Fraction(decimal_text(Fraction(value.numerator, 10**7))) == Fraction(value.numerator, 10**7)
    assert "/" not in decimal_text(Fraction(value.numerator, 10**7))


def test_a_bracket_has_an_end_and_holds_a_number():
    """Two refusals."""
    with pytest.raises(DeclarationError, match=r"^a bracket has neither a lower nor an upper end; give one$"):
        ClaimedBracket(None, None)
    with pytest.raises(DeclarationError, match=r"^a bracket from 1 to 1/3 holds no number; give a lower end"):
        ClaimedBracket(Fraction(1), Fraction(1, 3))


def test_words_and_formulas_name_the_ends_that_there_are():
    """As a reader says them."""
    brackets = [
        ClaimedBracket(Fraction(1, 4), None),
        ClaimedBracket(None, Fraction(-1, 4)),
        ClaimedBracket(Fraction(0), Fraction(1)),
    ]
    assert [one.words() for one in brackets] == ["at least 0.25", "at most -0.25", "from 0 to 1"]
    assert [one.formula("m") for one in brackets] == ["0.25 ≤ m", "m ≤ -0.25", "0 ≤ m ≤ 1"]
    assert [one.to_json() for one in brackets] == [["1/4", None], [None, "-1/4"], ["0", "1"]]
