"""Whether the least of a sum over positions shows that a candidate leads, in boxes of what heads add."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import add, mul

from circuitproof_check.enclosed.prices import spend
from circuitproof_check.reading import require
from circuitproof_check.work import NUMBER, OBJECT

from .cells import CellGraph
from .contributions import CellLeads
from .cuts import CutTree, CutWeights
from .rows import SummedHead
from .tables import Exponentials

CUT_BITS = 16
"""Where a range is divided, numbers count so many binary digits."""
TOKEN, MOVE = 4, 8
"""Operations for the product of an exponential with what a token adds, and for an edge of a path."""
Box = tuple[tuple[int, int], ...]
"""For each head between which integers that lies which it adds to the lead."""


@dataclass(frozen=True, slots=True, eq=False)
class CellMass:
    """The least and the most of each token's exponential, all lifted alike, and the extremes in the cell."""

    least: list[int]
    most: list[int]
    lowest: int
    highest: int


Masses = list[list[CellMass]]
"""Of each head and cell."""


def masses(graph: CellGraph, tables: Sequence[Exponentials]) -> Masses:
    """Return those of each head; where the largest is shorter than the longest, all are lifted to that."""
    spend(4 * NUMBER * len(tables) * graph.tokens)
    rows = [[[table[token, at] for token in tokens] for at, tokens in graph.cells] for table in tables]
    sizes = [max(one.floor for cell in row for one in cell).bit_length() for row in rows]
    lifts = [max(sizes) - size for size in sizes]
    found: Masses = []
    for row, lift in zip(rows, lifts, strict=True):
        least = [[one.least << lift for one in cell] for cell in row]
        most = [[one.most << lift for one in cell] for cell in row]
        pairs = zip(least, most, strict=True)
        found.append([CellMass(low, high, min(low), max(high)) for low, high in pairs])
    return found


@dataclass(frozen=True, slots=True, eq=False)
class LeadSums:
    """The lead of a candidate over another on prompts of one length and end, as a sum over their tokens."""

    graph: CellGraph
    heads: Sequence[SummedHead]
    masses: Masses
    leads: Sequence[Sequence[CellLeads]]
    """Of each head and cell."""
    base: int
    """The least lead without what heads add."""
    precision: int

    def closes(self, tree: CutTree, box: Box, where: str) -> bool:
        """Say whether a tree shows a lead in a box."""
        spend(OBJECT * (1 + len(box)))
        if isinstance(tree, CutWeights):
            is_full = len(tree.numbers) == 2 * len(self.heads)
            require("weights_are_of_the_summed_heads", is_full, where, len(tree.numbers), len(self.heads))
            is_ahead = self.base + sum(low for low, _ in box) > 0
            return is_ahead or (bool(box) and self._is_positive(tree.numbers, box))
        spend(NUMBER * len(tree.at))
        found = [head.place for head in self.heads if head.name == tree.head]
        require("divided_heads_are_summed", found, where, tree.head)
        low, high = box[found[0]]
        ends = [one << (self.precision - CUT_BITS) for one in tree.at]
        lows, highs = [low, *(max(low, end) for end in ends)], [*(min(high, end) for end in ends), high]
        before, after = box[: found[0]], box[found[0] + 1 :]
        return all(
            self.closes(part, (*before, (least, most), *after), where)
            for part, least, most in zip(tree.parts, lows, highs, strict=True)
        )

    def _is_positive(self, weights: Sequence[int], box: Box) -> bool:
        """Say whether the least sum is above 0; mostly that is plain from the extremes of cells."""
        spend(self.price_of(self.graph.moves * MOVE + NUMBER * len(self.graph.cells), weights))
        return self.graph.least(self._bounds(self._lines(weights, box))) > 0 or self.least(weights, box) > 0

    def least(self, weights: Sequence[int], box: Box) -> int:
        """Return the least sum over the tokens of a prompt, with two weights for each head."""
        spend(self.price_of(self.graph.moves * MOVE + TOKEN * self.graph.tokens, weights))
        lines = self._lines(weights, box)
        if len(lines) == 1:
            return self.graph.least(self._of_one_head(*lines[0]))
        sums = self._of_head(0, *lines[0])
        for place in range(1, len(lines)):
            found = self._of_head(place, *lines[place])
            sums = [list(map(add, old, new)) for old, new in zip(sums, found, strict=True)]
        return self.graph.least([min(cell) for cell in sums])

    def price_of(self, operations: int, weights: Sequence[int]) -> int:
        """Return what operations cost for each head, with numbers as long as they are."""
        bits = max(weights).bit_length() + self.precision + abs(self.base).bit_length()
        return operations * len(self.heads) * (200 + bits) // 200

    def _lines(self, weights: Sequence[int], box: Box) -> list[tuple[int, int]]:
        """Return for each head what its leads are multiplied with, and what is added then."""
        lowest = self.base + sum(low for low, _ in box)
        found: list[tuple[int, int]] = []
        for place, (low, high) in enumerate(box):
            # who violates the lead adds no more than this, since the others add what they do at least
            top = min(high, low - lowest)
            forth, back = weights[2 * place], weights[2 * place + 1]
            found.append((forth - back, back * low - forth * top))
        return found

    def _bounds(self, lines: Sequence[tuple[int, int]]) -> list[int]:
        """Return numbers that the least of each cell is no less than."""
        found = [0] * len(self.graph.cells)
        for (factor, constant), mass, leads in zip(lines, self.masses, self.leads, strict=True):
            for place, lead in enumerate(leads):
                one = factor * (lead.lowest if factor >= 0 else lead.highest) + constant
                found[place] += one * (mass[place].lowest if one >= 0 else mass[place].highest)
        return found

    def _of_one_head(self, factor: int, constant: int) -> list[int]:
        """Return the least of each cell where there is a single head.

        A product with a negative number is below each with one that is not, whichever exponential that has.
        """
        found: list[int] = []
        for mass, lead in zip(self.masses[0], self.leads[0], strict=True):
            bounds, lowest = (lead.least, lead.lowest) if factor >= 0 else (lead.most, lead.highest)
            shares = mass.least if factor * lowest + constant >= 0 else mass.most
            found.append(min(map(mul, shares, [factor * one + constant for one in bounds])))
        return found

    def _of_head(self, place: int, factor: int, constant: int) -> list[list[int]]:
        """Return what a head brings to the sum, for each token of each cell."""
        found: list[list[int]] = []
        for mass, lead in zip(self.masses[place], self.leads[place], strict=True):
            bounds, lowest = (lead.least, lead.lowest) if factor >= 0 else (lead.most, lead.highest)
            terms = [factor * one + constant for one in bounds]
            if factor * lowest + constant >= 0:
                found.append(list(map(mul, mass.least, terms)))
            else:
                triples = zip(terms, mass.least, mass.most, strict=True)
                found.append([one * (least if one >= 0 else most) for one, least, most in triples])
        return found
