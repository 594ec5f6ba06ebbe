"""The one exact matrix: integers times a power of two, with a denominator per row, and one `matmul`.

Products of large matrices are done by BLAS: the integers are cut into slices so narrow that a product of
slices, summed over the inner axis, is an integer of at most 2⁵³: exact in FP64 in any order of summation.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from circuitproof.errors import DeclarationError, NumericError

Integers = npt.NDArray[Any]
"""A matrix of machine integers or of Python integers."""

_FLOAT64_BITS = 53
"""FP64 holds integers up to 2⁵³ exactly."""
_PLAIN_PRODUCTS = 1 << 12
"""Up to so many products, Python's own integers are quicker than slicing."""
_MOST_SLICES = 1 << 10
"""Fewer products of slices than this, each of at most 2⁵³, add up within a machine integer."""
_FLOAT32_MANTISSA = 23
_INT64_ROOM = 62
_WORD_BITS = 63
"""A machine integer holds so many bits without a sign, or the last bits of a number with one."""


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """A matrix of rationals: entry (i, j) is numbers[i, j] · 2^exponent / denominators[i].

    `numbers` holds machine integers (weights as they were read) or Python integers.
    """

    numbers: Integers
    exponent: int
    denominators: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.numbers.ndim != 2 or len(self.denominators) != len(self.numbers):  # noqa: PLR2004  # a matrix
            raise DeclarationError(
                f"a grid wants a matrix and a denominator per row, got shape {self.numbers.shape} "
                f"and {len(self.denominators)} denominators"
            )

    @property
    def shape(self) -> tuple[int, int]:
        return (self.numbers.shape[0], self.numbers.shape[1])

    def take(self, rows: Sequence[int]) -> "Grid":
        """Return the rows at these places, in this order, repeats allowed."""
        return Grid(self.numbers[list(rows)], self.exponent, tuple(self.denominators[row] for row in rows))

    def in_units(self, exponent: int) -> Integers:
        """Return the numbers as multiples of a power of two that is no larger than the grid's own."""
        numbers = self.numbers.astype(object)
        return numbers << (self.exponent - exponent) if self.exponent > exponent else numbers

    def transposed(self) -> "Grid":
        even = uniform(self)
        common = even.denominators[0] if even.denominators else 1
        return Grid(even.numbers.T, even.exponent, (common,) * self.shape[1])

    def rows(self) -> Iterator["Row"]:
        """Walk the rows as integers over a common denominator."""
        for numbers, denominator in zip(self.numbers.tolist(), self.denominators, strict=True):
            yield make_row(numbers, self.exponent, denominator)

    def fractions(self) -> tuple[tuple[Fraction, ...], ...]:
        return tuple(row.fractions() for row in self.rows())


@dataclass(frozen=True, slots=True)
class Row:
    """One row: integers over one positive denominator."""

    numbers: tuple[int, ...]
    denominator: int

    def fractions(self) -> tuple[Fraction, ...]:
        return tuple(Fraction(number, self.denominator) for number in self.numbers)

    def over(self, factor: int) -> "Row":
        """Return the same row with numbers and denominator multiplied by `factor`."""
        return Row(tuple(number * factor for number in self.numbers), self.denominator * factor)


def make_row(numbers: Sequence[int], exponent: int, denominator: int) -> Row:
    """Return the row numbers · 2^exponent / denominator."""
    if exponent >= 0:
        return Row(tuple(int(number) << exponent for number in numbers), denominator)
    return Row(tuple(map(int, numbers)), denominator << -exponent)


def grid_of_rows(rows: Sequence[Row], columns: int) -> Grid:
    """Return a grid of rows that each have their own denominator; powers of two are kept apart."""
    shift = min((_twos(row.denominator) for row in rows), default=0)
    numbers = np.empty((len(rows), columns), dtype=object)
    for place, row in enumerate(rows):
        numbers[place] = row.numbers
    return Grid(numbers, -shift, tuple(row.denominator >> shift for row in rows))


