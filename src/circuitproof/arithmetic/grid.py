"""The one exact matrix: integers times a power of two, with a denominator per row, and one `matmul`."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from circuitproof.arithmetic import limbs
from circuitproof.arithmetic.limbs import Factor, Integers, Limbs, factor_of, limbs_of
from circuitproof.errors import DeclarationError, NumericError

_FLOAT32_MANTISSA = 23
_INT64_ROOM = 62
_PLAIN_PRODUCTS = 1 << 12
"""Up to so many products, Python's own integers are quicker than limbs."""
_MOST_DIGITS = 1 << 9
"""Fewer sums than this, each of at most 2⁵³, add up within a machine integer."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Grid:
    """A matrix of rationals: entry (i, j) is numbers[i, j] · 2^exponent / denominators[i].

    The numbers are machine integers (weights as they were read), Python integers, or, where they are many,
    limbs: whatever they are, the operations below have the same values.
    """

    content: Integers | Limbs
    exponent: int
    denominators: tuple[int, ...]

    def __post_init__(self) -> None:
        shape = self.content.shape
        if len(shape) != 2 or len(self.denominators) != shape[0]:  # noqa: PLR2004  # a matrix
            raise DeclarationError(
                f"a grid wants a matrix and a denominator per row, got shape {shape} "
                f"and {len(self.denominators)} denominators"
            )

    @property
    def shape(self) -> tuple[int, int]:
        return (self.content.shape[0], self.content.shape[1])

    @property
    def numbers(self) -> Integers:
        """Return the numbers as machine integers or Python integers."""
        return self.content.integers() if isinstance(self.content, Limbs) else self.content

    def limbs(self) -> Limbs:
        return self.content if isinstance(self.content, Limbs) else limbs_of(self.content)

    def take(self, rows: Sequence[int]) -> "Grid":
        """Return the rows at these places, in this order, repeats allowed."""
        places = list(rows)
        return Grid(self.content[places], self.exponent, tuple([self.denominators[row] for row in places]))

    def in_units(self, exponent: int) -> Integers:
        """Return the numbers as multiples of a power of two that is no larger than the grid's own."""
        numbers = self.numbers.astype(object)
        return numbers << (self.exponent - exponent) if self.exponent > exponent else numbers

    def transposed(self) -> "Grid":
        even = uniform(self)
        common = even.denominators[0] if even.denominators else 1
        return Grid(even.numbers.T, even.exponent, (common,) * self.shape[1])

    def transposed_factor(self) -> Factor:
        """Return what multiplies by the transposed numbers from the right, made once."""
        if self not in _FACTORS:
            _FACTORS[self] = factor_of(self.numbers.T)
        return _FACTORS[self]

    def sum_of_squares(self) -> int:
        """Return the sum of the squares of the numbers, found once."""
        if self not in _SQUARES:
            numbers = limbs_of(self.numbers)
            _SQUARES[self] = int(limbs.row_products(numbers, numbers).integers().sum())
        return _SQUARES[self]

    def rows(self) -> Iterator["Row"]:
        """Walk the rows as integers over a common denominator."""
        for numbers, denominator in zip(self.numbers.tolist(), self.denominators, strict=True):
            yield make_row(numbers, self.exponent, denominator)

    def fractions(self) -> tuple[tuple[Fraction, ...], ...]:
        return tuple(row.fractions() for row in self.rows())


