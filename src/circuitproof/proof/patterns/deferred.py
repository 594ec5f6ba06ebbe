"""Exact numbers whose affine maps wait: a chain of them is multiplied together from its narrow end.

Where thousands of rows go through the same maps to two logits, the maps are multiplied first, and each row
costs one inner product per logit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from circuitproof.arithmetic.exact import Exact
from circuitproof.arithmetic.grid import Grid, Row, add, matmul, uniform
from circuitproof.arithmetic.protocol import Contexts, RationalRow
from circuitproof.models.operators import Activation, Attention, Norm

_FEW_COLUMNS = 8
"""Up to so many results per row of large integers, Python's own products are quicker than slicing."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Rows, and affine maps (weight, bias) that are still to be applied to them, the first first."""

    rows: Grid
    maps: tuple[tuple[Grid, Grid | None], ...] = ()

    def settled(self) -> Grid:
        if not self.maps:
            return self.rows
        if _forward_cost(self) <= _backward_cost(self):
            rows = self.rows
            for weight, bias in self.maps:
                rows = _applied(rows, weight, bias)
            return rows
        weight, bias = self.maps[-1]
        for inner, shift in reversed(self.maps[:-1]):
            if shift is not None:
                moved = _applied(shift, weight, None)
                bias = moved if bias is None else add(bias, moved)
            weight = matmul(weight, inner)
        return _applied(self.rows, weight, bias)


@dataclass(slots=True)
class Deferred:
    """The arithmetic of rationals with affine maps put off as long as possible."""

    exact: Exact = field(default_factory=Exact)

    def constant(self, rows: Grid) -> Waiting:
        return Waiting(rows)

    def take(self, values: Waiting, rows: Sequence[int]) -> Waiting:
        """Return the rows at these places; before rows are repeated their maps are applied."""
        if values.maps and len(rows) > values.rows.shape[0]:
            return Waiting(values.settled().take(rows))
        return Waiting(values.rows.take(rows), values.maps)

    def add(self, left: Waiting, right: Waiting) -> Waiting:
        return Waiting(add(left.settled(), right.settled()))

    def affine(self, values: Waiting, weight: Grid, bias: Grid | None) -> Waiting:
        return Waiting(values.rows, (*values.maps, (weight, bias)))

    def mix(self, rows: Sequence[RationalRow], values: Waiting) -> Waiting:
        """Return sums of rows with known weights; single rows are only taken."""
        if all(len(row) == 1 and row[0][1] == 1 for row in rows):
            return self.take(values, [row[0][0] for row in rows])
        return Waiting(self.exact.mix(rows, values.settled()))

    def rotate(self, values: Waiting, cosines: Grid, sines: Grid) -> Waiting:
        return Waiting(self.exact.rotate(values.settled(), cosines, sines))

    def scores(self, queries: Waiting, keys: Waiting, contexts: Contexts, scale: Fraction) -> tuple[Row, ...]:
        return self.exact.scores(queries.settled(), keys.settled(), contexts, scale)

    def attention(self, scores: tuple[Row, ...], attention: Attention) -> tuple[Row, ...]:
        return self.exact.attention(scores, attention)

    def weigh(self, weights: tuple[Row, ...], contexts: Contexts, values: Waiting) -> Waiting:
        return Waiting(self.exact.weigh(weights, contexts, values.settled()))

    def activate(self, values: Waiting, activation: Activation) -> Waiting:
        return Waiting(self.exact.activate(values.settled(), activation))

    def normalise(self, values: Waiting, norm: Norm, gain: tuple[Grid, Grid]) -> Waiting:
        return Waiting(self.exact.normalise(values.settled(), norm, gain))


def _forward_cost(values: Waiting) -> int:
    return sum(values.rows.shape[0] * weight.shape[0] * weight.shape[1] for weight, _ in values.maps)


def _backward_cost(values: Waiting) -> int:
    out, into = values.maps[-1][0].shape[0], values.rows.shape[1]
    inner = sum(out * weight.shape[0] * weight.shape[1] for weight, _ in values.maps[:-1])
    return inner + values.rows.shape[0] * out * into


def _applied(rows: Grid, weight: Grid, bias: Grid | None) -> Grid:
    turned = weight.transposed()
    if rows.numbers.dtype == object and turned.shape[1] <= _FEW_COLUMNS:
        even = uniform(turned)
        below = even.denominators[0]
        numbers = np.asarray(rows.numbers @ even.numbers.astype(object))
        product = Grid(numbers, rows.exponent + even.exponent, tuple(d * below for d in rows.denominators))
    else:
        product = matmul(rows, turned)
    return product if bias is None else add(product, bias)
