"""Where batches come from: the domains of tasks, or a corpus. A batch is a pure function of seed and step."""

from collections.abc import Mapping, Sequence
from math import exp
from typing import Protocol, runtime_checkable

import torch

from circuitproof.errors import InputError
from circuitproof.files.devices import CPU
from circuitproof.nn.decisions import score_circuits
from circuitproof.nn.seeding import generator_of
from circuitproof.nn.transformer import Transformer
from circuitproof.tasks.alphabet import Alphabet
from circuitproof.tasks.task import Task
from circuitproof_lab.train.corpus import DocumentUse
from circuitproof_lab.train.windows import (
    EVALUATION_WINDOWS,
    NO_TARGET,
    Batch,
    TokenRow,
    Windows,
    next_token_loss,
)


@runtime_checkable
class Data(Protocol):
    """What the training loop asks of its data; batches are in main memory."""

    def batch(self, step: int) -> Batch:
        """Return the batch of a step, the same whenever it is asked for."""
        ...

    def fixed_batch(self) -> Batch:
        """Return a batch that belongs to no step: what models are compared on."""
        ...

    def evaluate(self, model: Transformer) -> Mapping[str, float]:
        """Return named measures of the model as it is now."""
        ...

    def measure_whole(self, model: Transformer) -> Mapping[str, float]:
        """Return named measures by which trained models are compared, on all that there is for it."""
        ...

    @property
    def alphabet(self) -> Alphabet | None:
        """Return the names of the tokens, where they have any."""
        ...


class TaskData:
    """The prompts of one or more tasks; the answer is wanted after the last token of each."""

    def __init__(self, tasks: Sequence[Task], size: int, seed: int) -> None:
        if any(task.alphabet != tasks[0].alphabet for task in tasks):
            raise InputError("tasks of different alphabets cannot be trained together")
        self._tasks = tuple(tasks)
        rows = [row for task in tasks for row in zip(task.prompts, task.answers(), strict=True)]
        self._rows = _padded(rows)
        self._size = min(size, len(self._rows.tokens))
        self._seed = seed

    @property
    def alphabet(self) -> Alphabet:
        return self._tasks[0].tokens

    def batch(self, step: int) -> Batch:
        """Return the next rows of the epoch's own shuffle; a remainder too small for a batch is left out."""
        per_epoch = len(self._rows.tokens) // self._size
        epoch, place = divmod(step, per_epoch)
        order = torch.randperm(len(self._rows.tokens), generator=generator_of(self._seed, epoch), device=CPU)
        chosen = order[place * self._size : (place + 1) * self._size]
        return Batch(self._rows.tokens[chosen], self._rows.targets[chosen])

    def fixed_batch(self) -> Batch:
        return self._rows

    def evaluate(self, model: Transformer) -> Mapping[str, float]:
        """Return accuracy and worst margin on each task, among its candidates."""
        measures: dict[str, float] = {}
        for task in self._tasks:
            (score,) = score_circuits(model, task)
            measures[f"{task.name} accuracy"] = score.accuracy
            measures[f"{task.name} worst margin"] = score.worst_margin
        return measures

    def measure_whole(self, model: Transformer) -> Mapping[str, float]:
        """Return the loss over all prompts, what is measured in training, and how large the residual is."""
        with torch.no_grad():
            rows = self._rows.on(model.device)
            loss = next_token_loss(model(rows.tokens), rows.targets).item()
            prompts = [prompt for task in self._tasks for prompt in task.prompts]
            ends = [model.final_residual(model.tokens_of([prompt])) for prompt in prompts]
        size = torch.cat(ends).square().mean().sqrt().item()
        return {"loss": loss, **self.evaluate(model), "final residual": size}


class CorpusData:
    """Windows of the tokens of a corpus; every next token is wanted."""

    def __init__(
        self,
        parts: Mapping[DocumentUse, TokenRow],
        window: int,
        size: int,
        seed: int,
        alphabet: Alphabet | None = None,
    ) -> None:
        self._parts = {part: Windows(tokens, window, part) for part, tokens in parts.items()}
        self._size, self._seed, self.alphabet = size, seed, alphabet

    def batch(self, step: int) -> Batch:
        """Return windows of the part to train on, drawn anew at each step."""
        return self._parts[DocumentUse.TRAIN].drawn(self._size, generator_of(self._seed, step))

    def fixed_batch(self) -> Batch:
        """Return windows spread over the part for development."""
        return self._parts[DocumentUse.DEVELOPMENT].spread(EVALUATION_WINDOWS)

    def evaluate(self, model: Transformer) -> Mapping[str, float]:
        """Return loss and perplexity on some windows for development and of the second corpus."""
        measures: dict[str, float] = {}
        for part in (DocumentUse.DEVELOPMENT, DocumentUse.SECOND):
            loss = self._parts[part].loss(model, self._size, EVALUATION_WINDOWS)
            measures |= {f"{part} loss": loss, f"{part} perplexity": exp(loss)}
        return measures

    def measure_whole(self, model: Transformer) -> Mapping[str, float]:
        """Return the loss on all that is held out, and the perplexity on all of the second corpus."""
        held_out, second = (self._parts[part] for part in (DocumentUse.HELD_OUT, DocumentUse.SECOND))
        return {
            "loss": held_out.loss(model, self._size, held_out.apart),
            "perplexity": exp(second.loss(model, self._size, second.apart)),
        }


def _padded(rows: Sequence[tuple[tuple[int, ...], int]]) -> Batch:
    """Pad on the right, where a causal model cannot look from the last token of a shorter prompt."""
    longest = max(len(prompt) for prompt, _ in rows)
    tokens = torch.zeros(len(rows), longest, dtype=torch.long, device=CPU)
    targets = torch.full_like(tokens, NO_TARGET)
    for index, (prompt, answer) in enumerate(rows):
        tokens[index, : len(prompt)] = torch.tensor(prompt, device=CPU)
        targets[index, len(prompt) - 1] = answer
    return Batch(tokens, targets)
