"""Exact numbers as floats, for readers."""

from fractions import Fraction
from math import inf, nextafter

from hypothesis import given
from hypothesis import strategies as st

from circuitproof.arithmetic.rounding import nearest_double


@given(st.fractions())
def test_no_neighbouring_double_is_nearer(value):
    """A correct rounding, not a quotient of two rounded numbers."""
    near = nearest_double(value)
    for other in (nextafter(near, inf), nextafter(near, -inf)):
        assert abs(Fraction(near) - value) <= abs(Fraction(other) - value)


def test_a_quotient_of_huge_integers_is_a_number_and_a_huge_one_is_infinite():
    """Numerator and denominator of a deep circuit lie far outside the range of doubles."""
    assert nearest_double(Fraction(10**900 + 1, 2 * 10**900)) == 0.5
    assert (nearest_double(Fraction(10**400)), nearest_double(Fraction(-(10**400)))) == (inf, -inf)
