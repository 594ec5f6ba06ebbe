"""Logits between bounds, about as finely as a double shows them."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from circuitproof.arithmetic.exact import Exact
from circuitproof.circuits.circuit import Circuit
from circuitproof.forward.forward import Forward
from circuitproof.forward.frozen import Frozen
from circuitproof.forward.interface import Side
from circuitproof.forward.prompts import PromptCells
from circuitproof.proof.arithmetic import EnclosedNumbers, EnclosedRow, enclosed_rows
from circuitproof.proof.effort import Effort
from circuitproof.proof.enclosed import Enclosed, NotKnown
from circuitproof.tasks.domain import Prompt

_FINE = Fraction(1, 1 << 52)
"""The radius that is small enough, as a share of the largest logit or of 1: about that of a double."""


@dataclass(frozen=True, slots=True)
class EnclosedLogits:
    """The logits of tokens after prompts, and at which precision they are known."""

    numbers: EnclosedNumbers
    logits: tuple[Enclosed, ...]
    residuals: tuple[EnclosedRow, ...]
    """What the logits of each prompt are read from."""

    @property
    def is_fine(self) -> bool:
        """Say whether every decision is known, and every radius about that of a double."""
        is_small = all(one.reach <= _FINE * max(1 / one.unit, *map(abs, one.numbers)) for one in self.logits)
        return is_small and not any(isinstance(one.decision, NotKnown) for one in self.logits)


def enclose(
    frozen: Frozen, circuit: Circuit, tokens: tuple[int, ...], prompts: Sequence[Prompt], effort: Effort
) -> EnclosedLogits:
    """Return logits that are known finely, or as finely as bits and time allow."""
    cells = PromptCells(frozen, circuit.ablation)
    stage, rows = cells.cells(circuit, prompts)
    forward = Forward(frozen, cells, Exact(), tokens)
    numbers = EnclosedNumbers.up_to(effort.precision)
    while True:
        trace = numbers.trace(forward)
        logits = [Enclosed(*row) for row in enclosed_rows(trace.output(stage), numbers)]
        residuals = enclosed_rows(trace.at(stage, Side.INPUT), numbers)
        found = EnclosedLogits(
            numbers, tuple(logits[row] for row in rows), tuple(residuals[row] for row in rows)
        )
        finer = None if found.is_fine or effort.pace.is_over else numbers.finer()
        if finer is None:
            return found
        numbers = finer
