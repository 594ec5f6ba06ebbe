"""The parts of a fold: logits of some circuits on some prompts, block by block, here or in a worker."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from typing import NamedTuple, TypeAlias

from circuitproof.arithmetic.exact import Exact
from circuitproof.arithmetic.grid import Row
from circuitproof.forward.cells import Variant
from circuitproof.forward.forward import Forward, Trace
from circuitproof.forward.frozen import Frozen
from circuitproof.forward.row_names import row_names
from circuitproof.proof.arithmetic import ClaimArithmetic, EnclosedRow, ExactForward, ExactNumbers
from circuitproof.proof.blocks import PromptBlock, blocks
from circuitproof.proof.effort import Pace
from circuitproof.tasks.domain import Prompt
from circuitproof.workers import Division, clock, count_of, end_of, mapped

LogitsRow: TypeAlias = Row | EnclosedRow
"""The numbers of a row of logits: equal ones are kept and sent once."""


class CircuitLogits(NamedTuple):
    """What decides the prompts of a block in one circuit."""

    rows: tuple[LogitsRow, ...]
    of_prompts: Sequence[int]
    """The row of each prompt."""
    cells: frozenset[bytes | int]
    """The distinct computations, by names that tell those of all blocks apart."""


@dataclass(frozen=True, slots=True)
class BlockLogits:
    """The logits of some circuits on some prompts, both by their places."""

    prompts: Sequence[int]
    asked: range
    """The circuits."""
    found: dict[int, CircuitLogits]
    """For each of them that there was time for."""


@dataclass(frozen=True, slots=True)
class FoldPart:
    """Some circuits and some prompts of a fold, by their places."""

    circuits: range
    prompts: Sequence[int]


@dataclass(frozen=True, slots=True)
class FoldTask:
    """Circuits whose logits on prompts are asked for."""

    frozen: Frozen
    candidates: tuple[int, ...]
    circuits: tuple[Variant, ...]
    prompts: tuple[Prompt, ...]
    arithmetic: ClaimArithmetic
    end: float = inf
    """When a worker has to end."""

    def divided(self, pace: Pace, workers: Division) -> Iterator[BlockLogits]:
        """Return all blocks: each worker computes those of one part."""
        parts = [] if pace.is_over else self._parts(count_of(workers))
        if len(parts) < 2:  # noqa: PLR2004  # nothing is divided
            yield from self.blocks(FoldPart(range(len(self.circuits)), range(len(self.prompts))), pace)
            return
        sent = replace(self, end=end_of(pace.left))
        found = mapped(compute_part, sent, parts, workers)
        for _ in pace.each("parts computed", parts):
            yield from next(found)

    def _parts(self, count: int) -> list[FoldPart]:
        """Divide what there is more of; prompts that are neighbours share prefixes, circuits share edges."""
        circuits, prompts = len(self.circuits), len(self.prompts)
        if circuits > prompts:
            return [FoldPart(range(*ends), range(prompts)) for ends in _slices(circuits, count)]
        order = sorted(range(prompts), key=self.prompts.__getitem__)
        return [FoldPart(range(circuits), order[slice(*ends)]) for ends in _slices(prompts, count)]

    def blocks(self, part: FoldPart, pace: Pace) -> Iterator[BlockLogits]:
        """Compute a part, block after block."""
        circuits = {self.circuits[place]: place for place in part.circuits}
        prompts = [self.prompts[place] for place in part.prompts]
        is_part = len(prompts) < len(self.prompts)
        for block in blocks(self.frozen, tuple(circuits), prompts, pace):
            logits_of = self._logits(Forward(self.frozen, block.cells, Exact(), self.candidates))
            found = _found(block, logits_of, pace, is_part=is_part or block.is_part)
            yield BlockLogits(
                [part.prompts[place] for place in block.prompts],
                part.circuits,
                {circuits[circuit]: logits for circuit, logits in found},
            )

    def _logits(self, forward: ExactForward) -> Callable[[int], Sequence[LogitsRow]]:
        if not isinstance(self.arithmetic, ExactNumbers):
            return self.arithmetic.rows(forward)
        trace = Trace(forward)
        return lambda stage: [row.reduced() for row in trace.output(stage).rows()]


def compute_part(task: FoldTask, part: FoldPart) -> tuple[BlockLogits, ...]:
    """Compute a part in a worker, until its time is over."""
    return tuple(task.blocks(part, Pace(task.end, clock)))


def _slices(length: int, count: int) -> Iterator[tuple[int, int]]:
    """Return the ends of so many slices of equal lengths, as far as there is something in them."""
    ends = [length * done // count for done in range(count + 1)]
    return ((start, end) for start, end in pairwise(ends) if start < end)


def _found(
    block: PromptBlock, logits_of: Callable[[int], Sequence[LogitsRow]], pace: Pace, *, is_part: bool
) -> Iterator[tuple[Variant, CircuitLogits]]:
    """Return the logits of each circuit that there is time for."""
    names = row_names(block.cells) if is_part else None
    for circuit, (stage, rows) in pace.steps("circuits computed", block.rows.items()):
        logits = logits_of(stage)
        places = {row: place for place, row in enumerate(dict.fromkeys(rows))}
        cells = places if names is None else (names[stage][row] for row in places)
        of_prompts = [places[row] for row in rows]
        yield circuit, CircuitLogits(tuple(logits[row] for row in places), of_prompts, frozenset(cells))
