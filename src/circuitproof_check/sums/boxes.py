"""Whether the least of a sum over positions shows that one candidate leads another, in boxes of what heads add."""

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
Box = tuple[tuple[int, int], ...]
"""For each head between which integers that lies which it adds to the lead."""


@dataclass(frozen=True, slots=True, eq=False)
class CellMasses:
    """For each cell of a graph the least and the most of each token's exponential, all lifted alike."""

    least: list[list[int]]
    most: list[list[int]]


def masses(graph: CellGraph, tables: Sequence[Exponentials]) -> list[CellMasses]:
    """Return those of each head; those of one whose largest is shorter than the longest are lifted to that."""
    spend(4 * NUMBER * len(tables) * graph.size)
    rows = [[[table[token, at] for token in tokens] for at, tokens in graph.cells] for table in tables]
    sizes = [max(one.floor for cell in row for one in cell).bit_length() for row in rows]
    lifts = [max(sizes) - size for size in sizes]
    return [
        CellMasses(
            [[one.least << lift for one in cell] for cell in row],
            [[one.most << lift for one in cell] for cell in row],
        )
        for row, lift in zip(rows, lifts, strict=True)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class LeadSums:
    """The lead of a candidate over another on prompts of one length and end, as a sum over their tokens."""

    graph: CellGraph
    heads: Sequence[SummedHead]
    masses: Sequence[CellMasses]
    leads: Sequence[Sequence[CellLeads]]
    """Of each head and cell."""
    base: int
    """The least lead without what heads add."""
    precision: int
    price: int
    """The operations for a head's part of one sum."""

    def closes(self, tree: CutTree, box: Box, where: str) -> bool:
        """Say whether a tree shows a lead in a box."""
        spend(OBJECT)
        if isinstance(tree, CutWeights):
            is_full = len(tree.numbers) == 2 * len(self.heads)
            require("weights_are_of_the_summed_heads", is_full, where, len(tree.numbers), len(self.heads))
            return self._is_positive(tree.numbers, box)
        spend(NUMBER * (len(self.heads) + len(tree.at)))
        found = [head.place for head in self.heads if head.name == tree.head]
        require("divided_heads_are_summed", found, where, tree.head)
        low, high = box[found[0]]
        ends = [one << (self.precision - CUT_BITS) for one in tree.at]
        lows, highs = [low, *(max(low, end) for end in ends)], [*(min(high, end) for end in ends), high]
        before, after = box[: found[0]], box[found[0] + 1 :]
        return all(
            self.closes(part, (*before, bounds, *after), where)
            for part, *bounds in zip(tree.parts, lows, highs, strict=True)
        )

    def _is_positive(self, weights: Sequence[int], box: Box) -> bool:
        spend(NUMBER * len(box))
        lowest = self.base + sum(low for low, _ in box)
        return lowest > 0 or (len(box) > 0 and self.least(weights, box) > 0)

    def least(self, weights: Sequence[int], box: Box) -> int:
        """Return the least sum over the tokens of a prompt, with two weights for each head."""
        bits = max(weights).bit_length()
        spend(self.price * len(box) * (2 + bits // 30))
        if len(box) == 1 and tuple(weights) == (1, 0):
            return self.graph.least(self._of_one_head(min(box[0][1], -self.base)))
        lowest, sums = self.base + sum(low for low, _ in box), list[list[int]]()
        for place, (low, high) in enumerate(box):
            # who violates the lead adds no more than this, since the others add what they do at least
            top = min(high, low - lowest)
            found = self._of_head(place, weights[2 * place], weights[2 * place + 1], (low, top))
            sums = [list(map(add, *pair)) for pair in zip(sums, found, strict=True)] if sums else found
        return self.graph.least([min(cell) for cell in sums])

    def _of_one_head(self, top: int) -> list[int]:
        """Return the least of each cell where a single head has the weights 1 and 0.

        A product with a negative lead is below each with one that is not, whichever exponential that has.
        """
        (mass,), (leads,) = self.masses, self.leads
        found: list[int] = []
        for place, lead in enumerate(leads):
            shares = mass.least[place] if lead.lowest >= top else mass.most[place]
            found.append(min(map(mul, shares, [one - top for one in lead.least])))
        return found

    def _of_head(self, place: int, weight: int, back: int, box: tuple[int, int]) -> list[list[int]]:
        """Return what a head brings to the sum, for each token of each cell."""
        low, top = box
        factor, constant = weight - back, back * low - weight * top
        mass, found = self.masses[place], list[list[int]]()
        for cell, lead in enumerate(self.leads[place]):
            bounds = lead.least if factor >= 0 else lead.most
            terms = [factor * one + constant for one in bounds]
            triples = zip(terms, mass.least[cell], mass.most[cell], strict=True)
            found.append([one * (least if one >= 0 else most) for one, least, most in triples])
        return found