def grid_of_fractions(rows: Sequence[Sequence[Fraction]], columns: int) -> Grid:
    made: list[Row] = []
    for row in rows:
        common = lcm(*(entry.denominator for entry in row))
        made.append(Row(tuple(int(entry * common) for entry in row), common))
    return grid_of_rows(made, columns)


def grid_of_float32(bits: npt.NDArray[np.uint32]) -> Grid:
    """Return the exact values of a matrix of FP32 bit patterns; NaN and infinities are refused.

    The integers count units in the last place of the smallest value. Machine integers hold them unless the
    exponents lie far apart; scaling an FP32 value by a power of two is exact in FP64.
    """
    biased = np.maximum((bits >> _FLOAT32_MANTISSA) & 0xFF, 1)[(bits & 0x7FFFFFFF) != 0]
    least, most = (int(biased.min()), int(biased.max())) if biased.size else (150, 150)
    if most == 0xFF:  # noqa: PLR2004  # the exponent of NaN and infinity
        raise NumericError("a weight is NaN or infinite")
    values = bits.view(np.float32).astype(np.float64)
    if most - least + _FLOAT32_MANTISSA + 1 <= _INT64_ROOM:
        return Grid(np.ldexp(values, 150 - least).astype(np.int64), least - 150, (1,) * len(bits))
    numbers = np.empty(bits.shape, dtype=object)
    numbers.ravel()[:] = [int(Fraction(value) * 2 ** (150 - least)) for value in values.ravel().tolist()]
    return Grid(numbers, least - 150, (1,) * len(bits))


def zeros(rows: int, columns: int) -> Grid:
    return Grid(np.zeros((rows, columns), dtype=object), 0, (1,) * rows)


def add(left: Grid, right: Grid) -> Grid:
    """Return the entrywise sum; a single row is added to every row."""
    if left.shape != right.shape:
        left, right = _spread(left, right)
    exponent = min(left.exponent, right.exponent)
    first, second = (grid.in_units(exponent) for grid in (left, right))
    if left.denominators == right.denominators:
        return Grid(first + second, exponent, left.denominators)
    common = tuple(map(lcm, left.denominators, right.denominators))
    total = first * _factors(common, left.denominators) + second * _factors(common, right.denominators)
    return Grid(total, exponent, common)


def multiply(grid: Grid, factor: Fraction) -> Grid:
    numbers = grid.numbers.astype(object) * factor.numerator
    return Grid(numbers, grid.exponent, tuple(d * factor.denominator for d in grid.denominators))


def multiply_columns(grid: Grid, factors: Grid) -> Grid:
    """Return the grid with each column multiplied by an entry of the single row `factors`."""
    if factors.shape != (1, grid.shape[1]):
        raise DeclarationError(f"cannot multiply columns of shape {grid.shape} by shape {factors.shape}")
    numbers = grid.numbers.astype(object) * factors.numbers.astype(object)
    denominators = tuple(d * factors.denominators[0] for d in grid.denominators)
    return Grid(numbers, grid.exponent + factors.exponent, denominators)


def rotate(grid: Grid, cosines: Grid, sines: Grid) -> Grid:
    """Return the grid with pairs of coordinates rotated (`Arithmetic.rotate`), row by row of the tables."""
    exponent = min(cosines.exponent, sines.exponent, 0)
    common = tuple(map(lcm, cosines.denominators, sines.denominators))
    cos, sin = (table.in_units(exponent) * _factors(common, table.denominators) for table in (cosines, sines))
    half = cosines.shape[1]
    numbers = grid.numbers.astype(object)
    one, other, rest = numbers[:, :half], numbers[:, half : 2 * half], numbers[:, 2 * half :]
    kept = (rest << -exponent) * _factors(common, (1,) * len(common))
    turned = np.concatenate([one * cos - other * sin, other * cos + one * sin, kept], axis=1)
    spread = common * len(numbers) if len(common) == 1 else common
    denominators = tuple(d * below for d, below in zip(grid.denominators, spread, strict=True))
    return Grid(turned, grid.exponent + exponent, denominators)


