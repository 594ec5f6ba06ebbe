"""What a model or its circuits decide on a task, measured in floats."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import torch
from jaxtyping import Float
from torch import Tensor

from circuitproof.circuits.circuit import Circuit
from circuitproof.errors import NumericError
from circuitproof.files.devices import CPU
from circuitproof.nn.edge_masks import EdgeMasks, edge_masks_of
from circuitproof.nn.transformer import Transformer
from circuitproof.tasks.domain import by_length
from circuitproof.tasks.task import Task

FloatLogits: TypeAlias = Float[Tensor, "circuit prompt candidate"]

_NUMBERS_AT_ONCE = 1 << 26


@dataclass(frozen=True, slots=True)
class Score:
    """How one circuit does on a task. A tie is not a right answer."""

    right: int
    prompts: int
    worst_margin: float
    """The smallest lead of the right answer over the best other candidate; not positive where it is wrong."""

    @property
    def accuracy(self) -> float:
        return self.right / self.prompts


def score_circuits(
    model: Transformer, task: Task, circuits: Sequence[Circuit] | None = None
) -> tuple[Score, ...]:
    """Return the score of each circuit, or of the model alone when no circuits are given."""
    margins = answer_margins(task, task_logits(model, task, circuits))
    return tuple(score_of(row, task.name) for row in margins)


def score_of(margins: Float[Tensor, " prompt"], task: str) -> Score:
    """Return the score that follows from the leads of the right answers."""
    if not bool(margins.isfinite().all()):
        raise NumericError(f"a margin on task {task!r} is NaN or infinite; the weights are too large")
    return Score(right=int((margins > 0).sum()), prompts=len(margins), worst_margin=float(margins.min()))


def answer_margins(task: Task, logits: FloatLogits) -> Float[Tensor, "circuit prompt"]:
    """Return by how much the right answer leads the best other candidate."""
    return leads(logits, task.decisions())


def leads(logits: FloatLogits, wanted: Sequence[int]) -> Float[Tensor, "circuit prompt"]:
    """Return by how much the wanted candidate of each prompt, given by its place, leads the best other."""
    places = torch.tensor(wanted, device=logits.device)
    is_wanted = torch.nn.functional.one_hot(places, logits.shape[-1]).bool()
    return logits[:, is_wanted] - logits.masked_fill(is_wanted, -torch.inf).amax(-1)


def task_logits(model: Transformer, task: Task, circuits: Sequence[Circuit] | None = None) -> FloatLogits:
    """Return the candidates' logits on every prompt, as many prompts and circuits at a time as fit.

    They are computed where the model is, and returned in main memory.
    """
    task.refuse_smaller(model.architecture.vocabulary)
    task.refuse_other_outputs(model.architecture.predicted)
    if circuits is not None and len(distinct := tuple(dict.fromkeys(circuits))) < len(circuits):
        return task_logits(model, task, distinct)[[distinct.index(circuit) for circuit in circuits]]
    count = 1 if circuits is None else len(circuits)
    logits = torch.zeros(count, task.size, len(task.candidates), dtype=model.token.dtype, device=CPU)

    @cache
    def masks(chosen: range) -> EdgeMasks | None:
        """Return the masks of some of the circuits, worked out once: a large graph has many."""
        return None if circuits is None else edge_masks_of(circuits[chosen.start : chosen.stop])

    with torch.no_grad():
        for length, alike in by_length(task.prompts).items():
            for places, chosen in _portions(model, alike, length, count):
                tokens = model.tokens_of([task.prompts[place] for place in places])
                found = model.candidate_logits(tokens, task.candidates, masks(chosen), task.position)
                logits[chosen.start : chosen.stop, places] = found.cpu()
    return logits


def _portions(
    model: Transformer, places: Sequence[int], length: int, circuits: int
) -> Iterator[tuple[Sequence[int], range]]:
    """Yield prompts of one length and ranges of the circuits whose node outputs fit in memory together."""
    sizes = model.architecture
    per_prompt = length * sizes.width * (sizes.layers * (sizes.heads + 2) + 2)
    prompts = max(1, min(len(places), _NUMBERS_AT_ONCE // per_prompt))
    step = max(1, _NUMBERS_AT_ONCE // (per_prompt * prompts))
    for first in range(0, len(places), prompts):
        for start in range(0, circuits, step):
            yield places[first : first + prompts], range(start, min(start + step, circuits))
