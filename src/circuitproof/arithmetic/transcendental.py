"""Functions that have no rational values, rounded down: the floor of 2^p times the exact value, always.

Arguments and values are integers that count units of 2^-p, in arrays of Python integers. Each function is
computed with more bits than are asked for and a bound on its error; where that leaves two integers possible,
again with twice as many.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import factorial, isqrt
from typing import TypeAlias

import numpy as np

from circuitproof.arithmetic.digits import Integers, column
from circuitproof.errors import NumericError
from circuitproof.models.operators import GeluForm

Approximation: TypeAlias = tuple[Integers, Integers | int]
"""Values in units of 2^-w, and by how many of those units they may be wrong."""

_GUARD = 48
"""How many more bits are computed with at first."""
_MOST_GUARD = 1 << 14
_STEP = 8
"""An argument of exp is divided at 2^-8 and 2^-16: the exponentials of what is above are in two tables."""
_SLOPE = Fraction("0.044715")
_FACTOR = 2 * Fraction("0.7978845608028654")
"""The constants of GELU's form `tanh`: the second is twice √(2/π) as it is written in programs."""


def floor_exp(arguments: Integers, precision: int) -> Integers:
    """Return ⌊2^p·exp(t)⌋ for arguments t of at most zero."""
    is_tiny = arguments < -((precision + 1) << precision)  # exp(-n) is below 2^-n

    def approximate(chosen: Integers, guard: int) -> Approximation:
        return _exp(chosen << guard, precision + guard)

    known: Integers = np.full(arguments.shape, 1 << precision, dtype=object)
    known[is_tiny] = 0
    return _floors(known, arguments, ~is_tiny & (arguments != 0), approximate)


def floor_gelu(arguments: Integers, form: GeluForm, precision: int) -> Integers:
    """Return ⌊2^p·gelu(x)⌋. Far from zero GELU is just below x, or just below zero."""
    is_far = _far_tanh(arguments, precision) if form is GeluForm.TANH else _far_exact(arguments, precision)
    approximate = _gelu_tanh if form is GeluForm.TANH else _gelu_exact
    known = np.where(arguments > 0, arguments - 1, -1)
    known[arguments == 0] = 0
    chosen = ~is_far & (arguments != 0)
    return _floors(known, arguments, chosen, lambda some, guard: approximate(some, precision, guard))


def floor_ln(arguments: Integers, precision: int) -> Integers:
    """Return ⌊2^p·ln(x)⌋ for positive arguments x. Only ln 1 is an integer of units: no other is rational."""
    if np.any(arguments <= 0):
        raise NumericError("ln of what is not positive is wanted")
    known: Integers = np.full(arguments.shape, 0, dtype=object)
    return _floors(
        known, arguments, arguments != 1 << precision, lambda some, guard: _ln(some, precision, guard)
    )


def _floors(
    known: Integers,
    arguments: Integers,
    chosen: Integers,
    approximate: Callable[[Integers, int], Approximation],
) -> Integers:
    """Return values rounded down: those that are known, and the chosen ones by approximation."""
    found, guard = known.copy(), _GUARD
    places = np.flatnonzero(chosen)
    while places.size:
        if guard > _MOST_GUARD:
            raise NumericError("a value is so near to a multiple of the unit that it was not told apart")
        values, error = approximate(arguments.ravel()[places], guard)
        below, above = (values - error) >> guard, (values + error) >> guard
        found.ravel()[places] = below
        places, guard = places[np.asarray(below != above, dtype=bool)], 2 * guard
    return found


