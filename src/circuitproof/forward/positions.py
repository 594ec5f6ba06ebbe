"""The rows of one prompt with its positions kept apart, so that one can be disturbed and no other."""

from collections.abc import Mapping
from fractions import Fraction

from circuitproof.declare.tasks.domain import Prompt
from circuitproof.exact.protocol import RationalRow
from circuitproof.forward.cells import Cells, Stage


class PositionCells(Cells):
    """Cells of a single prompt in which no two positions share a row, even if they compute the same."""

    def inputs_at(self, stage: int) -> Mapping[int, int]:
        """Return the input row of a stage for each position that is needed of it."""
        return {terms[-1]: row for terms, row in self.stages[stage].inputs.items()}

    def outputs_at(self, stage: int) -> Mapping[int, int]:
        """Return the output row of a stage for each position that is needed of it."""
        return {len(prompt) - 1: row for (number, prompt), row in self._known.items() if number == stage}

    def _input(self, stage: Stage, prompt: Prompt) -> int:
        """Return the input row; after the terms of its parts stands the position, which no part reads."""
        terms = (*(self._term(part, prompt) for part in stage.parts), len(prompt) - 1)
        return stage.inputs.setdefault(terms, len(stage.inputs))

    def _mix(self, stage: Stage, row: RationalRow, prompt: Prompt) -> int:
        """Return the output row of a program head; terms of no weight, one per position, tell rows apart."""
        mix = tuple((self._input(stage, prompt[: key + 1]), weight) for key, weight in row)
        idle = mix[0][0] if mix else self._input(stage, prompt)
        apart = (*mix, *((idle, Fraction(0)),) * len(prompt))
        return stage.mixes.setdefault(apart, len(stage.mixes))
