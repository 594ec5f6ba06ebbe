"""What the tokens of cells add to the lead of one candidate over another, between two integers each."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import add, sub

from circuitproof_check.enclosed.prices import spend
from circuitproof_check.work import NUMBER

from .cells import Cell
from .rows import SummedHead

_KEPT = 1 << 20
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
        self._cells: list[Cell] = []
        self._columns: dict[tuple[int, int, int], list[int]] = {}
        self._leads: dict[tuple[int, int, int, int], CellLeads] = {}
        self._count = 0

    def number(self, cells: Sequence[Cell]) -> list[int]:
        """Return a number for each cell, the same for the same; what is no longer needed is forgotten."""
        if self._count > _KEPT:
            self._numbers, self._cells, self._columns, self._leads, self._count = {}, [], {}, {}, 0
        spend(2 * NUMBER * len(cells))
        for cell in cells:
            if cell not in self._numbers:
                spend(NUMBER * len(cell[1]))
                self._numbers[cell] = len(self._cells)
                self._cells.append(cell)
                self._count += len(cell[1])
        return [self._numbers[cell] for cell in cells]

    def leads(self, head: SummedHead, cells: Sequence[int], winner: int, other: int) -> list[CellLeads]:
        """Return what a head adds, on each cell, to the lead of a candidate over another, by their places."""
        spend(NUMBER * len(cells))
        found: list[CellLeads] = []
        for cell in cells:
            name = head.place, cell, winner, other
            if name not in self._leads:
                self._leads[name] = self._found(head, cell, winner, other)
            found.append(self._leads[name])
        return found

    def _found(self, head: SummedHead, cell: int, winner: int, other: int) -> CellLeads:
        ahead, behind, spans = (self._column(head, cell, row) for row in (winner, other, _SPANS))
        spend(NUMBER * (4 + 4 * len(spans)))
        middle = list(map(sub, ahead, behind))
        least, most = list(map(sub, middle, spans)), list(map(add, middle, spans))
        self._count += 2 * len(spans) + 8
        return CellLeads(least, most, min(least), max(most))

    def _column(self, head: SummedHead, cell: int, row: int) -> list[int]:
        """Return the logits that tokens bring to a candidate, or how far differences of them may be off."""
        name = head.place, cell, row
        if name not in self._columns:
            position, tokens = self._cells[cell]
            spend(NUMBER * len(tokens))
            found = [head.contributions[token, position] for token in tokens]
            self._columns[name] = [2 * one.radius if row == _SPANS else one.midpoints[row] for one in found]
            self._count += len(tokens)
        return self._columns[name]


_SPANS = -1
"""In the place of a candidate, for how far differences are off."""


def extremes(found: Sequence[CellLeads]) -> tuple[int, int]:
    """Return the least and the most that a head may add on any of some cells."""
    spend(NUMBER * len(found))
    return min([one.lowest for one in found]), max([one.highest for one in found])
