"""Terms as an arithmetic: the forward pass itself writes down what a solver is asked.

What is known stays in exact numbers, unless every intermediate is to be named: then each number that the
forward pass computes, constants included, is a variable with an equation of its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias, TypeGuard, TypeVar

from circuitproof.arithmetic.exact import BandBranches, Exact, Sides, Signs, Supports, Witness
from circuitproof.arithmetic.grid import Grid, Row
from circuitproof.arithmetic.protocol import Contexts, RationalRow
from circuitproof.errors import DeclarationError
from circuitproof.models.operators import Activation, Attention, BandNorm, Norm, band_of, slope_of
from circuitproof.solvers.assertions import AssertionLog, AssertionSource, Naming
from circuitproof.solvers.pieces import Pieces, Unknowns
from circuitproof.solvers.terms import Sum

FractionRows: TypeAlias = tuple[tuple[Fraction, ...], ...]
SumRows: TypeAlias = tuple[tuple[Sum, ...], ...]
SymbolicValue: TypeAlias = Grid | SumRows
"""Known numbers, or terms."""
WeightRows: TypeAlias = tuple[Row, ...] | SumRows
T = TypeVar("T")
Found = TypeVar("Found", Signs, Supports, BandBranches)


@dataclass(slots=True)
class Symbolic:
    """The arithmetic of terms. It keeps every branch, or follows the branches of a trace."""

    log: AssertionLog = field(default_factory=AssertionLog)
    unknowns: Unknowns = Unknowns.DEFINED
    trace: Iterator[Witness] | None = None
    """The branches to follow, in order of computation, as `Exact` records them."""
    source: AssertionSource = AssertionSource.EMBEDDING
    """What the affine maps that come next are part of."""
    _read: dict[Grid, FractionRows] = field(default_factory=dict[Grid, FractionRows])

    def constant(self, rows: Grid) -> SymbolicValue:
        if self.log.naming is Naming.BRANCHES:
            return rows
        number, named = self.log.terms.number, self.log.named
        return tuple(
            tuple(named(number(x), AssertionSource.EMBEDDING) for x in row) for row in rows.fractions()
        )

    def take(self, values: SymbolicValue, rows: Sequence[int]) -> SymbolicValue:
        return values.take(rows) if isinstance(values, Grid) else tuple(values[row] for row in rows)

    def add(self, left: SymbolicValue, right: SymbolicValue) -> SymbolicValue:
        if isinstance(left, Grid) and isinstance(right, Grid):
            return Exact().add(left, right)
        ones, others = self.sums(left), self.sums(right)
        count = max(len(ones), len(others))
        pairs = zip(_spread(ones, count), _spread(others, count), strict=True)
        plus = self.log.terms.plus
        added = [[plus(a, b) for a, b in zip(one, other, strict=True)] for one, other in pairs]
        return self._named(added, AssertionSource.EMBEDDING)

    def affine(self, values: SymbolicValue, weight: Grid, bias: Grid | None) -> SymbolicValue:
        if isinstance(values, Grid):
            return Exact().affine(values, weight, bias)
        maps = self._fractions(weight)
        shifts = [Fraction(0)] * len(maps) if bias is None else self._fractions(bias)[0]
        combine, pairs = self.log.terms.combine, list(zip(maps, shifts, strict=True))
        mapped = [[combine(zip(row, one, strict=True), shift) for one, shift in pairs] for row in values]
        return self._named(mapped, self.source)

    def mix(self, rows: Sequence[RationalRow], values: SymbolicValue) -> SymbolicValue:
        if isinstance(values, Grid):
            return Exact().mix(rows, values)
        combine, columns = self.log.terms.combine, list(zip(*values, strict=True))
        mixed = [
            [combine((one[source], weight) for source, weight in row) for one in columns] for row in rows
        ]
        return self._named(mixed, AssertionSource.ATTENTION)

    def rotate(self, values: SymbolicValue, cosines: Grid, sines: Grid) -> SymbolicValue:
        if isinstance(values, Grid):
            return Exact().rotate(values, cosines, sines)
        tables = (_spread(self._fractions(table), len(values)) for table in (cosines, sines))
        return tuple(self._turned(*row) for row in zip(values, *tables, strict=True))

    def scores(
        self, queries: SymbolicValue, keys: SymbolicValue, contexts: Contexts, scale: Fraction
    ) -> WeightRows:
        if isinstance(queries, Grid) and isinstance(keys, Grid):
            return Exact().scores(queries, keys, contexts, scale)
        ones, others = self.sums(queries), self.sums(keys)
        found = [
            [self._dot(ones[query], others[key], scale) for key in chosen] for query, chosen, *_ in contexts
        ]
        return self._named(found, AssertionSource.ATTENTION)

    def attention(self, scores: WeightRows, attention: Attention) -> WeightRows:
        attention.require_exact()
        followed = self._follow(Supports)
        if _is_known(scores):
            return Exact().attention(scores, attention)
        supports = [None] * len(scores) if followed is None else followed.supports
        rows = zip(self._weight_sums(scores), supports, strict=True)
        return tuple(tuple(self._pieces(AssertionSource.ATTENTION).sparsemax(*row)) for row in rows)

    def weigh(self, weights: WeightRows, contexts: Contexts, values: SymbolicValue) -> SymbolicValue:
        if _is_known(weights) and isinstance(values, Grid):
            return Exact().weigh(weights, contexts, values)
        rows = zip(contexts, self._weight_sums(weights), strict=True)
        columns = list(zip(*self.sums(values), strict=True))
        mixed = [[self._dot(row, [one[key] for key in at.values]) for one in columns] for at, row in rows]
        return self._named(mixed, AssertionSource.ATTENTION)

    def activate(self, values: SymbolicValue, activation: Activation) -> SymbolicValue:
        slope = slope_of(activation)
        followed = self._follow(Signs)
        if isinstance(values, Grid):
            return Exact().activate(values, activation)
        signs = [[None] * len(row) for row in values] if followed is None else followed.signs.tolist()
        return tuple(
            tuple(
                self._pieces(AssertionSource.MLP).rectify(x, slope, sign)
                for x, sign in zip(row, own, strict=True)
            )
            for row, own in zip(values, signs, strict=True)
        )

    def normalise(self, values: SymbolicValue, norm: Norm, gain: tuple[Grid, Grid]) -> SymbolicValue:
        band = band_of(norm)
        if band is None:
            return values
        branches = self._follow(BandBranches)
        if isinstance(values, Grid):
            return Exact().normalise(values, norm, gain)
        sides = [None] * len(values) if branches is None else branches.sides
        return tuple(self._band(row, band, gain, side) for row, side in zip(values, sides, strict=True))

    def sums(self, values: SymbolicValue) -> SumRows:
        """Return values as terms, the known ones as constants."""
        if not isinstance(values, Grid):
            return values
        number = self.log.terms.number
        return tuple(tuple(map(number, row)) for row in values.fractions())

    def _turned(
        self, row: Sequence[Sum], cosines: Sequence[Fraction], sines: Sequence[Fraction]
    ) -> tuple[Sum, ...]:
        combine, half = self.log.terms.combine, len(cosines)
        pairs = list(zip(row[:half], row[half : 2 * half], cosines, sines, strict=True))
        first = [combine(((a, cos), (b, -sin))) for a, b, cos, sin in pairs]
        second = [combine(((b, cos), (a, sin))) for a, b, cos, sin in pairs]
        (turned,) = self._named([[*first, *second]], AssertionSource.ATTENTION)
        return (*turned, *row[2 * half :])

    def _band(
        self, row: Sequence[Sum], norm: BandNorm, gain: tuple[Grid, Grid], sides: Sides | None
    ) -> tuple[Sum, ...]:
        pieces = self._pieces(AssertionSource.NORM)
        scale, shift = (self._fractions(grid)[0] for grid in gain)
        combine = self.log.terms.combine
        return tuple(
            pieces.group.output(combine(((number, factor),), plus))
            for number, factor, plus in zip(pieces.band(row, norm, sides), scale, shift, strict=True)
        )

    def _pieces(self, source: AssertionSource) -> Pieces:
        return Pieces(self.log.group(source), self.unknowns)

    def _follow(self, kind: type[Found]) -> Found | None:
        """Return the next branches of the trace, if one is followed."""
        if self.trace is None:
            return None
        found = next(self.trace, None)
        if not isinstance(found, kind):
            raise DeclarationError(
                f"the trace has {type(found).__name__} where the forward pass wants {kind.__name__}"
            )
        return found

    def _dot(self, left: Sequence[Sum], right: Sequence[Sum], scale: Fraction = Fraction(1)) -> Sum:
        pairs = zip(left, right, strict=True)
        products = (self.log.times(one, other, AssertionSource.ATTENTION) for one, other in pairs)
        return self.log.terms.combine((product, scale) for product in products)

    def _named(self, rows: Sequence[Sequence[Sum]], source: AssertionSource) -> SumRows:
        return tuple(tuple(self.log.define(value, source) for value in row) for row in rows)

    def _weight_sums(self, weights: WeightRows) -> SumRows:
        number = self.log.terms.number
        return tuple(tuple(map(number, r.fractions())) if isinstance(r, Row) else r for r in weights)

    def _fractions(self, grid: Grid) -> FractionRows:
        """Return the entries of a grid of weights, computed once."""
        if grid not in self._read:
            self._read[grid] = grid.fractions()
        return self._read[grid]


def _is_known(weights: WeightRows) -> TypeGuard[tuple[Row, ...]]:
    return all(isinstance(row, Row) for row in weights)


def _spread(rows: tuple[T, ...], count: int) -> tuple[T, ...]:
    return rows * count if len(rows) == 1 else rows
