"""A claim's pattern and circuit as the sums need them: lattices, last tokens, pairs, and tables of numbers."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from circuitproof.arithmetic.balls import Enclose
from circuitproof.proof.claim import Claim
from circuitproof.proof.effort import Effort
from circuitproof.proof.patterns.regions import Missing, UnsettledError
from circuitproof.proof.summed.lattice import Lattice, PromptGraph
from circuitproof.proof.summed.outline import SummedCircuit, outline
from circuitproof.proof.summed.rows import LocalRows
from circuitproof.proof.summed.tables import Bools, LengthTable, SummedTables
from circuitproof.tasks.labelled import Label, Labelled


@dataclass
class SummedWorld:
    """The prompts of a claim by length, and what its circuit makes of their tokens."""

    claim: Claim
    effort: Effort
    precision: int
    _tables: dict[int, LengthTable] = field(default_factory=dict[int, LengthTable])
    _lattices: dict[tuple[Label, int], Lattice | None] = field(
        default_factory=dict[tuple[Label, int], Lattice | None]
    )

    @property
    def labelled(self) -> Labelled:
        return self.claim.task.labelled

    @cached_property
    def graph(self) -> PromptGraph:
        return PromptGraph(self.labelled)

    @cached_property
    def lattices(self) -> dict[int, Lattice]:
        """Return the prompts of each length, whatever their label."""
        lengths = range(1, self.labelled.pattern.longest + 1)
        found = {length: self.graph.lattice(None, length) for length in lengths}
        return {length: lattice for length, lattice in found.items() if lattice is not None}

    def lattice(self, label: Label, length: int) -> Lattice | None:
        if (label, length) not in self._lattices:
            self._lattices[label, length] = self.graph.lattice(label, length)
        return self._lattices[label, length]

    @cached_property
    def summed(self) -> SummedCircuit:
        return outline(self.claim.frozen, self.claim.circuit)

    @cached_property
    def exps(self) -> int:
        """Return how many exponentials all tables take together: a pair, for each query and head."""
        pairs = sum(
            int(self._pairs_of(lattice, last).sum())
            for lattice in self.lattices.values()
            for last in lattice.last_tokens(lattice.free)
        )
        return pairs * len(self.summed.heads)

    def refuse_many(self) -> None:
        """Refuse more exponentials than are allowed, before any is computed."""
        if self.exps > self.effort.exps:
            reason = (
                f"{self.exps:,} exponentials would have to be computed, more than {self.effort.exps:,}; "
                f"allow more with --exps {self.exps}"
            )
            raise UnsettledError(Missing.STRUCTURE, reason)

    @cached_property
    def tables(self) -> SummedTables:
        """Return what all lengths share; the work has been allowed."""
        self.refuse_many()
        rows = LocalRows(self.claim.frozen, self.summed, self.claim.task.candidates, Enclose(self.precision))
        there = np.zeros((self.labelled.pattern.longest, self.labelled.vocabulary), dtype=bool)
        for length, lattice in self.lattices.items():
            for last in lattice.last_tokens(lattice.free):
                there[:length] |= self._pairs_of(lattice, last)
        return SummedTables(rows, there)

    def table(self, length: int) -> LengthTable:
        if length not in self._tables:
            lattice = self.lattices[length]
            queries = lattice.last_tokens(lattice.free)
            pairs = np.stack([self._pairs_of(lattice, last) for last in queries])
            self._tables[length] = self.tables.of_length(length, queries, pairs)
            self.effort.pace.hear("exponentials", self.tables.exps, self.exps)
        return self._tables[length]

    def _pairs_of(self, lattice: Lattice, last: int) -> Bools:
        return lattice.pairs(last, lattice.free)

    def tokens(self) -> set[int]:
        """Return the tokens whose embedding was read."""
        known = self.__dict__.get("tables")
        return set() if known is None else {token for token, _ in known.pairs}

    @property
    def computed(self) -> int:
        """Return how many exponentials were computed."""
        known = self.__dict__.get("tables")
        return 0 if known is None else known.exps