_FACTORS: WeakKeyDictionary[Grid, Factor] = WeakKeyDictionary()
_SQUARES: WeakKeyDictionary[Grid, int] = WeakKeyDictionary()
"""What was made of a grid: kept as long as the grid is."""


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

    def reduced(self) -> "Row":
        """Return the same row in lowest terms, of which each row of rationals has one."""
        common = gcd(self.denominator, *self.numbers)
        if common == 1:
            return self
        return Row(tuple([number // common for number in self.numbers]), self.denominator // common)


def make_row(numbers: Sequence[int], exponent: int, denominator: int) -> Row:
    """Return the row numbers · 2^exponent / denominator."""
    if exponent >= 0:
        return Row(tuple(int(number) << exponent for number in numbers), denominator)
    return Row(tuple(map(int, numbers)), denominator << -exponent)


def row_of_fractions(row: Sequence[Fraction | int]) -> Row:
    """Return rationals over their least common denominator."""
    common = lcm(*(entry.denominator for entry in row))
    return Row(tuple(int(entry * common) for entry in row), common)


def grid_of_rows(rows: Sequence[Row], columns: int) -> Grid:
    """Return a grid of rows that each have their own denominator; powers of two are kept apart."""
    shift = min((twos(row.denominator) for row in rows), default=0)
    numbers = np.empty((len(rows), columns), dtype=object)
    for place, row in enumerate(rows):
        numbers[place] = row.numbers
    return Grid(numbers, -shift, tuple(row.denominator >> shift for row in rows))


def grid_of_fractions(rows: Sequence[Sequence[Fraction]], columns: int) -> Grid:
    return grid_of_rows([row_of_fractions(row) for row in rows], columns)


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
    exponent = min(left.exponent, right.exponent)
    ours, theirs = _spread_denominators(left, right)
    common = ours if ours == theirs else tuple(map(lcm, ours, theirs))
    if isinstance(left.content, Limbs) or isinstance(right.content, Limbs):
        one, other = (limbs.shift(grid.limbs(), grid.exponent - exponent) for grid in (left, right))
        if ours != common:
            one = limbs.multiply(one, limbs_of(_factors(common, ours)))
        if theirs != common:
            other = limbs.multiply(other, limbs_of(_factors(common, theirs)))
        return Grid(limbs.add(one, other), exponent, common)
    first, second = (grid.in_units(exponent) for grid in (left, right))
    if ours == theirs:
        return Grid(first + second, exponent, common)
    total = first * _factors(common, ours) + second * _factors(common, theirs)
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
    product = _product(left, even.numbers, lambda: factor_of(even.numbers))
    return Grid(product, left.exponent + even.exponent, tuple([d * below for d in left.denominators]))


def matmul_transposed(left: Grid, weight: Grid) -> Grid:
    """Return the product with a transposed weight, whose digits are found once."""
    if left.shape[1] != weight.shape[1] or any(denominator != 1 for denominator in weight.denominators):
        return matmul(left, weight.transposed())
    product = _product(left, weight.numbers.T, weight.transposed_factor)
    return Grid(product, left.exponent + weight.exponent, left.denominators)


def _product(left: Grid, right: Integers, factor: Callable[[], Factor]) -> Integers | Limbs:
    """Return a product: in Python's integers if it is small, in limbs if not."""
    if len(left.denominators) * right.size > _PLAIN_PRODUCTS:
        digits, numbers = factor(), left.limbs()
        if min(len(digits.digits), len(numbers.parts)) < _MOST_DIGITS:
            return limbs.product(numbers, digits)
    return np.asarray(left.numbers.astype(object) @ right.astype(object))


def uniform(grid: Grid) -> Grid:
    """Return the same grid with one denominator for all rows."""
    if len(set(grid.denominators)) <= 1:
        return grid
    common = lcm(*grid.denominators)
    factors = _factors((common,) * len(grid.denominators), grid.denominators)
    return Grid(grid.numbers.astype(object) * factors, grid.exponent, (common,) * len(grid.denominators))


def _spread_denominators(left: Grid, right: Grid) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the denominators of two grids that are to be added, a single row's for every row."""
    ours, theirs = left.denominators, right.denominators
    rows = {len(ours), len(theirs)}
    if left.shape[1] != right.shape[1] or (len(rows) > 1 and 1 not in rows):
        raise DeclarationError(f"cannot add grids of shapes {left.shape} and {right.shape}")
    ours, theirs = (
        (ours * len(theirs) if len(ours) == 1 else ours),
        (theirs * len(ours) if len(theirs) == 1 else theirs),
    )
    return ours, theirs


def _factors(wanted: Sequence[int], found: Sequence[int]) -> Integers:
    column = np.empty((len(found), 1), dtype=object)
    column[:, 0] = [one // other for one, other in zip(wanted, found, strict=True)]
    return column


def twos(number: int) -> int:
    """Return how often 2 divides a positive number."""
    return (number & -number).bit_length() - 1
