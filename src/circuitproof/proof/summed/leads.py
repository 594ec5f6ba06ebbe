"""Whether one candidate leads the others on all prompts of a region: boxes of what heads add, and weights.

The rules are those of docs/certificate.md ("Least sums over a region"); each number here is below, or above,
the integer of that page, whichever makes the least sum smaller.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from circuitproof.circuits.graph import Head
from circuitproof.proof.summed.lattice import TokenMask
from circuitproof.proof.summed.least import (
    LatticeRegion,
    TokenCosts,
    down,
    least_paths,
    leasts,
    path,
    through,
)
from circuitproof.proof.summed.tables import Bools, FloatArray, LengthTable, SummedTables

_SLACK = 2.0**-46
"""More than a hundred roundings of FP64, as a share of the largest number among them."""
_MOST_NUMBERS = 1 << 22
"""How many costs are held at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class LeadQuestions:
    """Last tokens, by their places in a table, and rivals, each with a box: what each head adds, at most."""

    queries: npt.NDArray[np.int64]
    rivals: npt.NDArray[np.int64]
    low: FloatArray
    """By question and head."""
    high: FloatArray

    def __len__(self) -> int:
        return len(self.queries)

    def __getitem__(self, chosen: npt.NDArray[np.int64] | Bools | slice) -> "LeadQuestions":
        return LeadQuestions(self.queries[chosen], self.rivals[chosen], self.low[chosen], self.high[chosen])


@dataclass(frozen=True, slots=True, eq=False)
class _CostFactor:
    """What an exponential of a head is multiplied with: by question, a slope times what it adds, a shift."""

    slope: FloatArray
    shift: FloatArray
    size: FloatArray
    """How large the parts of the shift are."""

    def cost(self, sides: Sequence[FloatArray], powers: Sequence[FloatArray]) -> FloatArray:
        """Return the products with exponentials between bounds, from below."""
        side = sides[0]
        if (self.slope < 0).any():
            side = np.where(self.slope >= 0, *sides)
        largest = np.abs(side).max(axis=1, keepdims=True, initial=0.0)
        factor = self.slope * side
        factor += self.shift - _SLACK * (self.size + np.abs(self.slope) * largest)
        return np.minimum(powers[0] * factor, powers[1] * factor)


