"""Rationals as decimals of a few digits, rounded the way that is asked for."""

from fractions import Fraction
from math import ceil, floor

from .work import spend, weight

_DIGITS = 6
_MOST_PLACES = 12
_SHOWN_DIGITS = 12
_MOST_BITS = 1 << 12
"""Of longer numbers only the power of two that they are about is shown."""


def shortened(value: Fraction, *, is_raised: bool) -> str:
    """Return a decimal that is no less than a number, if it is raised, and otherwise no more.

    Of a very long number stands about which power of two it is.
    """
    above, below = value.numerator.bit_length(), value.denominator.bit_length()
    if max(above, below) > _MOST_BITS:
        return f"about {'-' * (value < 0)}2^{above - below}"
    places = _DIGITS - (above - below) * 30103 // 100_000  # 30103/100000 is the logarithm of 2
    scaled = value * Fraction(10) ** places
    return _spelled(ceil(scaled) if is_raised else floor(scaled), places)


def short(count: int) -> str:
    """Return a number of prompts, of which a long one has four digits."""
    spend(weight(count.bit_length()))
    digits = str(count)
    return digits if len(digits) <= _SHOWN_DIGITS else f"{digits[0]}.{digits[1:4]}e{len(digits) - 1}"


def _spelled(number: int, places: int) -> str:
    """Return a number of which so many digits stand behind the point."""
    sign, digits = "-" * (number < 0), str(abs(number))
    if abs(places) > _MOST_PLACES:
        return f"{sign}{digits}e{-places}"
    if places <= 0:
        return f"{sign}{digits}{'0' * -places}"
    padded = digits.rjust(places + 1, "0")
    return f"{sign}{padded[:-places]}.{padded[-places:]}".rstrip("0").rstrip(".")
