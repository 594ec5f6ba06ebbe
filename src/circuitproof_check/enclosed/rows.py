"""Rows of enclosed numbers: integers in units of 2^-p, and how far the row may be from them.

Each function is a row of the table in `docs/certificate.md`, where the proof of its radius stands.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import ClassVar

from circuitproof_check.exact import Vector, common_multiple, longest, projected
from circuitproof_check.reading import require
from circuitproof_check.work import NUMBER, STEP

from . import functions
from .prices import spend, spend_numbers


@dataclass(frozen=True, slots=True)
class RowBall:
    """The Euclidean distance of the row, in units, from the midpoints is at most the radius."""

    midpoints: tuple[int, ...]
    radius: int
    __hash__: ClassVar[None] = None  # pyright: ignore[reportIncompatibleMethodOverride]  # numbers are no keys

    @property
    def bits(self) -> int:
        """Return how many bits its longest number has."""
        return max(longest(self.midpoints), self.radius.bit_length())


@dataclass(frozen=True, slots=True)
class CentredRow:
    """What a layer norm makes of a row before it divides."""

    numbers: tuple[int, ...]
    """The width times the midpoints less their mean."""
    deviation: int
    """That of the midpoints, rounded down."""
    off: int
    """That of the row is no further from that of the midpoints, which is not rounded."""
    least: int
    """That of any row is no less."""
    __hash__: ClassVar[None] = None  # pyright: ignore[reportIncompatibleMethodOverride]  # numbers are no keys


@dataclass(frozen=True, slots=True)
class KeyScores:
    """The scores of keys, each no further than `off` from what it is."""

    midpoints: tuple[int, ...]
    off: int


@dataclass(frozen=True, slots=True)
class KeyShares:
    """The weights of keys; the sum of their distances from what they are is at most `off`."""

    midpoints: tuple[int, ...]
    off: int


def root_above(number: int) -> int:
    """Return the least integer whose square is at least a number."""
    return isqrt(number - 1) + 1 if number > 0 else 0


def ceiling(above: int, below: int) -> int:
    return -(-above // below)


def nothing(width: int) -> RowBall:
    spend(width)
    return RowBall((0,) * width, 0)


def of_tensor(row: Vector, precision: int) -> RowBall:
    spend_numbers(len(row.numbers), row.bits + precision)
    numbers = [number << precision for number in row.numbers]
    is_exact = not any(number % row.denominator for number in numbers)
    radius = 0 if is_exact else root_above(len(numbers))
    return RowBall(tuple(number // row.denominator for number in numbers), radius)


def total(rows: Sequence[RowBall], width: int) -> RowBall:
    """Return the sum of rows; of none, zeros."""
    if len(rows) < 2:  # noqa: PLR2004  # nothing to add
        return rows[0] if rows else nothing(width)
    spend(len(rows) * NUMBER)
    spend_numbers(width, rows[0].bits * len(rows))
    columns = zip(*(row.midpoints for row in rows), strict=True)
    return RowBall(tuple(map(sum, columns)), sum(row.radius for row in rows))


def mix(weights: Sequence[Fraction], rows: Sequence[RowBall], width: int) -> RowBall:
    """Return the weighted sum of rows; of none, zeros."""
    if not rows:
        return nothing(width)
    spend(NUMBER * len(rows))
    below = common_multiple([weight.denominator for weight in weights])
    spend_numbers((1 + len(rows)) * width, max(row.bits for row in rows) + below.bit_length())
    factors = [weight.numerator * (below // weight.denominator) for weight in weights]
    numbers = [0] * width
    for factor, row in zip(factors, rows, strict=True):
        numbers = [number + factor * one for number, one in zip(numbers, row.midpoints, strict=True)]
    radius = sum(abs(factor) * row.radius for factor, row in zip(factors, rows, strict=True))
    return RowBall(tuple(number // below for number in numbers), ceiling(radius, below) + root_above(width))


def rotated(row: RowBall, cosines: Vector, sines: Vector) -> RowBall:
    """Return a query or a key whose coordinates m and m + h are turned as a pair."""
    half = len(cosines.numbers)
    below = common_multiple([cosines.denominator, sines.denominator])
    bits = row.bits + max(cosines.bits, sines.bits) + below.bit_length()
    spend_numbers(4 * len(row.midpoints), bits * (1 + row.bits // 1800))
    turns = [number * (below // cosines.denominator) for number in cosines.numbers]
    lifts = [number * (below // sines.denominator) for number in sines.numbers]
    pairs = list(zip(row.midpoints[:half], row.midpoints[half : 2 * half], turns, lifts, strict=True))
    first = [(a * c - b * s) // below for a, b, c, s in pairs]
    second = [(b * c + a * s) // below for a, b, c, s in pairs]
    largest = max(below * below, *(c * c + s * s for c, s in zip(turns, lifts, strict=True)))
    stretch = root_above(ceiling(largest << 32, below * below))
    radius = ceiling(stretch * row.radius, 1 << 16) + root_above(2 * half)
    return RowBall((*first, *second, *row.midpoints[2 * half :]), radius)


def scores(query: RowBall, keys: Sequence[RowBall], scale: Fraction, precision: int) -> KeyScores:
    above, below = scale.numerator, scale.denominator << precision
    spend(NUMBER + STEP * len(keys))
    bits = query.bits + max(key.bits for key in keys)
    spend_numbers(3 * len(keys) * len(query.midpoints), bits * (1 + bits // 3600) + above.bit_length())
    length = root_above(sum(one * one for one in query.midpoints))
    found: list[int] = []
    off = 0
    for key in keys:
        product = sum(a * b for a, b in zip(query.midpoints, key.midpoints, strict=True))
        found.append(above * product // below)
        far = length * key.radius + (norm(key) + key.radius) * query.radius
        off = max(off, ceiling(above * far, below) + 1)
    return KeyScores(tuple(found), off)


def norm(row: RowBall) -> int:
    """Return the Euclidean length of the midpoints, rounded up."""
    spend_numbers(len(row.midpoints), row.bits * (1 + row.bits // 1800))
    return root_above(sum(one * one for one in row.midpoints))


def softmax(found: KeyScores, precision: int) -> KeyShares:
    powers, count = exponentials(found.midpoints, precision), len(found.midpoints)
    spend(NUMBER * count)
    mass = sum(powers)
    return KeyShares(tuple((one << precision) // mass for one in powers), found.off + 3 * count)


def exponentials(scores: Sequence[int], precision: int) -> list[int]:
    """Return exp of how far each score is behind the largest, rounded down."""
    spend(len(scores) * (functions.cost(precision) + NUMBER))
    largest = max(scores)
    return [functions.exp_floor(one - largest, precision) for one in scores]


def sparsemax(found: KeyScores, precision: int) -> KeyShares:
    count = len(found.midpoints)
    point = projected(Vector(found.midpoints, 1 << precision), Fraction(1))
    spend_numbers(count, point.bits + precision)
    weights = tuple((number << precision) // point.denominator for number in point.numbers)
    return KeyShares(weights, count * found.off + count)


def weighted(shares: KeyShares, values: Sequence[RowBall], precision: int, width: int) -> RowBall:
    spend(NUMBER * len(values))
    spend_numbers((1 + len(values)) * width, precision + max(value.bits for value in values))
    numbers = [0] * width
    for share, value in zip(shares.midpoints, values, strict=True):
        if share:
            numbers = [number + share * one for number, one in zip(numbers, value.midpoints, strict=True)]
    far = ceiling(shares.off * max(map(norm, values)), 1 << precision)
    radius = far + max(value.radius for value in values) + root_above(width)
    return RowBall(tuple(number >> precision for number in numbers), radius)


def activated(row: RowBall, activation: Fraction | str, precision: int) -> RowBall:
    """Return ReLU, leaky ReLU (by its slope) or a form of GELU of each coordinate."""
    width = len(row.midpoints)
    if isinstance(activation, Fraction):
        above, below = activation.numerator, activation.denominator
        spend_numbers(width, row.bits + below.bit_length() * (1 + row.bits // 1800))
        bent = tuple(one if one > 0 else one * above // below for one in row.midpoints)
        return RowBall(bent, row.radius + (root_above(width) if above else 0))
    is_tanh = activation == "gelu tanh"
    spend(width * functions.cost(precision) * (1 if is_tanh else 4))
    gelu: Callable[[int, int], int] = functions.gelu_tanh_floor if is_tanh else functions.gelu_exact_floor
    radius = 2 * row.radius if is_tanh else ceiling(5 * row.radius, 4)
    return RowBall(tuple(gelu(one, precision) for one in row.midpoints), radius + root_above(width))


def centred(row: RowBall, epsilon: Fraction, precision: int) -> CentredRow:
    """Return the midpoints less their mean, and how far they deviate from it."""
    width = len(row.midpoints)
    bits = max(row.bits, precision) + width.bit_length() + epsilon.denominator.bit_length()
    spend_numbers(3 * width, bits * (2 + bits // 900) + epsilon.numerator.bit_length())
    mass = sum(row.midpoints)
    numbers = tuple(width * number - mass for number in row.midpoints)
    lifted = epsilon.numerator << 2 * precision
    spread = sum(number * number for number in numbers) * epsilon.denominator + lifted * width**3
    deviation = isqrt(spread // (epsilon.denominator * width**3))
    least, off = isqrt(lifted // epsilon.denominator), ceiling(row.radius, isqrt(width))
    is_enough = deviation > 0 and max(deviation - off, least) > 0
    require("precision_is_enough_for_norms", is_enough, "certificate.precision", precision)
    return CentredRow(numbers, deviation, off, least)


def layer_normed(row: RowBall, epsilon: Fraction, scale: Vector, shift: Vector, precision: int) -> RowBall:
    width, one = len(row.midpoints), 1 << precision
    found = centred(row, epsilon, precision)
    bits = max(row.bits, precision) + width.bit_length()
    spend_numbers(3 * width, bits * (2 + bits // 900) + scale.bits + shift.bits)
    below, nearest = width * found.deviation, max(found.deviation - found.off, found.least)
    numbers = [(number << precision) // below for number in found.numbers]
    far = ceiling(row.radius << precision, nearest)
    far += root_above(width) * (ceiling(one, found.deviation) + 1)
    return _scaled(RowBall(tuple(numbers), far), scale, shift, precision)


def _scaled(row: RowBall, scale: Vector, shift: Vector, precision: int) -> RowBall:
    """Return a row times a scale plus a shift, coordinate by coordinate."""
    width = len(row.midpoints)
    below = common_multiple([scale.denominator, shift.denominator])
    spend_numbers(2 * width, row.bits + 2 * below.bit_length() + scale.bits + shift.bits + precision)
    stretch, move = below // scale.denominator, (below // shift.denominator) << precision
    entries = zip(row.midpoints, scale.numbers, shift.numbers, strict=True)
    numbers = tuple((one * stretch * factor + move * added) // below for one, factor, added in entries)
    largest = max(map(abs, scale.numbers))
    return RowBall(numbers, ceiling(largest * row.radius, scale.denominator) + root_above(width))
