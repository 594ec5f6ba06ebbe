"""Decimals of a verdict's line are rounded the way that keeps it true."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof_check.decimals import shortened

SIGNIFICANT = 10**5


@given(st.fractions(), st.integers(-300, 300))
def test_a_number_lies_between_its_decimals_and_they_are_near(number, power):
    """No more below and no less above, off by a hundred thousandth at most; short ones are the number."""
    value = number * Fraction(10) ** power
    low, high = (Fraction(shortened(value, is_raised=raised)) for raised in (False, True))
    assert low <= value <= high
    assert high - low <= abs(value) / SIGNIFICANT


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [
        ("0", "0", "0"),
        ("1/8", "0.125", "0.125"),
        ("-3", "-3", "-3"),
        ("1/3", "0.3333333", "0.3333334"),
        ("-1/3", "-0.3333334", "-0.3333333"),
        ("4096", "4096", "4096"),
        ("123456789", "123456780", "123456790"),
    ],
)
def test_decimals_are_spelled_plainly(value, low, high):
    """Without needless zeros."""
    found = shortened(Fraction(value), is_raised=False), shortened(Fraction(value), is_raised=True)
    assert tuple(map(Fraction, found)) == tuple(sorted(map(Fraction, found)))
    assert found == (low, high)


def test_of_a_very_long_number_only_its_size_is_shown():
    """So that a line is short, and costs nothing."""
    assert shortened(Fraction(-1, 1 << 5000), is_raised=True) == "about -2^-5000"
    assert len(shortened(Fraction(3, 1 << 4000), is_raised=True)) < 20
