"""Rows of real numbers that are known up to a distance: what softmax, GELU and LayerNorm are computed in.

docs/certificate.md says what each integer is and proves each radius ("Enclosed numbers"). Everything here is
a function of the weights and of the precision, so that whoever follows that page gets the same integers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from math import isqrt, lcm
from operator import is_not
from typing import NamedTuple, TypeAlias, assert_never

import numpy as np

from circuitproof.arithmetic import limbs
from circuitproof.arithmetic.contexts import pair_products, weighed
from circuitproof.arithmetic.grid import Grid
from circuitproof.arithmetic.limb_functions import floor_exp, floor_gelu
from circuitproof.arithmetic.limbs import Limbs, column, limbs_of
from circuitproof.arithmetic.projection import project
from circuitproof.arithmetic.protocol import Contexts, RationalRow
from circuitproof.errors import NotExactError, NumericError
from circuitproof.models.operators import (
    Activation,
    Attention,
    BandNorm,
    Gelu,
    GeluForm,
    LayerNorm,
    LeakyRelu,
    NoNorm,
    Norm,
    Relu,
)

_NORM_BITS = 16
"""Bounds on norms of weights are multiples of 2^-16."""


@dataclass(frozen=True, slots=True, eq=False)
class Balls:
    """A batch of rows: the numbers are within a Euclidean distance of the midpoints, all in units of 2^-p."""

    numbers: Limbs
    """The midpoints."""
    radii: tuple[int, ...]

    @property
    def width(self) -> int:
        return self.numbers.shape[1]


class ScoreBall(NamedTuple):
    """Scores of a query, each up to a distance, or weights, up to a sum of distances; in units."""

    midpoints: tuple[int, ...]
    radius: int


ScoreBalls: TypeAlias = tuple[ScoreBall, ...]


@dataclass(frozen=True, slots=True)
class Enclose:
    """The arithmetic of such rows, at a precision of p bits. Weights are FP32: their denominators are 1."""

    precision: int
    _normed: list[tuple[tuple[Balls, Grid, Grid], Balls]] = field(
        default_factory=list[tuple[tuple[Balls, Grid, Grid], Balls]], init=False, repr=False, compare=False
    )
    """What went through a norm last, and what came out: the heads of a layer ask for the same."""

    def constant(self, rows: Grid) -> Balls:
        shift = rows.exponent + self.precision
        if any(denominator != 1 for denominator in rows.denominators):
            return self._rational(rows, shift)
        numbers = limbs_of(rows.numbers)
        units, rounding = limbs.shift(numbers, shift), root_above(rows.shape[1])
        missing = (
            limbs.subtract(numbers, limbs.shift(units, -shift)).parts if shift < 0 else numbers.parts[:0]
        )
        is_rounded = np.any(missing, axis=(0, 2))
        return Balls(units, tuple(rounding if one else 0 for one in np.atleast_1d(is_rounded)))

    @staticmethod
    def _rational(rows: Grid, shift: int) -> Balls:
        numbers, rounding = rows.numbers.astype(object) << max(shift, 0), root_above(rows.shape[1])
        below = column(denominator << max(-shift, 0) for denominator in rows.denominators)[:, None]
        units = numbers // below
        is_rounded = np.atleast_1d(np.any(units * below != numbers, axis=1))
        return Balls(limbs_of(units), tuple(rounding if one else 0 for one in is_rounded))

    def take(self, values: Balls, rows: Sequence[int]) -> Balls:
        return Balls(values.numbers[list(rows)], tuple([values.radii[row] for row in rows]))

    def add(self, left: Balls, right: Balls) -> Balls:
        """Return the sum, row by row; a single row is added to every row."""
        count = max(len(left.radii), len(right.radii))
        one, other = (side.radii * (count if len(side.radii) == 1 else 1) for side in (left, right))
        radii = tuple([a + b for a, b in zip(one, other, strict=True)])
        return Balls(limbs.add(left.numbers, right.numbers), radii)

    def affine(self, values: Balls, weight: Grid, bias: Grid | None) -> Balls:
        terms = [(limbs.product(values.numbers, weight.transposed_factor()), weight.exponent)]
        if bias is not None:
            terms.append((limbs_of(bias.numbers), bias.exponent + self.precision))
        norm, rounding = _norm(weight), root_above(weight.shape[0])
        radii = tuple([_up(norm * radius, 1 << _NORM_BITS) + rounding for radius in values.radii])
        return Balls(_floored(terms), radii)

    def rotate(self, values: Balls, cosines: Grid, sines: Grid) -> Balls:
        half = cosines.shape[1]
        first, second = values.numbers[:, :half], values.numbers[:, half : 2 * half]
        cos, sin = (limbs_of(grid.numbers) for grid in (cosines, sines))
        minus = limbs.times(sin, -1)
        turned = [
            _floored(
                [
                    (limbs.multiply(first, cos), cosines.exponent),
                    (limbs.multiply(second, minus), sines.exponent),
                ]
            ),
            _floored(
                [
                    (limbs.multiply(second, cos), cosines.exponent),
                    (limbs.multiply(first, sin), sines.exponent),
                ]
            ),
        ]
        radii = tuple(
            _up(_stretch(one, other) * radius, 1 << _NORM_BITS) + root_above(2 * half)
            for one, other, radius in zip(cosines.fractions(), sines.fractions(), values.radii, strict=True)
        )
        return Balls(limbs.joined([*turned, values.numbers[:, 2 * half :]], axis=1), radii)

    def mix(self, rows: Sequence[RationalRow], values: Balls) -> Balls:
        width, numbers = values.width, values.numbers.integers()
        mixed = np.zeros((len(rows), width), dtype=object)
        for place, row in enumerate(rows):
            common = lcm(*(weight.denominator for _, weight in row))
            for source, weight in row:
                mixed[place] += numbers[source] * (common * weight).numerator
            mixed[place] //= common
        return Balls(limbs_of(mixed), tuple(self._mixed_radius(row, values.radii, width) for row in rows))

    @staticmethod
    def _mixed_radius(row: RationalRow, radii: Sequence[int], width: int) -> int:
        if not row:
            return 0
        total = sum((abs(weight) * radii[source] for source, weight in row), Fraction(0))
        return _up(total.numerator, total.denominator) + root_above(width)

    def scores(self, queries: Balls, keys: Balls, contexts: Contexts, scale: Fraction) -> ScoreBalls:
        lengths = [_lengths(one.numbers) for one in (queries, keys)]
        below = scale.denominator << self.precision
        products = pair_products(queries.numbers, keys.numbers, contexts)
        found: list[ScoreBall] = []
        for context in contexts:
            asked = queries.radii[context.query]
            radius = max(
                lengths[0][context.query] * keys.radii[key]
                + lengths[1][key] * asked
                + asked * keys.radii[key]
                for key in context.keys
            )
            row = tuple([next(products) * scale.numerator // below for _ in context.keys])
            found.append(ScoreBall(row, _up(radius * scale.numerator, below) + 1))
        return tuple(found)

    def attention(self, scores: ScoreBalls, attention: Attention) -> ScoreBalls:
        match attention:
            case Attention.SOFTMAX:
                return self._softmax(scores)
            case Attention.SPARSEMAX:
                return tuple(self._sparsemax(row) for row in scores)
            case _:
                assert_never(attention)

    def _softmax(self, scores: ScoreBalls) -> ScoreBalls:
        below = column(score - max(row.midpoints) for row in scores for score in row.midpoints)
        powers = iter(floor_exp(limbs_of(below), self.precision).integers().tolist())
        found: list[ScoreBall] = []
        for row in scores:
            own = [next(powers) for _ in row.midpoints]
            total = sum(own)
            weights = tuple((power << self.precision) // total for power in own)
            found.append(ScoreBall(weights, row.radius + 3 * len(own)))
        return tuple(found)

    def _sparsemax(self, scores: ScoreBall) -> ScoreBall:
        count, unit = len(scores.midpoints), 1 << self.precision
        projection = project(scores.midpoints, unit)
        weights = tuple(weight // projection.divisor for weight in projection.weights)
        return ScoreBall(weights, count * scores.radius + count)

    def weigh(self, weights: ScoreBalls, contexts: Contexts, values: Balls) -> Balls:
        lengths, radii, rounding = _lengths(values.numbers), list[int](), root_above(values.width)
        for row, context in zip(weights, contexts, strict=True):
            spread = _up(row.radius * max(lengths[key] for key in context.values), 1 << self.precision)
            radii.append(spread + max(values.radii[key] for key in context.values) + rounding)
        chosen = [context.values for context in contexts]
        total = weighed([row.midpoints for row in weights], chosen, values.numbers)
        return Balls(limbs.shift(total, -self.precision), tuple(radii))

    def activate(self, values: Balls, activation: Activation) -> Balls:
        numbers, rounding = values.numbers, root_above(values.width)
        match activation:
            case Relu():
                return Balls(Limbs(np.where(numbers.is_negative, 0, numbers.parts)), values.radii)
            case LeakyRelu(slope):
                scaled = limbs.divide(
                    limbs.multiply(numbers, limbs_of(np.array([[slope.numerator]]))), slope.denominator
                )
                bent = limbs.where(numbers.is_negative, scaled, numbers)
                return Balls(bent, tuple(radius + rounding for radius in values.radii))
            case Gelu(form):
                slope = Fraction(2) if form is GeluForm.TANH else Fraction(5, 4)
                radii = (_up(radius * slope.numerator, slope.denominator) for radius in values.radii)
                bent = floor_gelu(numbers, form, self.precision)
                return Balls(bent, tuple(radius + rounding for radius in radii))
            case _:
                assert_never(activation)

    def normalise(self, values: Balls, norm: Norm, gain: tuple[Grid, Grid]) -> Balls:
        match norm:
            case NoNorm():
                return values
            case LayerNorm(epsilon):
                asked = (values, gain[0], gain[1])
                if not self._normed or any(map(is_not, self._normed[0][0], asked)):
                    self._normed[:] = [(asked, self._layer_norm(values, epsilon, gain))]
                return self._normed[0][1]
            case BandNorm():
                raise NotExactError("BandNorm jumps, and is not enclosed; want exact operators beside it")
            case _:
                assert_never(norm)

    def _layer_norm(self, values: Balls, epsilon: Fraction, gain: tuple[Grid, Grid]) -> Balls:
        width, (scale, shift) = values.width, gain
        total = limbs.carried(values.numbers.parts.sum(axis=2, keepdims=True))
        centred = limbs.subtract(limbs.times(values.numbers, width), total)
        squares = limbs.row_products(centred, centred).integers().tolist()
        smallest = isqrt((epsilon.numerator << 2 * self.precision) // epsilon.denominator)
        deviations = [self._deviation(square, width, epsilon) for square in squares]
        divisors = [deviation * width for deviation in deviations]
        terms = [
            (
                limbs.multiply(limbs.quotients(centred, self.precision, divisors), limbs_of(scale.numbers)),
                scale.exponent,
            ),
            (limbs_of(shift.numbers), shift.exponent + self.precision),
        ]
        largest = max(abs(entry) for entry in scale.fractions()[0])
        radii = tuple(
            self._normed_radius(radius, deviation, smallest, width)
            for radius, deviation in zip(values.radii, deviations, strict=True)
        )
        stretched = (_up(largest.numerator * radius, largest.denominator) for radius in radii)
        return Balls(_floored(terms), tuple(radius + root_above(width) for radius in stretched))

    def _deviation(self, square: int, width: int, epsilon: Fraction) -> int:
        """Return the standard deviation of a row, in units, from the sum of squares of what is centred."""
        total = Fraction(square, width**3) + epsilon * (1 << 2 * self.precision)
        found = isqrt(total.numerator // total.denominator)
        _refuse_zero(found)
        return found

    def _normed_radius(self, radius: int, deviation: int, smallest: int, width: int) -> int:
        least = max(deviation - _up(radius, isqrt(width)), smallest)
        _refuse_zero(least)
        rounding = root_above(width) * (_up(1 << self.precision, deviation) + 1)
        return _up(radius << self.precision, least) + rounding


def root_above(number: int) -> int:
    """Return the least integer whose square is at least a number.

    >>> [root_above(number) for number in (0, 1, 2, 4, 5, 768)]
    [0, 1, 2, 2, 3, 28]
    """
    root = isqrt(number)
    return root if root * root == number else root + 1


def _norm(weight: Grid) -> int:
    """Return a bound on the norm of a weight: no less than its Frobenius norm, in units of 2^-16."""
    shift = 2 * weight.exponent + 2 * _NORM_BITS
    total = weight.sum_of_squares()
    return root_above(total << shift if shift >= 0 else _up(total, 1 << -shift))


def _refuse_zero(deviation: int) -> None:
    if not deviation:
        raise NumericError("a standard deviation is below a unit of the precision; want more bits")


def _stretch(cosines: Sequence[Fraction], sines: Sequence[Fraction]) -> int:
    largest = max(1, *(cos * cos + sin * sin for cos, sin in zip(cosines, sines, strict=True)))
    scaled = largest * (1 << 2 * _NORM_BITS)
    return root_above(_up(scaled.numerator, scaled.denominator))


def _up(over: int, under: int) -> int:
    return -(-over // under)


def _floored(terms: Sequence[tuple[Limbs, int]]) -> Limbs:
    """Return a sum of integers that each count a power of two, rounded down."""
    least = min(0, *(exponent for _, exponent in terms))
    shifted = [limbs.shift(numbers, exponent - least) for numbers, exponent in terms]
    return limbs.shift(reduce(limbs.add, shifted), least)


def _lengths(rows: Limbs) -> list[int]:
    """Return the Euclidean lengths of rows, rounded up."""
    return [root_above(total) for total in limbs.row_products(rows, rows).integers().tolist()]
