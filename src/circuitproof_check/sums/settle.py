"""Leaves about all prompts of an area: one candidate leads each other, by the least sums over its prompts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from circuitproof_check.case import Case
from circuitproof_check.enclosed.prices import spend
from circuitproof_check.forward import Forward
from circuitproof_check.patterns.runs import World
from circuitproof_check.reading import require
from circuitproof_check.work import NUMBER, OBJECT, paid

from .areas import Area, whole
from .automaton import Automaton
from .boxes import Box, LeadSums, masses
from .cells import Cell, CellGraph, in_cells
from .contributions import CellLeads, Contributions
from .cuts import CutWeights
from .rows import SummedHead, TokenRows, check_sums
from .tables import Tables
from .tree import PatternLeaf, SettledLeaf


@dataclass(frozen=True, slots=True, eq=False)
class Ending:
    """The prompts of an area that have one length and one last token."""

    length: int
    last: int
    graph: CellGraph


class PatternSums:
    """What leaves about one claim share."""

    def __init__(self, forward: Forward, precision: int) -> None:
        claim = forward.claim
        assert claim.declared is not None  # noqa: S101  # asked only where a claim is about a pattern
        self.automaton = Automaton(World(claim.declared, claim.architecture.vocabulary, claim.programs))
        self.area = whole(self.automaton)
        self.counts = self.area.counts()
        self.leaves: dict[str, list[PatternLeaf]] = {}
        """Those of the evidence about each kind of property."""
        self._rows = TokenRows(forward, forward.circuit(claim.edges), precision)
        self._tables = Tables(self._rows, self.automaton)
        self._contributions = Contributions()
        self.places = len(claim.task.candidates)
        self.precision, self.head_width = precision, claim.architecture.head_width

    @property
    def count(self) -> int:
        """Return how many prompts the pattern has."""
        return sum(paid(self.counts, NUMBER).values())

    @property
    def heads(self) -> int:
        """Return how many summed heads there are."""
        return len(self._rows.heads)

    def settle(self, leaf: SettledLeaf) -> None:
        """Check that on every prompt of the leaf's area its candidate is decided."""
        check_sums(self._rows, leaf.where)
        usual = CutWeights((1, 0) * self.heads)
        for ending in endings(leaf.area):
            place = f"{leaf.where}, {ending.length} tokens that end in {ending.last}"
            for other, sums, box in self.leads(ending, leaf.winner):
                is_shown = sums.closes(leaf.cuts.get(other, usual), box, leaf.where)
                require("leads_are_shown_on_every_prompt", is_shown, place, other)

    def leads(self, ending: Ending, winner: int) -> Iterator[tuple[int, LeadSums, Box]]:
        """Return for each other candidate the sums of the lead over it, with the first box."""
        graph, heads = ending.graph, self._rows.heads
        found = masses(graph, self._tables.exponentials(ending.length, ending.last))
        base, numbers = (
            self._rows.base((ending.last, ending.length - 1)),
            self._contributions.number(graph.cells),
        )
        spend(self.places * (OBJECT + NUMBER * len(heads) * (2 + len(numbers))))
        rows = [self._leads(head, numbers, graph.cells, winner) for head in heads]
        for other in range(self.places):
            if other != winner:
                leads = [[cell[other] for cell in row] for row in rows]
                box = tuple((min([c.lowest for c in row]), max([c.highest for c in row])) for row in leads)
                ahead = base.midpoints[winner] - base.midpoints[other] - 2 * base.radius
                yield other, LeadSums(graph, heads, found, leads, ahead, self.precision), box

    def _leads(
        self, head: SummedHead, numbers: Sequence[int], cells: Sequence[Cell], winner: int
    ) -> list[list[CellLeads]]:
        spend(NUMBER * len(cells))
        pairs = zip(numbers, cells, strict=True)
        return [self._contributions.leads(head, number, cell, winner) for number, cell in pairs]


def endings(area: Area) -> Iterator[Ending]:
    """Return the prompts of an area by length and last token."""
    for length, graph in paid(area.graphs, NUMBER).items():
        for last in paid(graph.standing(length - 1), NUMBER):
            ending = graph.within(length - 1, (last,))
            if ending is not None:
                yield Ending(length, last, in_cells(ending))


@lru_cache(maxsize=4)
def _sums(forward: Forward, precision: int) -> PatternSums:
    return PatternSums(forward, precision)


def sums_of(case: Case) -> PatternSums:
    """Return what leaves about the claim of a case share."""
    return _sums(case.forward, case.precision)
