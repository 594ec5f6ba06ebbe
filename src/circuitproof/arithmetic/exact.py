"""Exact numbers as an arithmetic: every operation on rationals, every branch chosen and recorded."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from circuitproof.arithmetic import limbs
from circuitproof.arithmetic.contexts import pair_products, weighed
from circuitproof.arithmetic.grid import (
    Grid,
    Row,
    add,
    grid_of_rows,
    make_row,
    matmul,
    matmul_transposed,
    multiply,
    multiply_columns,
    rotate,
    row_of_fractions,
    twos,
)
from circuitproof.arithmetic.limbs import Integers, Limbs, limbs_of
from circuitproof.arithmetic.projection import project
from circuitproof.arithmetic.protocol import Contexts, RationalRow
from circuitproof.models.operators import Activation, Attention, BandNorm, Lift, Norm, band_of, slope_of


@dataclass(frozen=True, slots=True, eq=False)
class Signs:
    """The branch of an activation: -1, 0 or 1 per number. At zero both branches give zero."""

    signs: npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Supports:
    """The branch of sparsemax: the keys of positive weight, per row."""

    supports: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class SideBranch:
    """What BandNorm did to one side of a row: where its mass was, and which coordinates are positive."""

    position: int
    """-1 below the band, 0 inside, 1 above."""
    support: tuple[int, ...]


Sides: TypeAlias = tuple[SideBranch, SideBranch]
"""The branches of the two sides of a band."""


@dataclass(frozen=True, slots=True)
class BandBranches:
    """The branches of BandNorm: the positive and the negative side, per row."""

    sides: tuple[tuple[SideBranch, SideBranch], ...]


Witness = Signs | Supports | BandBranches

_BLOCK = 64
"""How many attention rows are scored by one product."""
_MANY_NUMBERS = 1 << 9
_MOST_TERMS = 64
_MACHINE_BITS = 63


@dataclass(slots=True)
class Exact:
    """The arithmetic of rationals. `witnesses` lists the branches taken, in order of computation."""

    witnesses: list[Witness] = field(default_factory=list[Witness])

    def constant(self, rows: Grid) -> Grid:
        return rows

    def take(self, values: Grid, rows: Sequence[int]) -> Grid:
        return values.take(rows)

    def add(self, left: Grid, right: Grid) -> Grid:
        return add(left, right)

    def affine(self, values: Grid, weight: Grid, bias: Grid | None) -> Grid:
        product = matmul_transposed(values, weight)
        return product if bias is None else add(product, bias)

    def mix(self, rows: Sequence[RationalRow], values: Grid) -> Grid:
        if _are_many(len(rows), values) and max(map(len, rows)) <= _MOST_TERMS:
            return _mixed(
                [row_of_fractions([weight for _, weight in row]) for row in rows], _sources(rows), values
            )
        numbers = values.numbers.astype(object)
        mixed = np.zeros((len(rows), values.shape[1]), dtype=object)
        denominators: list[int] = []
        for place, row in enumerate(rows):
            common = lcm(*(weight.denominator * values.denominators[source] for source, weight in row))
            for source, weight in row:
                mixed[place] += numbers[source] * (common // values.denominators[source] * weight).numerator
            denominators.append(common)
        return Grid(mixed, values.exponent, tuple(denominators))

    def rotate(self, values: Grid, cosines: Grid, sines: Grid) -> Grid:
        return rotate(values, cosines, sines)

    def scores(self, queries: Grid, keys: Grid, contexts: Contexts, scale: Fraction) -> tuple[Row, ...]:
        """Return for each context the scaled products of its query with its keys.

        A block of contexts at a time: all queries with all keys would grow with the square of the batch.
        """
        if _are_many(len(contexts), keys):
            return tuple(_pair_scores(queries, keys, contexts, scale))
        return tuple(
            row
            for start in range(0, len(contexts), _BLOCK)
            for row in _block_scores(queries, keys, contexts[start : start + _BLOCK], scale)
        )

    def attention(self, scores: tuple[Row, ...], attention: Attention) -> tuple[Row, ...]:
        attention.require_exact()
        projections = [project(row.numbers, row.denominator) for row in scores]
        self.witnesses.append(Supports(tuple(found.support for found in projections)))
        pairs = zip(projections, scores, strict=True)
        return tuple(Row(found.weights, found.divisor * row.denominator) for found, row in pairs)

    def weigh(self, weights: tuple[Row, ...], contexts: Contexts, values: Grid) -> Grid:
        if _are_many(len(contexts), values):
            return _mixed(
                [row.reduced() for row in weights], [context.values for context in contexts], values
            )
        rows = [
            tuple(
                (key, weight) for key, weight in zip(context.values, row.fractions(), strict=True) if weight
            )
            for context, row in zip(contexts, weights, strict=True)
        ]
        return self.mix(rows, values)

    def activate(self, values: Grid, activation: Activation) -> Grid:
        slope, content = slope_of(activation), values.content
        numbers = content.parts[-1] if isinstance(content, Limbs) else content
        is_negative = np.asarray(numbers < 0, dtype=bool)
        is_other = (
            content.parts.any(axis=0) if isinstance(content, Limbs) else np.asarray(content != 0, dtype=bool)
        )
        self.witnesses.append(Signs(is_other.astype(np.int8) - 2 * is_negative.astype(np.int8)))
        factors = np.where(is_negative, *(_whole(one) for one in (slope.numerator, slope.denominator)))
        if isinstance(content, Limbs):
            bent = limbs.multiply(content, limbs_of(factors))
        else:
            bent = content.astype(object) * factors
        return Grid(bent, values.exponent, tuple(d * slope.denominator for d in values.denominators))

    def normalise(self, values: Grid, norm: Norm, gain: tuple[Grid, Grid]) -> Grid:
        band = band_of(norm)
        if band is None:
            return values
        banded = [_band(row, band) for row in values.rows()]
        self.witnesses.append(BandBranches(tuple(branches for _, branches in banded)))
        balanced = grid_of_rows([row for row, _ in banded], values.shape[1])
        return add(multiply_columns(balanced, gain[0]), gain[1])


def _are_many(rows: int, values: Grid) -> bool:
    """Say whether rows made of some others are quicker to make in limbs, which want one denominator."""
    return rows * values.shape[1] >= _MANY_NUMBERS and len(set(values.denominators)) == 1


def _pair_scores(queries: Grid, keys: Grid, contexts: Contexts, scale: Fraction) -> Iterator[Row]:
    products = pair_products(queries.limbs(), keys.limbs(), contexts)
    exponent, below = queries.exponent + keys.exponent, keys.denominators[0] * scale.denominator
    for context in contexts:
        numbers = [next(products) * scale.numerator for _ in context.keys]
        yield make_row(numbers, exponent, queries.denominators[context.query] * below)


def _sources(rows: Sequence[RationalRow]) -> list[tuple[int, ...]]:
    return [tuple(source for source, _ in row) for row in rows]


def _mixed(weights: Sequence[Row], chosen: Sequence[Sequence[int]], values: Grid) -> Grid:
    """Return sums of rows of one denominator; powers of two below the weights go to the exponent."""
    powers = [twos(row.denominator) for row in weights]
    most = max(powers, default=0)
    shares = [
        [number << (most - power) for number in row.numbers]
        for row, power in zip(weights, powers, strict=True)
    ]
    below = values.denominators[0]
    denominators = tuple(
        [(row.denominator >> power) * below for row, power in zip(weights, powers, strict=True)]
    )
    return Grid(weighed(shares, chosen, values.limbs()), values.exponent - most, denominators)


def _whole(number: int) -> Integers:
    """Return an integer as an array: of a machine integer where it is one."""
    return (
        np.array(number)
        if number.bit_length() < _MACHINE_BITS
        else np.array([number, None], dtype=object)[0:1]
    )


def _block_scores(queries: Grid, keys: Grid, contexts: Contexts, scale: Fraction) -> Iterator[Row]:
    asked = sorted({context.query for context in contexts})
    attended = sorted({key for context in contexts for key in context.keys})
    rows = {query: place for place, query in enumerate(asked)}
    columns = {key: place for place, key in enumerate(attended)}
    products = multiply(matmul(queries.take(asked), keys.take(attended).transposed()), scale)
    for query, chosen, *_ in contexts:
        row = rows[query]
        numbers = products.numbers[row, [columns[key] for key in chosen]].tolist()
        yield make_row(numbers, products.exponent, products.denominators[row])


def _band(row: Row, norm: BandNorm) -> tuple[Row, tuple[SideBranch, SideBranch]]:
    """Return a row centred, with both sides brought into the band, and centred again."""
    units = lcm(norm.low.denominator, norm.high.denominator)
    centred = _centred(row.over(units))
    low, high = (int(mass * centred.denominator) for mass in (norm.low, norm.high))
    negated = tuple(-number for number in centred.numbers)
    positive, up = _side(centred.numbers, (low, high), norm.lift, spare=0)
    negative, down = _side(negated, (low, high), norm.lift, spare=1)
    common = lcm(positive.denominator, negative.denominator)
    first, second = (side.over(common // side.denominator).numbers for side in (positive, negative))
    difference = tuple(one - other for one, other in zip(first, second, strict=True))
    return _centred(Row(difference, common * centred.denominator)), (up, down)


def _centred(row: Row) -> Row:
    total, count = sum(row.numbers), len(row.numbers)
    return Row(tuple(count * number - total for number in row.numbers), count * row.denominator)


def _side(values: Sequence[int], band: tuple[int, int], lift: Lift, spare: int) -> tuple[Row, SideBranch]:
    """Bring the positive side into the band; every second place from `spare` takes an empty one's mass."""
    side = tuple(max(value, 0) for value in values)
    mass = sum(side)
    position = (mass > band[1]) - (mass < band[0])
    support = tuple(place for place, value in enumerate(side) if value)
    if position == 0:
        return Row(side, 1), SideBranch(0, support)
    if position < 0 and lift.shares_equally:
        takers = support or tuple(range(spare, len(values), 2))
        lifted = [value * len(takers) for value in side]
        for place in takers:
            lifted[place] += band[0] - mass
        return Row(tuple(lifted), len(takers)), SideBranch(-1, takers)
    found = project(values, band[0] if position < 0 else band[1])
    return Row(found.weights, found.divisor), SideBranch(position, found.support)
