"""Sequences drawn at random, whose right answers are given by a rule."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import ClassVar

import torch
from jaxtyping import Int
from torch import Tensor

from circuitproof.files.codec import PositiveInt
from circuitproof.files.devices import CPU
from circuitproof.nn.decisions import leads
from circuitproof.nn.seeding import generator_of
from circuitproof.nn.transformer import Transformer
from circuitproof.tasks.alphabet import Vocabulary
from circuitproof.tasks.answer_rules import SequenceRule
from circuitproof.tasks.labelling import RuleLabels
from circuitproof.tasks.patterns import ANY, Pattern, Repeat
from circuitproof.tasks.rules import SameAnswer
from circuitproof.tasks.task import Task
from circuitproof_lab.train.windows import NO_TARGET, Batch, next_token_loss

MEASURED = 8192
"""On how many sequences a model is measured while it is trained, always the same."""
_WHOLE = 131_072
"""On how many trained models are compared."""
_ROWS = 8192
"""How many sequences are computed at a time."""


class Draw(StrEnum):
    """How sequences are drawn."""

    UNIFORM = "uniform"
    """Each token is equally likely at each position."""
    RANGES = "ranges"
    """The same of the tokens between two that are drawn first: so rare answers are met, too."""


@dataclass(frozen=True, slots=True)
class RuleSource:
    """Train on sequences of so many tokens, drawn at random."""

    tag: ClassVar[str] = "rule"
    rule: SequenceRule
    tokens: PositiveInt
    length: PositiveInt
    batch: PositiveInt
    draw: Draw = Draw.UNIFORM
    files: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a rule that gives some sequence no answer."""
        every = tuple(range(self.tokens))
        pattern = Pattern(Repeat(ANY, self.length, self.length), (), self.length)
        Task("data", Vocabulary(self.tokens), every, pattern, self.rule, SameAnswer())


class RuleData:
    """Batches of sequences; the answer is wanted after the last token."""

    alphabet = None

    def __init__(self, source: RuleSource, seed: int) -> None:
        self._source, self._seed = source, seed
        self._answers = _Answers(source)

    def batch(self, step: int) -> Batch:
        return self._drawn(self._source.batch, step)

    def fixed_batch(self) -> Batch:
        """Return sequences that belong to no step."""
        return self._drawn(MEASURED, -1)

    def evaluate(self, model: Transformer) -> Mapping[str, float]:
        """Return accuracy and worst margin on the fixed sequences, among all tokens."""
        return self._measured(model, self.fixed_batch())

    def measure_whole(self, model: Transformer) -> Mapping[str, float]:
        """Return the same, and the loss, on more sequences."""
        return self._measured(model, self._drawn(_WHOLE, -2))

    def _measured(self, model: Transformer, drawn: Batch) -> Mapping[str, float]:
        right, worst, loss = 0, float("inf"), 0.0
        with torch.no_grad():
            for part in drawn.portions(_ROWS):
                rows = part.on(model.device)
                logits = model(rows.tokens)
                ends = logits[:, -1, : self._source.tokens]
                margins = leads(ends[None], rows.targets[:, -1].tolist())
                right += int((margins > 0).sum())
                worst = min(worst, margins.min().item())
                loss += next_token_loss(logits, rows.targets).item() * len(rows.tokens)
        count = len(drawn.tokens)
        return {"accuracy": right / count, "worst margin": worst, "loss": loss / count}

    def _drawn(self, count: int, step: int) -> Batch:
        tokens = _sequences(self._source, count, generator_of(self._seed, step))
        targets = torch.full_like(tokens, NO_TARGET)
        targets[:, -1] = self._answers.to(tokens)
        return Batch(tokens, targets)


def _sequences(source: RuleSource, count: int, drawn: torch.Generator) -> Int[Tensor, "prompt position"]:
    shape = (count, source.length)
    if source.draw is Draw.UNIFORM:
        return torch.randint(source.tokens, shape, generator=drawn, device=CPU)
    ends = torch.randint(source.tokens, (count, 2), generator=drawn, device=CPU)
    least, most = ends.amin(1, keepdim=True), ends.amax(1, keepdim=True)
    return least + torch.randint(2**62, shape, generator=drawn, device=CPU) % (most - least + 1)


class _Answers:
    """A rule's automaton as tables, so that many sequences are followed at once."""

    def __init__(self, source: RuleSource) -> None:
        labels = RuleLabels(source.rule, source.length)
        (self._start,) = labels.starts  # a rule that supposes the last token has no answer to some sequence
        self._classes = torch.tensor([labels.class_of(token) for token in range(source.tokens)], device=CPU)
        self._steps = torch.tensor(labels.steps, device=CPU)
        self._answers = torch.tensor([_answer(labels, state) for state in range(labels.size)], device=CPU)

    def to(self, tokens: Int[Tensor, "prompt position"]) -> Int[Tensor, " prompt"]:
        """Return the answer to each sequence."""
        states = torch.full((len(tokens),), self._start, device=CPU)
        for position in range(tokens.shape[1]):
            states = self._steps[states, self._classes[tokens[:, position]]]
        return self._answers[states]


def _answer(labels: RuleLabels, state: int) -> int:
    """Return the answer in a state; -1 in the first, where there may be none."""
    label = labels.label(state)
    return -1 if label is None else label.answer