def _exp(arguments: Integers, bits: int) -> Approximation:
    """Return exp of arguments from about −bits to 0, in units of 2^-bits.

    exp(t) = 2^-k · exp(r) with r from 0 to log 2, which is divided into i/2^8 + j/2^16 + s. As log 2 is less
    than 3/2 units too small, r is at most 3k/2 units too small, and exp(r), below 2, at most 3k. The sum of
    the powers of s is at most 3 units off, each table less than 2 and each product less than 1; multiplied by
    numbers of at most 1.01 and 2.01 that makes less than 20.
    """
    halvings = -(arguments // _log_two(bits))
    rest = arguments + halvings * _log_two(bits)
    coarse, fine = _exponentials(bits, _STEP), _exponentials(bits, 2 * _STEP)
    first = rest >> (bits - _STEP)
    second = (rest >> (bits - 2 * _STEP)) & ((1 << _STEP) - 1)
    small = rest & ((1 << (bits - 2 * _STEP)) - 1)
    value = _powers(small, bits) * _looked_up(fine, second) >> bits
    value = value * _looked_up(coarse, first) >> bits
    return value >> halvings, 3 * halvings + 20


def _ln(arguments: Integers, precision: int, guard: int) -> Approximation:
    """Return ln x = k·ln 2 + 2·Σ z^(2j+1)/(2j+1), with z = (x − 2^k)/(x + 2^k) from 0 to 1/3.

    Everything is rounded down. z is less than 1 unit too small, z² less than 2, and each power, which is at
    most a ninth of the one before, less than 2; divided, a term loses less than 3. What follows the last term
    that is not 0 is less than 4. As log 2 is less than 3/2 units too small, k·log 2 is less than 2·|k| off.
    """
    bits = precision + guard
    lengths = _mapped(arguments, lambda number: number.bit_length() - 1)
    below = _mapped(lengths, lambda length: 1 << length)
    power = (arguments - below << bits) // (arguments + below)
    square, total, number = power * power >> bits, power, 1
    while power.any():
        number += 2
        power = power * square >> bits
        total = total + power // number
    doublings = lengths - precision
    return 2 * total + doublings * _log_two(bits), 3 * number + 16 + 2 * _size(doublings)


def _powers(small: Integers, bits: int) -> Integers:
    """Return the exponential series of arguments below 2^-16, with the last term below a unit."""
    count = 1
    while 2 * _STEP * count + factorial(count).bit_length() <= bits:
        count += 1
    total: Integers = np.full(small.shape, 1 << bits, dtype=object)
    for number in range(count - 1, -1, -1):
        total = (small * total >> bits) + (factorial(count) // factorial(number) << bits)
    return total // factorial(count)


def _looked_up(table: tuple[int, ...], places: Integers) -> Integers:
    return _mapped(places, lambda place: table[place])


@cache
def _exponentials(bits: int, step: int) -> tuple[int, ...]:
    """Return exp(j/2^step) for j below 2^8, rounded down but for the last units."""
    return tuple(_series(j, step, bits + 16) >> 16 for j in range(1 << _STEP))


def _series(j: int, step: int, bits: int) -> int:
    total = term = 1 << bits
    number = 1
    while term:
        term = (term * j >> step) // number
        total, number = total + term, number + 1
    return total


@cache
def _log_two(bits: int) -> int:
    """Return log 2 rounded down: Σ 1/(n·2ⁿ), with guard bits for its roundings."""
    guard = bits.bit_length() + 8
    return sum((1 << (bits + guard - n)) // n for n in range(1, bits + guard + 1)) >> guard


def _gelu_tanh(arguments: Integers, precision: int, guard: int) -> Approximation:
    """Return x/(1 + exp(−v)) or x·exp(v)/(1 + exp(v)) with v = 2c(x + a·x³), so that no exp is large."""
    bits = precision + guard
    x, size = arguments << guard, (_size(arguments) >> precision) + 1
    cube = (x * x >> bits) * x >> bits
    bent = x + cube * _SLOPE.numerator // _SLOPE.denominator
    twice = bent * _FACTOR.numerator // _FACTOR.denominator
    decay, error = _exp(-_size(twice), bits)
    error = error + size + 6  # x², x³ and v are off by less than 1, |x| + 1 and 0.1·|x| + 4
    one = 1 << bits
    value = np.where(arguments > 0, (x << bits) // (one + decay), x * decay // (one + decay))
    return value, size * error + 2


def _far_tanh(arguments: Integers, precision: int) -> Integers:
    """Say where |x|·exp(-v) is below a unit: v is at least 3/2·|x| + |x|³/15, and exp(-n) below 2^-n."""
    whole = _size(arguments) >> precision
    least = 45 * whole + 2 * whole * whole * whole
    return np.asarray(least > 30 * (precision + _lengths(whole)), dtype=bool)


def _gelu_exact(arguments: Integers, precision: int, guard: int) -> Approximation:
    """Return x·(1/2 ± S) with S = exp(−x²/2)/√(2π) · Σ y^(2n+1)/(1·3·5···(2n+1)), y = |x|.

    Grouped by the integers that y is below: the larger y, the more bits and terms.
    """
    bits = precision + guard
    sizes = (_size(arguments) >> precision) + 1
    values = np.empty(arguments.shape, dtype=object)
    errors = np.empty(arguments.shape, dtype=object)
    for size in sorted(set(sizes.tolist())):
        places = np.flatnonzero(np.asarray(sizes == size, dtype=bool))
        some = arguments[places] << guard
        share, error = _normal_share(_size(some), bits, size)
        half = 1 << (bits - 1)
        signed = np.where(some > 0, half + share, half - share)
        values[places], errors[places] = some * signed >> bits, size * error + 2
    return values, errors


def _normal_share(y: Integers, bits: int, size: int) -> tuple[Integers, int]:
    """Return the share of the normal distribution between 0 and y < size, and how many units it is off.

    The density is computed with so many more bits, three for each four of size², that its error, which the
    series multiplies by at most exp(y²/2)·√(π/2) ≤ 2^(3/4·size² + 1), stays below a unit; each of fewer than
    `terms` terms loses less than a unit, which likewise grows with the rest of the series.
    """
    extra = 3 * size * size // 4 + 2 * bits.bit_length() + 2 * size.bit_length() + 16
    wide = bits + extra
    y = y << extra
    square = y * y >> wide
    density, _ = _exp(-(square >> 1), wide)
    term = (density * _inverse_root_of_two_pi(wide) >> wide) * y >> wide
    total, number = term, 1
    while term.any():
        number += 2
        term = (term * square >> wide) // number
        total = total + term
    return total >> extra, 2


@cache
def _inverse_root_of_two_pi(bits: int) -> int:
    """Return 1/√(2π) = √(1/(2π)), rounded down but for the last units."""
    wide = 2 * bits + 16
    return isqrt((1 << (wide + wide)) // (2 * _pi(wide)) >> (wide - 2 * bits))


def _pi(bits: int) -> int:
    """Return π = 16·arctan(1/5) − 4·arctan(1/239), off by less than a unit."""
    wide = bits + 16
    return (16 * _inverse_arctan(5, wide) - 4 * _inverse_arctan(239, wide)) >> 16


def _inverse_arctan(number: int, bits: int) -> int:
    power, total, place = (1 << bits) // number, 0, 0
    while power:
        total += (power // (2 * place + 1)) * (-1 if place % 2 else 1)
        power, place = power // (number * number), place + 1
    return total


def _far_exact(arguments: Integers, precision: int) -> Integers:
    """Say where |x|·Φ(−|x|) is below a unit: it is at most |x|·exp(−x²/2)/2, and 7/10 < log₂(e)/2."""
    whole = _size(arguments) >> precision
    return np.asarray(7 * whole * whole > 10 * (precision + _lengths(whole)), dtype=bool)


def _size(numbers: Integers) -> Integers:
    return np.where(numbers < 0, -numbers, numbers)


def _lengths(whole: Integers) -> Integers:
    """Return for each number, plus one, how many binary digits it has."""
    return _mapped(whole, lambda number: (number + 1).bit_length())


def _mapped(numbers: Integers, function: Callable[[int], int]) -> Integers:
    return column(map(function, numbers.ravel().tolist())).reshape(numbers.shape)
