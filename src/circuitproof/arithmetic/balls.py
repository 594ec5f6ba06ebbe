"""Rows of real numbers that are known up to a distance: what softmax, GELU and LayerNorm are computed in.

docs/certificate.md says what each integer is and proves each radius ("Enclosed numbers"). Everything here is
a function of the weights and of the precision, so that whoever follows that page gets the same integers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from math import isqrt, lcm
from typing import NamedTuple, TypeAlias, assert_never

import numpy as np

from circuitproof.arithmetic.digits import Integers, column, integer_product
from circuitproof.arithmetic.grid import Grid
from circuitproof.arithmetic.projection import project
from circuitproof.arithmetic.protocol import Contexts, RationalRow
from circuitproof.arithmetic.transcendental import floor_exp, floor_gelu
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
_SQUARES = 1 << 20
"""How many squares are added at once."""
_BLOCK = 1 << 16
"""How many products of queries with keys, or of weights with values, are formed at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Balls:
    """A batch of rows: the numbers are within a Euclidean distance of the midpoints, all in units of 2^-p."""

    midpoints: Integers
    radii: tuple[int, ...]


class ScoreBall(NamedTuple):
    """Scores of a query, each up to a distance, or weights, up to a sum of distances; in units."""

    midpoints: tuple[int, ...]
    radius: int


ScoreBalls: TypeAlias = tuple[ScoreBall, ...]


