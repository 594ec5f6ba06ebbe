"""Linear programmes over a box, solved exactly: the dual simplex method in integers.

All variables lie in boxes, so the solution without constraints is known at once: each variable at the end of
its box that the objective likes. Constraints are then met one by one. Numbers are integers over one common
denominator, the determinant of the basis, and every division is exact (Bareiss, Edmonds). Bland's rule, the
smallest index first, keeps the method from going round in circles.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Tableau: TypeAlias = npt.NDArray[Any]

_BETA = -1
"""The column of the values of basic variables."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """numbers[0] + Σ numbers[1 + j] · x_j is at most zero, or equal to it."""

    numbers: tuple[int, ...]
    is_equality: bool = False


@dataclass(frozen=True, slots=True)
class Programme:
    """Minimise an affine objective over a box of integers cut by constraints; `ends` holds each box."""

    objective: tuple[int, ...]
    constraints: tuple[Constraint, ...]
    ends: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Optimum:
    """The least value, a point of it, and a weight per constraint that shows there is no lesser.

    The objective plus the weighted constraints is at least `value` on the whole box; weights of inequalities
    are not negative.
    """

    value: Fraction
    point: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Infeasible:
    """Nothing meets the constraints: weighted like this, their sum is positive on the whole box."""

    weights: tuple[Fraction, ...]


def minimise(programme: Programme) -> Optimum | Infeasible:
    """Solve a programme exactly."""
    simplex = _Simplex(programme)
    while (row := simplex.infeasible_row()) is not None:
        column = simplex.entering(row)
        if column is None:
            return Infeasible(simplex.row_weights(row))
        simplex.pivot(row, column)
    return simplex.optimum()


class _Simplex:
    """A table of basic variables as affine functions of the others, which are zero: β − Σ α x.

    The variables are t_j in [0, 1], where x_j lies in its box, and a slack w_i ≥ 0 per constraint (= 0 for
    an equality). A variable at its upper end is replaced by what it lacks of it, so that it is zero again.
    The last row is the objective.
    """

    def __init__(self, programme: Programme) -> None:
        self._ends = programme.ends
        count, width = len(programme.constraints), len(programme.ends)
        rows = [constraint.numbers for constraint in programme.constraints]
        self._table: Tableau = np.empty((count + 1, width + 1), dtype=object)
        for place, row in enumerate([*rows, tuple(-number for number in programme.objective)]):
            least, steps = self._in_units(row)
            self._table[place, :width] = steps
            self._table[place, _BETA] = -least
        self._scale = 1
        self._basic = [width + place for place in range(count)]
        self._others = list(range(width))
        fixed = [constraint.is_equality for constraint in programme.constraints]
        self._upper: list[int | None] = [1] * width + [0 if is_fixed else None for is_fixed in fixed]
        self._is_turned = [False] * (width + count)
        for column in range(width):
            if self._table[-1, column] > 0:
                self._turn_column(column)

    def _in_units(self, numbers: Sequence[int]) -> tuple[int, list[int]]:
        """Return an affine function of x as one of t: its value at the lower ends, and the steps."""
        pairs = list(zip(numbers[1:], self._ends, strict=True))
        least = numbers[0] + sum(slope * low for slope, (low, _) in pairs if slope)
        return least, [slope * (high - low) for slope, (low, high) in pairs]

    def infeasible_row(self) -> int | None:
        """Return the row of the first variable outside its bounds, written so that it is below zero."""
        below = [place for place, variable in enumerate(self._basic) if self._excess(place, variable)]
        if not below:
            return None
        row = min(below, key=lambda place: self._basic[place])
        if self._table[row, _BETA] >= 0:
            self._turn_row(row)
        return row

    def _excess(self, place: int, variable: int) -> bool:
        value, upper = self._table[place, _BETA], self._upper[variable]
        return value < 0 or (upper is not None and value > upper * self._scale)

    def entering(self, row: int) -> int | None:
        """Return the column that may raise a row's variable at the least cost, if any may."""
        chosen, cost, gain = None, 0, 0
        costs, steps = self._table[-1].tolist(), self._table[row].tolist()
        for column, variable in enumerate(self._others):
            if steps[column] >= 0 or self._upper[variable] == 0:
                continue
            ahead = costs[column] * gain - cost * steps[column]
            if chosen is None or ahead < 0 or (ahead == 0 and variable < self._others[chosen]):
                chosen, cost, gain = column, costs[column], steps[column]
        return chosen

    def pivot(self, row: int, column: int) -> None:
        """Exchange a basic variable with another."""
        table, old = self._table, self._scale
        pivot = table[row, column]
        pivot_row, pivot_column = table[row].copy(), table[:, column].copy()
        changed = (table * pivot - np.outer(pivot_column, pivot_row)) // old
        changed[row] = pivot_row
        changed[:, column] = -pivot_column
        changed[row, column] = old
        self._table, self._scale = (-changed, -pivot) if pivot < 0 else (changed, pivot)
        self._basic[row], self._others[column] = self._others[column], self._basic[row]

    def _turn_column(self, column: int) -> None:
        variable = self._others[column]
        self._table[:, _BETA] -= (self._upper[variable] or 0) * self._table[:, column]
        self._table[:, column] = -self._table[:, column]
        self._is_turned[variable] = not self._is_turned[variable]

    def _turn_row(self, row: int) -> None:
        variable = self._basic[row]
        self._table[row] = -self._table[row]
        self._table[row, _BETA] += (self._upper[variable] or 0) * self._scale
        self._is_turned[variable] = not self._is_turned[variable]

    def row_weights(self, row: int) -> tuple[Fraction, ...]:
        """Return the weights of constraints in the sum that a row says is below zero, yet cannot be."""
        weights = self._weights(row)
        slack = self._basic[row] - len(self._ends)
        if slack >= 0:
            turned = self._is_turned[self._basic[row]]
            weights[slack] = Fraction(-1 if turned else 1)
        return tuple(weights)

    def optimum(self) -> Optimum:
        weights = [-weight for weight in self._weights(-1)]
        return Optimum(Fraction(self._table[-1, _BETA], self._scale), self._point(), tuple(weights))

    def _weights(self, row: int) -> list[Fraction]:
        weights = [Fraction(0)] * (len(self._is_turned) - len(self._ends))
        for column, variable in enumerate(self._others):
            if variable >= len(self._ends):
                entry = Fraction(self._table[row, column], self._scale)
                weights[variable - len(self._ends)] = -entry if self._is_turned[variable] else entry
        return weights

    def _point(self) -> tuple[Fraction, ...]:
        units = [Fraction(0)] * len(self._is_turned)
        for place, variable in enumerate(self._basic):
            units[variable] = Fraction(self._table[place, _BETA], self._scale)
        return tuple(
            low + (high - low) * (1 - unit if turned else unit)
            for (low, high), unit, turned in zip(
                self._ends, units[: len(self._ends)], self._is_turned[: len(self._ends)], strict=True
            )
        )
