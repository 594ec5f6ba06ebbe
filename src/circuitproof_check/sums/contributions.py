"""What the tokens of cells add to the leads of one candidate over the others, between two integers each."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import sub

from circuitproof_check.enclosed.prices import spend
from circuitproof_check.work import NUMBER

from .cells import Cell
from .rows import SummedHead

_KEPT = 1 << 21
"""How many numbers are kept for other areas."""


@dataclass(frozen=True, slots=True)
class CellLeads:
    """For each token of a cell the least that it may add, and the most; and the extremes of both."""

    least: list[int]
    most: list[int]
    lowest: int
    highest: int


class Contributions:
    """Computes, for cells, what a head adds to leads; shared by areas that have the same cells."""

    def __init__(self) -> None:
        self._numbers: dict[Cell, int] = {}
        self._leads: dict[tuple[int, int, int], list[CellLeads]] = {}
        self._count = 0

    def number(self, cells: Sequence[Cell]) -> list[int]:
        """Return a number for each cell, the same for the same; what is no longer needed is forgotten."""
        if self._count > _KEPT:
            self._numbers, self._leads, self._count = {}, {}, 0
        spend(2 * NUMBER * len(cells))
        for cell in cells:
            if cell not in self._numbers:
                spend(NUMBER * len(cell[1]))
                self._numbers[cell] = len(self._numbers)
                self._count += len(cell[1])
        return [self._numbers[cell] for cell in cells]

    def leads(self, head: SummedHead, number: int, cell: Cell, winner: int) -> list[CellLeads]:
        """Return what a head adds, on a numbered cell, to the leads of a candidate over each place."""
        name = head.place, number, winner
        spend(NUMBER)
        if name not in self._leads:
            self._leads[name] = _found(head, cell, winner)
            self._count += (2 * len(cell[1]) + 8) * len(self._leads[name])
        return self._leads[name]


def _found(head: SummedHead, cell: Cell, winner: int) -> list[CellLeads]:
    """Return the leads over each candidate; those over the candidate itself are of no use."""
    position, tokens = cell
    spend(NUMBER * len(tokens))
    rows = [head.contributions[token, position] for token in tokens]
    spend(len(rows[0].midpoints) * (3 * NUMBER + 4 * len(rows)))
    low = [row.midpoints[winner] - 2 * row.radius for row in rows]
    high = [row.midpoints[winner] + 2 * row.radius for row in rows]
    found: list[CellLeads] = []
    for column in zip(*(row.midpoints for row in rows), strict=True):
        least, most = list(map(sub, low, column)), list(map(sub, high, column))
        found.append(CellLeads(least, most, min(least), max(most)))
    return found