@dataclass(frozen=True, slots=True)
class Enclose:
    """The arithmetic of such rows, at a precision of p bits. Weights are FP32: their denominators are 1."""

    precision: int
    _norms: dict[int, tuple[Grid, int]] = field(
        default_factory=dict[int, tuple[Grid, int]], init=False, repr=False, compare=False
    )
    """The bound on the norm of each weight that was multiplied with, beside the weight itself."""

    def constant(self, rows: Grid) -> Balls:
        shift = rows.exponent + self.precision
        numbers = rows.numbers.astype(object) << max(shift, 0)
        below = column(denominator << max(-shift, 0) for denominator in rows.denominators)[:, None]
        units, rounding = numbers // below, root_above(rows.shape[1])
        is_rounded = np.atleast_1d(np.any(units * below != numbers, axis=1))
        return Balls(units, tuple(rounding if one else 0 for one in is_rounded))

    def take(self, values: Balls, rows: Sequence[int]) -> Balls:
        return Balls(values.midpoints[list(rows)], tuple(values.radii[row] for row in rows))

    def add(self, left: Balls, right: Balls) -> Balls:
        """Return the sum, row by row; a single row is added to every row."""
        count = max(len(left.radii), len(right.radii))
        one, other = (side.radii * (count if len(side.radii) == 1 else 1) for side in (left, right))
        radii = tuple(a + b for a, b in zip(one, other, strict=True))
        return Balls(left.midpoints + right.midpoints, radii)

    def affine(self, values: Balls, weight: Grid, bias: Grid | None) -> Balls:
        products = integer_product(values.midpoints, weight.numbers.T)
        terms = [(products, weight.exponent)]
        if bias is not None:
            terms.append((bias.numbers.astype(object), bias.exponent + self.precision))
        norm, rounding = self._norm(weight), root_above(weight.shape[0])
        radii = tuple(_up(norm * radius, 1 << _NORM_BITS) + rounding for radius in values.radii)
        return Balls(_floored(terms), radii)

    def rotate(self, values: Balls, cosines: Grid, sines: Grid) -> Balls:
        half = cosines.shape[1]
        first, second, rest = np.split(values.midpoints, [half, 2 * half], axis=1)
        cos, sin = (grid.numbers.astype(object) for grid in (cosines, sines))
        turned = [
            _floored([(first * cos, cosines.exponent), (-second * sin, sines.exponent)]),
            _floored([(second * cos, cosines.exponent), (first * sin, sines.exponent)]),
        ]
        radii = tuple(
            _up(_stretch(one, other) * radius, 1 << _NORM_BITS) + root_above(2 * half)
            for one, other, radius in zip(cosines.fractions(), sines.fractions(), values.radii, strict=True)
        )
        return Balls(np.concatenate([*turned, rest], axis=1), radii)

    def mix(self, rows: Sequence[RationalRow], values: Balls) -> Balls:
        width = values.midpoints.shape[1]
        mixed = np.zeros((len(rows), width), dtype=object)
        for place, row in enumerate(rows):
            common = lcm(*(weight.denominator for _, weight in row))
            for source, weight in row:
                mixed[place] += values.midpoints[source] * (common * weight).numerator
            mixed[place] //= common
        return Balls(mixed, tuple(self._mixed_radius(row, values.radii, width) for row in rows))

    @staticmethod
    def _mixed_radius(row: RationalRow, radii: Sequence[int], width: int) -> int:
        if not row:
            return 0
        total = sum((abs(weight) * radii[source] for source, weight in row), Fraction(0))
        return _up(total.numerator, total.denominator) + root_above(width)

    def scores(self, queries: Balls, keys: Balls, contexts: Contexts, scale: Fraction) -> ScoreBalls:
        lengths = [_lengths(one.midpoints) for one in (queries, keys)]
        below = scale.denominator << self.precision
        found: list[ScoreBall] = []
        for block in _blocks(contexts, queries.midpoints.shape[1]):
            asked = [context.query for context in block for _ in context.keys]
            chosen = [key for context in block for key in context.keys]
            products = (queries.midpoints[asked] * keys.midpoints[chosen]).sum(axis=1)
            units = iter((products * scale.numerator // below).tolist())
            for context in block:
                radius = max(
                    lengths[0][context.query] * keys.radii[key]
                    + lengths[1][key] * queries.radii[context.query]
                    + queries.radii[context.query] * keys.radii[key]
                    for key in context.keys
                )
                row = tuple(next(units) for _ in context.keys)
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
        powers = iter(floor_exp(below, self.precision).tolist())
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
        width = values.midpoints.shape[1]
        mixed = np.zeros((len(contexts), width), dtype=object)
        lengths, radii = _lengths(values.midpoints), list[int]()
        for place, (row, context) in enumerate(zip(weights, contexts, strict=True)):
            chosen = list(context.values)
            mixed[place] = np.array([row.midpoints], dtype=object) @ values.midpoints[chosen]
            spread = _up(row.radius * max(lengths[key] for key in chosen), 1 << self.precision)
            radii.append(spread + max(values.radii[key] for key in chosen) + root_above(width))
        return Balls(mixed >> self.precision, tuple(radii))

    def activate(self, values: Balls, activation: Activation) -> Balls:
        numbers, rounding = values.midpoints, root_above(values.midpoints.shape[1])
        match activation:
            case Relu():
                return Balls(np.where(numbers < 0, 0, numbers), values.radii)
            case LeakyRelu(slope):
                bent = np.where(numbers < 0, numbers * slope.numerator // slope.denominator, numbers)
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
                return self._layer_norm(values, epsilon, gain)
            case BandNorm():
                raise NotExactError("BandNorm jumps, and is not enclosed; want exact operators beside it")
            case _:
                assert_never(norm)

    def _layer_norm(self, values: Balls, epsilon: Fraction, gain: tuple[Grid, Grid]) -> Balls:
        width, (scale, shift) = values.midpoints.shape[1], gain
        centred = values.midpoints * width - values.midpoints.sum(axis=1, keepdims=True)
        squares = (centred * centred).sum(axis=1).tolist()
        smallest = isqrt((epsilon.numerator << 2 * self.precision) // epsilon.denominator)
        deviations = [self._deviation(square, width, epsilon) for square in squares]
        normed = (centred << self.precision) // (column(deviations)[:, None] * width)
        terms = [
            (normed * scale.numbers.astype(object), scale.exponent),
            (shift.numbers.astype(object), shift.exponent + self.precision),
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

    def _norm(self, weight: Grid) -> int:
        """Return a bound on the norm of a weight: no less than its Frobenius norm, in units of 2^-16."""
        if id(weight) not in self._norms:
            self._norms[id(weight)] = (weight, _norm(weight))
        return self._norms[id(weight)][1]


def root_above(number: int) -> int:
    """Return the least integer whose square is at least a number.

    >>> [root_above(number) for number in (0, 1, 2, 4, 5, 768)]
    [0, 1, 2, 2, 3, 28]
    """
    root = isqrt(number)
    return root if root * root == number else root + 1


def _norm(weight: Grid) -> int:
    numbers, shift = weight.numbers.ravel(), 2 * weight.exponent + 2 * _NORM_BITS
    parts = np.split(numbers, range(_SQUARES, len(numbers), _SQUARES))
    total = sum(int(integer_product(part[None], part[:, None])[0, 0]) for part in parts)
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


def _floored(terms: Sequence[tuple[Integers, int]]) -> Integers:
    """Return a sum of integers that each count a power of two, rounded down."""
    least = min(0, *(exponent for _, exponent in terms))
    total = sum(numbers << (exponent - least) for numbers, exponent in terms)
    return np.asarray(total) >> -least


def _lengths(rows: Integers) -> list[int]:
    """Return the Euclidean lengths of rows, rounded up."""
    return [root_above(total) for total in (rows * rows).sum(axis=1).tolist()]


def _blocks(contexts: Contexts, width: int) -> Iterator[Contexts]:
    """Divide contexts into parts whose products with keys are not too many at once."""
    sizes = list(accumulate(len(context.keys) * width for context in contexts))
    start = 0
    for end, size in enumerate(sizes, start=1):
        done = sizes[start - 1] if start else 0
        if size - done >= _BLOCK or end == len(sizes):
            yield contexts[start:end]
            start = end
