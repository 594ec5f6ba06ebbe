"""Prompts in blocks, each laid out and computed by itself: activations live no longer than their block."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from circuitproof.forward.cells import Variant
from circuitproof.forward.frozen import Frozen
from circuitproof.forward.prompts import PromptCells, ablation_of
from circuitproof.proof.effort import Pace
from circuitproof.tasks.domain import Prompt

MOST_NUMBERS = 1 << 20
"""About how many numbers the stages of a block hand on; it decides nothing but time and memory."""
MOST_ROWS = 1 << 13
"""About how many rows they have, in a narrow model."""


@dataclass(frozen=True, slots=True)
class PromptBlock:
    """Some prompts of a list, by their places, and the rows that circuits need for them."""

    prompts: Sequence[int]
    cells: PromptCells
    rows: Mapping[Variant, tuple[int, Sequence[int]]]
    """For each circuit that there was time for its logits stage, and the row of it for each prompt."""
    is_part: bool
    """Whether there are other blocks."""


def blocks(
    frozen: Frozen, circuits: Sequence[Variant], prompts: Sequence[Prompt], pace: Pace
) -> Iterator[PromptBlock]:
    """Divide prompts into blocks, neighbours in the order of their tokens: those share prefixes.

    A block ends when its rows are many, so prompts that share all rows are in one. As what the first prompt
    needs is computed again in each block (a mean over many prompts, say), a block has at least twice that.
    """
    order, end = sorted(range(len(prompts)), key=prompts.__getitem__), 0
    least = min(MOST_ROWS, MOST_NUMBERS // frozen.architecture.width)
    while end < len(order):
        cells, start, most = PromptCells(frozen, ablation_of(circuits)), end, 0
        rows: dict[Variant, tuple[int, list[int]]] = {circuit: (0, []) for circuit in circuits}
        while end < len(order) and cells.count() <= most:
            begun, end = end, end + _step(end - start, cells.count(), most)
            some = [prompts[place] for place in order[begun:end]]
            rows = {
                circuit: _longer(rows[circuit], cells.cells(circuit, some))
                for circuit in pace.steps("circuits laid out", rows)
            }
            most = most or max(least, 2 * cells.count())
        end = min(end, len(order))
        yield PromptBlock(order[start:end], cells, rows, is_part=end - start < len(order))


def _step(prompts: int, rows: int, most: int) -> int:
    """Return how many prompts to lay out next: at most as many as there are, and as seem to have room."""
    return 1 + min(prompts, (most - rows) * prompts // max(rows, 1)) if prompts else 1


def _longer(rows: tuple[int, list[int]], more: tuple[int, Sequence[int]]) -> tuple[int, list[int]]:
    rows[1].extend(more[1])
    return more[0], rows[1]