@dataclass(frozen=True, eq=False)
class Leads:
    """One region, and the candidate that is to lead there."""

    tables: SummedTables
    table: LengthTable
    region: LatticeRegion
    winner: int

    @cached_property
    def queries(self) -> tuple[int, ...]:
        """Return the places of the tokens with which prompts of the region end."""
        return tuple(map(self.table.queries.index, self.region.lattice.last_tokens(self.region.masks)))

    @property
    def query(self) -> int:
        """Return the first of them: of a region with one last token, that."""
        return self.queries[0]

    @cached_property
    def _pairs(self) -> dict[int, Bools]:
        """Return by last token the pairs of the region."""
        known, found = dict[bytes, Bools](), dict[int, Bools]()
        for query in self.queries:
            token = self.table.queries[query]
            name = self.region.lattice.ends[:, token].tobytes()
            if name not in known:
                known[name] = self.region.lattice.pairs(token, self.region.masks)
            found[query] = known[name].copy()
            found[query][-1] = False
            found[query][-1, token] = True
        return found

    @cached_property
    def _sides(self) -> tuple[tuple[FloatArray, FloatArray], ...]:
        """Return for each head what it adds to the lead over each candidate, from below and from above."""
        found: list[tuple[FloatArray, FloatArray]] = []
        for one in self.tables.contributions:
            middle, off = one.middle[: self.table.length], 2 * one.off[: self.table.length, :, None]
            lead = middle[:, :, self.winner, None] - middle
            found.append((_by_rival(lead - off), _by_rival(lead + off)))
        return tuple(found)

    @cached_property
    def base(self) -> FloatArray:
        """Return by how much the candidate leads each other without heads, from below."""
        base = self.table.base
        return down(base[:, self.winner, None] - base - 2 * self.table.base_off[:, None])

    @cached_property
    def _powers(self) -> tuple[tuple[FloatArray, FloatArray], ...]:
        """Return for each head its exponentials by query, so scaled that the region's largest is about 1."""
        found: list[tuple[FloatArray, FloatArray]] = []
        for head in self.table.heads:
            low, high = np.zeros_like(head.low), np.zeros_like(head.high)
            for query, pairs in self._pairs.items():
                largest = int(head.bits[query][pairs].max())
                lift = int(head.scales[query]) - 500 - largest
                low[query] = np.ldexp(head.low[query], lift) * (1 - _SLACK)
                high[query] = np.ldexp(head.high[query], lift) * (1 + _SLACK)
            found.append((low, high))
        return tuple(found)

    @property
    def heads(self) -> int:
        return len(self._sides)

    def head(self, place: int) -> Head:
        return self.tables.rows.summed.heads[place]

    def all_questions(self) -> LeadQuestions:
        """Return every last token with every rival, in their first boxes."""
        count = self.base.shape[1]
        rivals = np.array([rival for rival in range(count) if rival != self.winner], dtype=np.int64)
        queries = np.array(self.queries, dtype=np.int64)
        low, high = (np.empty((len(queries), len(rivals), len(self._sides))) for _ in range(2))
        for place, query in enumerate(self.queries):
            pairs = self._pairs[query]
            for head, (least, most) in enumerate(self._sides):
                low[place, :, head] = least[:, pairs].min(axis=1)[rivals]
                high[place, :, head] = most[:, pairs].max(axis=1)[rivals]
        asked = np.repeat(queries, len(rivals)), np.tile(rivals, len(queries))
        shape = (len(asked[0]), len(self._sides))
        return LeadQuestions(*asked, low.reshape(shape), high.reshape(shape))

    def plain_weights(self, questions: LeadQuestions) -> FloatArray:
        """Return the weights that stand where none are given."""
        return np.tile([1.0, 0.0], (len(questions), len(self._sides)))

    def closed(self, questions: LeadQuestions, weights: FloatArray) -> Bools:
        """Say which boxes weights close."""
        found = np.empty(len(questions), dtype=bool)
        for some in self._parts(len(questions)):
            part = questions[some]
            apart = self._lead(part) + part.low.sum(axis=1)
            is_apart = down(apart - _SLACK * (np.abs(part.low).sum(axis=1) + np.abs(apart))) > 0
            found[some] = is_apart
            left = np.flatnonzero(~is_apart)
            if len(left) and self._sides:
                found[some.start + left] = self.values(part[left], weights[some][left]) > 0
        return found

    def values(self, questions: LeadQuestions, weights: FloatArray) -> FloatArray:
        """Return the least sums of weights over the prompts, from below."""
        costs, lasts = self._costs(questions, weights)
        return leasts(self.region, costs, lasts, self._ended(questions))

    def worst(self, questions: LeadQuestions, weights: FloatArray, place: int) -> tuple[int, ...]:
        """Return a prompt on which the sum of a question is about the least."""
        one = questions[place : place + 1]
        costs, lasts = self._costs(one, weights[place : place + 1])
        token = self.table.queries[int(one.queries[0])]
        found = path(self.region, costs, float(lasts[0]), self._ended(one), token)
        assert found is not None  # noqa: S101  # questions are about prompts that are there
        return found

    def overlooked(
        self, questions: LeadQuestions, weights: FloatArray
    ) -> tuple[npt.NDArray[np.int64], FloatArray, FloatArray]:
        """Return prompts whose sums are about the least, what each weight counts there, and the lead there.

        All of it is about so: it says where to look, and decides nothing.
        """
        costs, lasts = self._costs(questions, weights)
        ended, tokens = self._ended(questions), np.array(self.table.queries)[questions.queries]
        prompts = np.column_stack([least_paths(self.region, costs, lasts, ended), tokens])
        places, upper = np.arange(self.table.length), self.limits(questions)
        lead = self._lead(questions)
        counted: list[FloatArray] = []
        for head, ((power, _), (side, _)) in enumerate(zip(self._powers, self._sides, strict=True)):
            own = power[questions.queries[:, None], places, prompts]
            total = own.sum(axis=1)
            mean = (own * side[questions.rivals[:, None], places, prompts]).sum(axis=1) / total
            lead = lead + mean
            counted += [total * (mean - upper[:, head]), total * (questions.low[:, head] - mean)]
        return prompts, np.column_stack(counted), lead

    def bad_tokens(self, questions: LeadQuestions, weights: FloatArray) -> list[TokenMask]:
        """Return for each position but the last the tokens with which some question is open."""
        costs, lasts = self._costs(questions, weights)
        tables = through(self.region, costs, lasts, self._ended(questions))
        found: list[TokenMask] = []
        for columns, table in zip(self.region.columns, tables, strict=True):
            found.append(np.zeros(self.region.lattice.vocabulary, dtype=bool))
            found[-1][columns] = (table <= 0).any(axis=0)
        return found

    def _lead(self, questions: LeadQuestions) -> FloatArray:
        return self.base[questions.queries, questions.rivals]

    def _parts(self, count: int) -> Iterator[slice]:
        size = self.region.lattice.vocabulary + sum(self.region.lattice.sizes)
        step = max(1, _MOST_NUMBERS // size)
        return (slice(start, min(count, start + step)) for start in range(0, count, step))

    def _ended(self, questions: LeadQuestions) -> Bools:
        tokens = np.array(self.table.queries)[questions.queries]
        return self.region.lattice.ends[:, tokens].T

    def _costs(self, questions: LeadQuestions, weights: FloatArray) -> tuple[TokenCosts, FloatArray]:
        """Return what tokens cost at a position, and what the last one does, from below."""
        factors = self._factors(questions, weights)
        count, last = len(questions), self.table.length - 1

        def costs(position: int) -> FloatArray:
            at = np.ix_(questions.queries, self.region.columns[position])
            near = np.ix_(questions.rivals, self.region.columns[position])
            total: FloatArray | None = None
            for (low, high), sides, own in zip(self._powers, self._sides, factors, strict=True):
                added = own.cost(
                    tuple(side[:, position][near] for side in sides),
                    (low[:, position][at], high[:, position][at]),
                )
                total = added if total is None else down(total + added)
            return np.zeros((count, near[1].shape[1])) if total is None else total

        tokens = np.array(self.table.queries)[questions.queries]
        ends = np.zeros(count)
        for (low, high), sides, own in zip(self._powers, self._sides, factors, strict=True):
            sides_there = tuple(side[questions.rivals, last, tokens][:, None] for side in sides)
            powers = tuple(one[questions.queries, last, tokens][:, None] for one in (low, high))
            ends = down(ends + own.cost(sides_there, powers)[:, 0])
        return costs, ends

    def _factors(self, questions: LeadQuestions, weights: FloatArray) -> "list[_CostFactor]":
        upper = self.limits(questions)
        over, under = weights[:, 0::2], weights[:, 1::2]
        shift = under * questions.low - over * upper
        size = np.abs(under * questions.low) + np.abs(over * upper)
        heads = range(len(self._sides))
        return [
            _CostFactor((over - under)[:, head, None], shift[:, head, None], size[:, head, None])
            for head in heads
        ]

    def limits(self, questions: LeadQuestions) -> FloatArray:
        """Return what each head adds at most where the rival is not behind, from above."""
        lead, total = self._lead(questions)[:, None], questions.low.sum(axis=1, keepdims=True)
        rest = total - questions.low
        size = np.abs(lead) + np.abs(questions.low).sum(axis=1, keepdims=True)
        return np.minimum(questions.high, -lead - rest + _SLACK * size)


def _by_rival(numbers: FloatArray) -> FloatArray:
    """Return numbers by rival, position and token in the place of position, token and rival."""
    return np.ascontiguousarray(np.moveaxis(numbers, 2, 0))


def masks_with(
    masks: Sequence[TokenMask | None], position: int, mask: TokenMask
) -> tuple[TokenMask | None, ...]:
    """Return masks with those tokens alone at a position, of those that were there."""
    old = masks[position]
    new = mask if old is None else mask & old
    return (*masks[:position], new, *masks[position + 1 :])
