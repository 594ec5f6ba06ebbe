"""Where batches come from: the domains of tasks, or a text. A batch is a pure function of seed and step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from circuitproof.declare.tasks.alphabet import Alphabet
from circuitproof.declare.tasks.task import Task
from circuitproof.errors import InputError
from circuitproof.lab.model.decisions import score_circuits
from circuitproof.lab.model.transformer import Transformer
from circuitproof.lab.train.objectives import NO_TARGET, next_token_loss
from circuitproof.lab.train.tokenizer import FileTokenizer
from circuitproof.text.canonical import digest_bytes
from circuitproof.text.reading import read_bytes

_EVALUATION_WINDOWS = 64


@dataclass(frozen=True, slots=True)
class Batch:
    """Tokens, and at each position the token wanted next or `NO_TARGET`."""

    tokens: Int[Tensor, "prompt position"]
    targets: Int[Tensor, "prompt position"]


@runtime_checkable
class Data(Protocol):
    """What the training loop asks of its data."""

    def batch(self, step: int) -> Batch:
        """Return the batch of a step, the same whenever it is asked for."""
        ...

    def fixed_batch(self) -> Batch:
        """Return a batch that belongs to no step: what models are compared on."""
        ...

    def evaluate(self, model: Transformer) -> Mapping[str, float]:
        """Return named measures of the model as it is now."""
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
        self._rows = _padded(
            [row for task in tasks for row in zip(task.prompts, task.answers(), strict=True)]
        )
        self._size = min(size, len(self._rows.tokens))
        self._seed = seed

    @property
    def alphabet(self) -> Alphabet:
        """Return the tasks' common alphabet."""
        return self._tasks[0].tokens

    def batch(self, step: int) -> Batch:
        """Return the next rows of the epoch's own shuffle; a remainder too small for a batch is left out."""
        per_epoch = len(self._rows.tokens) // self._size
        epoch, place = divmod(step, per_epoch)
        order = torch.randperm(len(self._rows.tokens), generator=generator_of(self._seed, epoch))
        chosen = order[place * self._size : (place + 1) * self._size]
        return Batch(self._rows.tokens[chosen], self._rows.targets[chosen])

    def fixed_batch(self) -> Batch:
        """Return every prompt."""
        return self._rows

    def evaluate(self, model: Transformer) -> Mapping[str, float]:
        """Return accuracy and worst margin on each task, among its candidates."""
        measures: dict[str, float] = {}
        for task in self._tasks:
            (score,) = score_circuits(model, task)
            measures |= {
                f"{task.name} accuracy": score.accuracy,
                f"{task.name} worst margin": score.worst_margin,
            }
        return measures


class TextData:
    """Windows of a long row of tokens; every next token is wanted. The end is held out for evaluation."""

    def __init__(
        self,
        tokens: Int[Tensor, " token"],
        window: int,
        size: int,
        seed: int,
        alphabet: Alphabet | None = None,
    ) -> None:
        held_out = max(window + 1, len(tokens) // 10)
        if len(tokens) < held_out + window + 1:
            raise InputError(
                f"the text has {len(tokens)} tokens, too few for windows of {window} and a held-out tenth"
            )
        self._train, self._held_out = tokens[:-held_out], tokens[-held_out:]
        self._window = window
        self._size = size
        self._alphabet = alphabet
        self._seed = seed

    @property
    def alphabet(self) -> Alphabet | None:
        """Return the names of the tokens, where they have any."""
        return self._alphabet

    def batch(self, step: int) -> Batch:
        """Return windows drawn anew at each step."""
        last = len(self._train) - self._window
        starts = torch.randint(last, (self._size,), generator=generator_of(self._seed, step))
        return self._windows(self._train, starts)

    def fixed_batch(self) -> Batch:
        """Return windows spread over the held-out tokens."""
        last = len(self._held_out) - self._window - 1
        count = min(_EVALUATION_WINDOWS, last + 1)
        starts = torch.linspace(0, last, count, dtype=torch.float64).long().unique()
        return self._windows(self._held_out, starts)

    def evaluate(self, model: Transformer) -> Mapping[str, float]:
        """Return the mean loss on windows spread over the held-out tokens."""
        batch, total = self.fixed_batch(), 0.0
        with torch.no_grad():
            for tokens, targets in zip(
                batch.tokens.split(self._size), batch.targets.split(self._size), strict=True
            ):
                total += float(next_token_loss(model(tokens), targets)) * len(tokens)
        return {"held-out loss": total / len(batch.tokens)}

    def _windows(self, tokens: Tensor, starts: Tensor) -> Batch:
        places = starts[:, None] + torch.arange(self._window + 1)
        return Batch(tokens[places[:, :-1]], tokens[places[:, 1:]])


def read_text(path: Path, tokenizer: Path | None) -> Int[Tensor, " token"]:
    """Return a text's tokens: its bytes, or what a Hugging Face `tokenizer.json` makes of it."""
    content = read_bytes(path)
    if tokenizer is None:
        tokens = np.frombuffer(content, dtype=np.uint8).astype(np.int64)
    else:
        tokens = np.array(FileTokenizer(tokenizer).encode(content.decode(errors="replace")), dtype=np.int64)
    if not len(tokens):
        raise InputError(f"{path} has no tokens; there is nothing to learn from")
    return torch.from_numpy(tokens)


def _padded(rows: Sequence[tuple[tuple[int, ...], int]]) -> Batch:
    """Pad on the right, where a causal model cannot look from the last token of a shorter prompt."""
    longest = max(len(prompt) for prompt, _ in rows)
    tokens = torch.zeros(len(rows), longest, dtype=torch.long)
    targets = torch.full((len(rows), longest), NO_TARGET)
    for index, (prompt, answer) in enumerate(rows):
        tokens[index, : len(prompt)] = torch.tensor(prompt)
        targets[index, len(prompt) - 1] = answer
    return Batch(tokens, targets)


def generator_of(seed: int, count: int) -> torch.Generator:
    """Return the randomness of one step or epoch. Torch seeds with 32 bits, so both numbers go into those."""
    return torch.Generator().manual_seed(int(str(digest_bytes(f"{seed} {count}".encode()))[:8], 16))
