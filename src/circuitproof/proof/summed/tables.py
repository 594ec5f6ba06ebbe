"""The numbers that leads are summed from, as floats: each is below, or above, the integer that it stands for.

docs/certificate.md names the integers ("Least sums over a region"). A float is rounded once when it is made
of an integer, and then moved past that rounding, so that whatever is found with such floats holds of the
integers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from circuitproof.arithmetic import limbs
from circuitproof.arithmetic.balls import Balls, root_above
from circuitproof.arithmetic.limb_functions import floor_exp
from circuitproof.arithmetic.limbs import Integers, column, factor_of, limbs_of
from circuitproof.circuits.graph import Head
from circuitproof.errors import NumericError
from circuitproof.proof.summed.rows import LocalRows, TokenPairs

FloatArray: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]

_APART = 2.0**-50
"""A few roundings of FP64 are no larger a share of a number than this."""
_HEIGHT = 500
"""Exponentials count units of 2^-500 of the largest, so that the least do not vanish."""
_MOST_GUARD = 1024
_GUARD_STEP = 32
_AT_ONCE = 1 << 14
"""How many pairs are computed together."""


@dataclass(frozen=True, slots=True, eq=False)
class HeadTable:
    """What a head adds for one length: by query where it depends on that, by position and token."""

    low: FloatArray
    """Exponentials, from below: query, position, token; zero where no prompt has the pair."""
    high: FloatArray
    bits: npt.NDArray[np.int64]
    """How many bits the exponential has, in units of 2^-(p + g)."""
    scales: npt.NDArray[np.int64]
    """For each query p + g: its exponentials count units of 2 to minus that."""


@dataclass(frozen=True, slots=True, eq=False)
class Contributions:
    """The logits that a head gives by position, token and candidate, and how far they may be off."""

    middle: FloatArray
    off: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class LengthTable:
    """What is known of prompts of one length: for each last token the base, for each head its table."""

    length: int
    queries: tuple[int, ...]
    base: FloatArray
    """By query and candidate."""
    base_off: FloatArray
    heads: tuple[HeadTable, ...]


class SummedTables:
    """The tables of one circuit, each made when it is first needed."""

    def __init__(self, rows: LocalRows, pairs: Bools) -> None:
        """Take the pairs, by position and token, that prompts of the pattern have."""
        self.rows, self._there = rows, pairs
        self.precision = rows.arithmetic.precision
        self._places = [tuple(map(int, pair)) for pair in np.argwhere(pairs)]
        self.pairs = [(token, position) for position, token in self._places]
        self.contributions = tuple(self._contributions(head) for head in rows.summed.heads)
        self._keys = tuple(self._in_parts(head) for head in rows.summed.heads)
        self.exps = 0

    def _contributions(self, head: Head) -> Contributions:
        shape = self._there.shape
        middle, off = np.zeros((*shape, len(self.rows.candidates))), np.zeros(shape)
        for start in range(0, len(self.pairs), _AT_ONCE):
            some = self.pairs[start : start + _AT_ONCE]
            found, reach = _floats(self.rows.contributions(head, some), self.precision)
            positions, tokens = np.array([place for _, place in some]), np.array([token for token, _ in some])
            middle[positions, tokens], off[positions, tokens] = found, reach
        return Contributions(middle, off)

    def _in_parts(self, head: Head) -> Balls:
        found = [
            self.rows.keys(head, self.pairs[start : start + _AT_ONCE])
            for start in range(0, len(self.pairs), _AT_ONCE)
        ]
        numbers = limbs.joined([one.numbers for one in found])
        return Balls(numbers, tuple(radius for one in found for radius in one.radii))

    def of_length(self, length: int, queries: Sequence[int], pairs: Bools) -> LengthTable:
        """Return the table of prompts of a length with some last tokens, whose pairs are given for each."""
        asked = [(token, length - 1) for token in queries]
        base, off = _floats(self.rows.base(asked), self.precision)
        heads = tuple(
            self._of_head(place, head, asked, pairs) for place, head in enumerate(self.rows.summed.heads)
        )
        return LengthTable(length, tuple(queries), base, off, heads)

    def _of_head(self, place: int, head: Head, asked: TokenPairs, pairs: Bools) -> HeadTable:
        keys, length = self._keys[place], pairs.shape[1]
        chosen = [at for at, (position, _) in enumerate(self._places) if position < length]
        known = Balls(keys.numbers[chosen], tuple(keys.radii[at] for at in chosen))
        places = np.array([self._places[at] for at in chosen]).reshape(-1, 2)
        scored = _Scored(self.rows.queries(head, asked), known, self._scale, self.precision)
        table = _empty(pairs.shape)
        waiting = dict[int, list[_DueScores]]()
        for query, scores in enumerate(scored.scores()):
            meant = np.flatnonzero(pairs[query][places[:, 0], places[:, 1]])
            own = scores[meant]
            guard = _guard(max(own) - min(own), self.precision)
            table.scales[query] = self.precision + guard
            at = (query, places[meant, 0], places[meant, 1])
            waiting.setdefault(guard, []).append(_DueScores(own - max(own), at, scored.off(query, meant)))
        for guard, members in waiting.items():
            self._exponentials(table, guard, members)
        return table

    @property
    def _scale(self) -> Fraction:
        return self.rows.frozen.architecture.attention_scale

    def _exponentials(self, table: HeadTable, guard: int, members: Sequence["_DueScores"]) -> None:
        """Fill in the exponentials of some queries, whose guard is the same."""
        bits = self.precision + guard
        below = column(int(score) << guard for one in members for score in one.scores)
        found = iter(floor_exp(limbs_of(below), bits).integers().tolist())
        self.exps += len(below)
        for one in members:
            powers = [next(found) for _ in one.scores]
            table.low[one.at], table.high[one.at] = _bounds(powers, one.off, bits)
            table.bits[one.at] = [power.bit_length() for power in powers]


@dataclass(frozen=True, slots=True, eq=False)
class _DueScores:
    """The scores of a query less the largest, where they belong, and how far each may be off."""

    scores: Integers
    at: tuple[int, npt.NDArray[np.int64], npt.NDArray[np.int64]]
    off: FloatArray


@dataclass(frozen=True, eq=False)
class _Scored:
    """Queries and keys, of which scores are made."""

    queries: Balls
    keys: Balls
    scale: Fraction
    precision: int

    def scores(self) -> Integers:
        """Return the scores of all queries with all keys, in units."""
        products = limbs.product(self.queries.numbers, factor_of(self.keys.numbers.integers().T))
        scaled = limbs.times(products, self.scale.numerator)
        return limbs.shift(scaled, 1 - self.scale.denominator.bit_length() - self.precision).integers()

    def off(self, query: int, meant: npt.NDArray[np.int64]) -> FloatArray:
        """Return by how much some scores of a query may be off, from above."""
        chosen: list[int] = meant.tolist()
        asked, reach, one = self._lengths[0][query], self.queries.radii[query], 1 << self.precision
        found = [
            _up(
                self.scale.numerator * (asked * off + length * reach + off * reach),
                one * self.scale.denominator,
            )
            + 1
            for length, off in ((self._lengths[1][key], self.keys.radii[key]) for key in chosen)
        ]
        if max(found) > one:
            raise NumericError(
                f"scores are known to more than 1 at a precision of {self.precision} bits; want more bits"
            )
        return np.array([number / one for number in found]) * (1 + _APART)

    @cached_property
    def _lengths(self) -> tuple[list[int], list[int]]:
        return _lengths(self.queries), _lengths(self.keys)


def _guard(spread: int, precision: int) -> int:
    """Return how many bits more the exponentials have, so that the least keeps as many as the precision."""
    return min(_MOST_GUARD, _GUARD_STEP * _up(3 * spread, 1 << (precision + 6)))


def _empty(shape: tuple[int, ...]) -> HeadTable:
    return HeadTable(
        np.zeros(shape), np.zeros(shape), np.zeros(shape, np.int64), np.zeros(shape[0], np.int64)
    )


def _bounds(powers: Sequence[int], off: FloatArray, bits: int) -> tuple[FloatArray, FloatArray]:
    """Return E - ⌈E·δ⌉ from below and E + 1 + ⌈2(E + 1)δ⌉ from above, in units of 2^-500."""
    extra, lift = max(0, bits - _HEIGHT), 2.0 ** max(0, _HEIGHT - bits)
    unit = 2.0 ** max(_HEIGHT - bits, -1000)
    least = np.array([float(power >> extra) for power in powers]) * lift * (1 - _APART)
    most = np.array([float((power >> extra) + (extra > 0)) for power in powers]) * lift * (1 + _APART)
    low = least - (most * off + unit) * (1 + 2 * _APART)
    high = ((most + unit) * (1 + 2 * off) + unit) * (1 + 4 * _APART)
    return np.maximum(low, 0.0), high


def _floats(rows: Balls, precision: int) -> tuple[FloatArray, FloatArray]:
    """Return rows as floats in units of 1, and how far each number may be off, rounding included."""
    numbers: list[list[int]] = rows.numbers.integers().tolist()
    middle = np.array([[number / (1 << precision) for number in row] for row in numbers])
    largest = np.abs(middle).max(axis=1, initial=0.0)
    reach = np.array([radius / (1 << precision) for radius in rows.radii]) * (1 + _APART)
    return middle, reach + largest * _APART + 2.0**-1000


def _lengths(rows: Balls) -> list[int]:
    """Return the Euclidean lengths of rows, rounded up."""
    totals = limbs.row_products(rows.numbers, rows.numbers).integers().tolist()
    return [root_above(total) for total in totals]


def _up(over: int, under: int) -> int:
    return -(-over // under)
