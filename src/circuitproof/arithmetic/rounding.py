"""From exact numbers back to floats, for readers: no proof depends on it."""

from fractions import Fraction
from math import inf


def nearest_double(value: Fraction) -> float:
    """Return the double nearest to a number; infinite where it lies outside their range.

    >>> nearest_double(Fraction(1, 3)), nearest_double(Fraction(-(10**400)))
    (0.3333333333333333, -inf)
    """
    try:
        return value.numerator / value.denominator  # Python rounds the quotient of integers correctly
    except OverflowError:
        return inf if value > 0 else -inf
