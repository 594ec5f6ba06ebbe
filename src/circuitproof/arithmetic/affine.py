"""Forms affine in a perturbation as an arithmetic: exact on a region where every branch is known.

Linear operations need no branch. An operator with branches follows the one at a sample point, once it knows
the signs that make that branch right in the whole region: from the ball, or from the region's bounds. Where
it does not know, it stops with `OpenSignError`, which says on which form to split the region.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import lcm
from typing import TypeAlias

import numpy as np

from circuitproof.arithmetic.bands import band
from circuitproof.arithmetic.exact import Exact
from circuitproof.arithmetic.form_matrix import (
    Columns,
    FormMatrix,
    SampledRegion,
    SignCondition,
    projected,
    settle,
)
from circuitproof.arithmetic.forms import Region, Sign
from circuitproof.arithmetic.grid import (
    Grid,
    add,
    matmul,
    multiply,
    multiply_columns,
    rotate,
    uniform,
    zeros,
)
from circuitproof.arithmetic.protocol import Context, Contexts, RationalRow
from circuitproof.errors import NotExactError
from circuitproof.models.operators import Activation, Attention, Norm, band_of, slope_of

Slopes: TypeAlias = Mapping[int, Grid]
"""For the rows of a batch that depend on the perturbation, a row of slopes per variable."""


@dataclass(frozen=True, slots=True)
class Forms:
    """A batch of rows of forms; rows without slopes are constant."""

    constant: Grid
    slopes: Slopes

    @property
    def is_constant(self) -> bool:
        return not self.slopes

    def matrix(self, row: int) -> FormMatrix:
        """Return a row as one matrix of integers: the constants above the slopes."""
        constant = self.constant.take([row])
        slopes = self.slopes[row]
        exponent = min(constant.exponent, slopes.exponent)
        stacked = Grid(
            np.concatenate([constant.in_units(exponent), slopes.in_units(exponent)]),
            exponent,
            (*constant.denominators, *slopes.denominators),
        )
        even = uniform(stacked)
        factor, below = (1 << exponent, 1) if exponent >= 0 else (1, 1 << -exponent)
        return FormMatrix(even.numbers * factor, even.denominators[0] * below)


ScoreForms: TypeAlias = tuple[Forms, ...]
"""Scores or weights of attention, a single row of forms per context."""
_INSTEAD = (
    "ask after the attention (--at 'head L.H output', 'mlp L input' or 'logits input'), "
    "or perturb fewer positions (--positions)"
)
"""What can be asked where a perturbation inside attention cannot."""


class BendError(Exception):
    """An operator with branches meets a form, and no region is there to know its sign in."""


class Unbent:
    """The arithmetic of forms as far as nothing bends that depends on the perturbation."""

    def constant(self, rows: Grid) -> Forms:
        return Forms(rows, {})

    def take(self, values: Forms, rows: Sequence[int]) -> Forms:
        slopes = {place: values.slopes[row] for place, row in enumerate(rows) if row in values.slopes}
        return Forms(values.constant.take(rows), slopes)

    def add(self, left: Forms, right: Forms) -> Forms:
        total = add(left.constant, right.constant)
        count = total.shape[0]
        pairs = zip(_spread(left, count), _spread(right, count), strict=True)
        return _forms(total, {row: _sum(one, other) for row, (one, other) in enumerate(pairs)})

    def affine(self, values: Forms, weight: Grid, bias: Grid | None) -> Forms:
        across = weight.transposed()
        product = matmul(values.constant, across)
        slopes = {row: matmul(grid, across) for row, grid in values.slopes.items()}
        return _forms(product if bias is None else add(product, bias), slopes)

    def mix(self, rows: Sequence[RationalRow], values: Forms) -> Forms:
        slopes = {place: _mixed(row, values.slopes) for place, row in enumerate(rows)}
        return _forms(Exact().mix(rows, values.constant), slopes)

    def rotate(self, values: Forms, cosines: Grid, sines: Grid) -> Forms:
        single = cosines.shape[0] == 1
        slopes = {
            row: rotate(grid, *(table.take([0 if single else row]) for table in (cosines, sines)))
            for row, grid in values.slopes.items()
        }
        return _forms(rotate(values.constant, cosines, sines), slopes)

    def scores(self, queries: Forms, keys: Forms, contexts: Contexts, scale: Fraction) -> ScoreForms:
        return tuple(_scores(queries, keys, context, scale) for context in contexts)

    def attention(self, scores: ScoreForms, attention: Attention) -> ScoreForms:
        attention.require_exact()
        return tuple(self._sparsemax(row, attention) for row in scores)

    def weigh(self, weights: ScoreForms, contexts: Contexts, values: Forms) -> Forms:
        rows = [_weighed(row, one.values, values) for row, one in zip(weights, contexts, strict=True)]
        return _stacked(rows, values.constant.shape[1])

    def activate(self, values: Forms, activation: Activation) -> Forms:
        slope = slope_of(activation)
        return self._branching(
            values,
            lambda rows: Exact().activate(rows, activation),
            lambda matrix: self._rectified(matrix, slope),
        )

    def normalise(self, values: Forms, norm: Norm, gain: tuple[Grid, Grid]) -> Forms:
        kind = band_of(norm)
        if kind is None:
            return values
        return self._branching(
            values,
            lambda rows: Exact().normalise(rows, norm, gain),
            lambda matrix: _stretched(band(self._sampled("norm"), matrix, kind), gain),
        )

    def _branching(
        self, values: Forms, plain: Callable[[Grid], Grid], bend: Callable[[FormMatrix], Forms]
    ) -> Forms:
        """Apply an operator with branches: to constant rows as numbers, to others on the region."""
        if values.is_constant:
            return Forms(plain(values.constant), {})
        width = values.constant.shape[1]
        still = [row for row in range(values.constant.shape[0]) if row not in values.slopes]
        numbers = plain(values.constant.take(still)) if still else zeros(0, width)
        rows = {row: Forms(numbers.take([place]), {}) for place, row in enumerate(still)}
        rows |= {row: bend(values.matrix(row)) for row in values.slopes}
        return _stacked([rows[row] for row in sorted(rows)], width)

    def _sampled(self, operator: str) -> SampledRegion:
        raise BendError(operator)

    def _rectified(self, matrix: FormMatrix, slope: Fraction) -> Forms:
        sampled = self._sampled("activation")
        raised = sampled.signs_at(matrix) >= 0
        wanted = [Sign.AT_LEAST if is_raised else Sign.AT_MOST for is_raised in raised]
        settle(sampled, [Columns(matrix.numbers, wanted)])
        factors = np.where(raised, slope.denominator, slope.numerator).astype(object)
        return _unfolded(FormMatrix(matrix.numbers * factors, matrix.denominator * slope.denominator).grid())

    def _sparsemax(self, row: Forms, attention: Attention) -> Forms:
        if row.is_constant:
            (weights,) = Exact().attention(tuple(row.constant.rows()), attention)
            numbers = np.array([weights.numbers], dtype=object)
            return Forms(Grid(numbers, 0, (weights.denominator,)), {})
        return _unfolded(projected(self._sampled("sparsemax"), row.matrix(0), Fraction(1), None).grid())


@dataclass(slots=True)
class Affine(Unbent):
    """The arithmetic of forms on a region, with the branches at one of its points."""

    region: Region
    point: tuple[Fraction, ...]
    traced: list[SignCondition] | None = None
    """If given, conditions that do not hold in the whole region are listed here instead of stopping."""

    def _sampled(self, operator: str) -> SampledRegion:
        return SampledRegion(self.region, self.point, operator, self.traced)


def _scores(queries: Forms, keys: Forms, context: Context, scale: Fraction) -> Forms:
    """Return the products of a query with its keys: linear unless both depend on the perturbation."""
    query, chosen, *_ = context
    if query in queries.slopes and any(key in keys.slopes for key in chosen):
        raise NotExactError(
            f"a perturbed query meets a perturbed key: their product is not linear; {_INSTEAD}"
        )
    picked = keys.constant.take(chosen).transposed()
    asked = queries.constant.take([query])
    if query in queries.slopes:
        moved = matmul(queries.slopes[query], picked)
    else:
        across = asked.transposed()
        moved = _beside([matmul(keys.slopes[k], across) if k in keys.slopes else None for k in chosen])
    slopes = None if moved is None else multiply(moved, scale)
    return _forms(multiply(matmul(asked, picked), scale), {0: slopes})


def _beside(columns: Sequence[Grid | None]) -> Grid | None:
    """Return single columns side by side; a column that is not there is zero."""
    present = [column for column in columns if column is not None]
    if not present:
        return None
    height, exponent = present[0].shape[0], min(column.exponent for column in present)
    even = [None if column is None else uniform(column) for column in columns]
    common = lcm(*(column.denominators[0] for column in even if column is not None))
    numbers = np.zeros((height, len(columns)), dtype=object)
    for place, column in enumerate(even):
        if column is not None:
            numbers[:, place] = column.in_units(exponent)[:, 0] * (common // column.denominators[0])
    return Grid(numbers, exponent, (common,) * height)


def _weighed(weights: Forms, keys: Sequence[int], values: Forms) -> Forms:
    """Return the weighted sum of values: linear unless weights and values depend on the perturbation."""
    if not weights.is_constant and any(key in values.slopes for key in keys):
        raise NotExactError(
            f"perturbed weights meet perturbed values: their product is not linear; {_INSTEAD}"
        )
    (constant,) = weights.constant.fractions()
    row: RationalRow = tuple((key, weight) for key, weight in zip(keys, constant, strict=True) if weight)
    total = Exact().mix([row], values.constant)
    moved = None if weights.is_constant else matmul(weights.slopes[0], values.constant.take(keys))
    return _forms(total, {0: _sum(_mixed(row, values.slopes), moved)})


def _mixed(row: RationalRow, slopes: Slopes) -> Grid | None:
    moving = (multiply(slopes[source], weight) for source, weight in row if source in slopes)
    return reduce(_sum, moving, None)


def _sum(left: Grid | None, right: Grid | None) -> Grid | None:
    if left is None or right is None:
        return right if left is None else left
    return add(left, right)


def _spread(values: Forms, count: int) -> list[Grid | None]:
    is_single = values.constant.shape[0] == 1
    return [values.slopes.get(0 if is_single else row) for row in range(count)]


def _forms(constant: Grid, slopes: Mapping[int, Grid | None]) -> Forms:
    """Return forms; slopes that are all zero are none."""
    moving = {row: grid for row, grid in slopes.items() if grid is not None and grid.numbers.any()}
    return Forms(constant, moving)


def _stacked(rows: Sequence[Forms], width: int) -> Forms:
    """Return single rows as one batch."""
    exponent = min((row.constant.exponent for row in rows), default=0)
    numbers = np.empty((len(rows), width), dtype=object)
    for place, row in enumerate(rows):
        numbers[place] = row.constant.in_units(exponent)[0]
    constant = Grid(numbers, exponent, tuple(row.constant.denominators[0] for row in rows))
    return Forms(constant, {place: row.slopes[0] for place, row in enumerate(rows) if 0 in row.slopes})


def _stretched(matrix: FormMatrix, gain: tuple[Grid, Grid]) -> Forms:
    scaled = _unfolded(multiply_columns(matrix.grid(), gain[0]))
    return Forms(add(scaled.constant, gain[1]), scaled.slopes)


def _unfolded(grid: Grid) -> Forms:
    """Return a matrix of constants above slopes as a single row of forms."""
    return _forms(grid.take([0]), {0: grid.take(range(1, grid.shape[0]))})