def matmul(left: Grid, right: Grid) -> Grid:
    if left.shape[1] != right.shape[0]:
        raise DeclarationError(f"cannot multiply grids of shapes {left.shape} and {right.shape}")
    even = uniform(right)
    below = even.denominators[0] if even.denominators else 1
    numbers = _integer_product(left.numbers, even.numbers)
    return Grid(numbers, left.exponent + even.exponent, tuple(d * below for d in left.denominators))


def uniform(grid: Grid) -> Grid:
    """Return the same grid with one denominator for all rows."""
    if len(set(grid.denominators)) <= 1:
        return grid
    common = lcm(*grid.denominators)
    factors = _factors((common,) * len(grid.denominators), grid.denominators)
    return Grid(grid.numbers.astype(object) * factors, grid.exponent, (common,) * len(grid.denominators))


def _integer_product(left: Integers, right: Integers) -> Integers:
    inner = left.shape[1]
    if not left.any():
        return np.zeros((left.shape[0], right.shape[1]), dtype=object)
    if left.size * right.shape[1] <= _PLAIN_PRODUCTS:
        return _plain_product(left, right)
    width = (_FLOAT64_BITS - inner.bit_length()) // 2
    lefts, rights = _slices(left, width), _slices(right, width)
    if min(len(lefts), len(rights)) >= _MOST_SLICES:
        return _plain_product(left, right)
    totals: list[Any] = [0] * (len(lefts) + len(rights) - 1)
    stacked = np.concatenate(lefts)
    for j, other in enumerate(rights):
        for i, product in enumerate(np.split((stacked @ other).astype(np.int64), len(lefts))):
            totals[i + j] = totals[i + j] + product
    return _joined(totals, width)


def _joined(totals: Sequence[Integers], width: int) -> Integers:
    """Return the sum of machine integers that each count `width` more bits than the one before.

    They are carried into digits of `width` bits, and several digits become one Python integer at a time.
    """
    carry: Integers = np.zeros_like(totals[0])
    digits: list[Integers] = []
    for total in totals[:-1]:
        carried = total + carry
        digits.append(carried & ((1 << width) - 1))
        carry = carried >> width
    result = (totals[-1] + carry).astype(object) << (width * len(digits))
    step = _WORD_BITS // width
    for place in range(0, len(digits), step):
        word = sum(digit << (width * k) for k, digit in enumerate(digits[place : place + step]))
        result = result + (np.asarray(word).astype(object) << (width * place))
    return result


def _plain_product(left: Integers, right: Integers) -> Integers:
    return np.asarray(left.astype(object) @ right.astype(object))


def _slices(numbers: Integers, width: int) -> list[npt.NDArray[np.float64]]:
    """Cut integers into digits of `width` bits, lowest first; only the last digit has a sign."""
    bits = max(int(numbers.max(initial=0)), -int(numbers.min(initial=0))).bit_length()
    count = max(1, -(-bits // width))
    step = _WORD_BITS // width if numbers.dtype == object else count
    words = [_digit(numbers, width * step, place, -(-count // step)) for place in range(-(-count // step))]
    machine = [word.astype(np.int64) for word in words]
    places = (divmod(place, step) for place in range(count))
    return [_digit(machine[word], width, k, count - word * step).astype(np.float64) for word, k in places]


def _digit(numbers: Integers, width: int, place: int, count: int) -> Integers:
    """Return the digit of `width` bits at a place; the last of `count` keeps the sign and what is above."""
    shifted = numbers >> (width * place)
    return shifted if place == count - 1 else shifted & ((1 << width) - 1)


def _spread(left: Grid, right: Grid) -> tuple[Grid, Grid]:
    is_alike = left.shape[1] == right.shape[1]
    if is_alike and right.shape[0] == 1:
        return left, right.take([0] * left.shape[0])
    if is_alike and left.shape[0] == 1:
        return left.take([0] * right.shape[0]), right
    raise DeclarationError(f"cannot add grids of shapes {left.shape} and {right.shape}")


def _factors(wanted: Sequence[int], found: Sequence[int]) -> Integers:
    column = np.empty((len(found), 1), dtype=object)
    column[:, 0] = [one // other for one, other in zip(wanted, found, strict=True)]
    return column


def _twos(number: int) -> int:
    """Return how often 2 divides a positive number."""
    return (number & -number).bit_length() - 1
