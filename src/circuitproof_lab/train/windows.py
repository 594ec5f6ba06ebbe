"""Batches and the loss on them; windows of a long row of tokens, drawn at random or spread evenly."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from circuitproof.circuits.circuit import Circuit
from circuitproof.errors import InputError
from circuitproof.files.devices import CPU
from circuitproof.nn.transformer import Transformer

TokenRow: TypeAlias = NDArray[np.integer]
"""A row of tokens, in memory or on a disk."""
NO_TARGET = -100
"""The target of a position at which nothing is asked."""
EVALUATION_WINDOWS = 64
"""On how many windows a model is measured while it is trained."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Tokens, and at each position the token wanted next or `NO_TARGET`."""

    tokens: Int[Tensor, "prompt position"]
    targets: Int[Tensor, "prompt position"]

    @property
    def asked(self) -> int:
        """Return at how many positions a token is wanted."""
        return int((self.targets != NO_TARGET).sum())

    def on(self, device: torch.device) -> "Batch":
        """Return the same batch on a device; it is drawn, counted and divided in main memory."""
        return Batch(self.tokens.to(device), self.targets.to(device))

    def pieces(self, count: int) -> "tuple[Batch, ...]":
        """Return at most so many batches that together have the rows of this one."""
        return tuple(map(Batch, self.tokens.chunk(count), self.targets.chunk(count)))

    def portions(self, rows: int) -> "tuple[Batch, ...]":
        """Return batches of at most so many rows that together have the rows of this one."""
        return tuple(map(Batch, self.tokens.split(rows), self.targets.split(rows)))


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows of a row of tokens; at every position of one the next token is wanted."""

    tokens: TokenRow
    width: int
    name: str

    def __post_init__(self) -> None:
        if len(self.tokens) <= self.width:
            raise InputError(
                f"the {self.name} part has {len(self.tokens)} tokens, too few for a window of {self.width}; "
                "give it more text"
            )

    def drawn(self, count: int, generator: torch.Generator) -> Batch:
        """Return so many windows that begin anywhere."""
        starts = torch.randint(len(self.tokens) - self.width, (count,), generator=generator, device=CPU)
        return self._at(starts.numpy())

    def spread(self, count: int) -> Batch:
        """Return at most so many windows, spread from the first to the last."""
        last = len(self.tokens) - self.width - 1
        starts = np.unique(np.linspace(0, last, min(count, last + 1)).astype(np.int64))
        return self._at(starts)

    @property
    def apart(self) -> int:
        """Return how many windows there are that share no target."""
        return (len(self.tokens) - 1) // self.width

    def loss(
        self,
        model: Transformer,
        at_once: int,
        count: int = EVALUATION_WINDOWS,
        circuit: Circuit | None = None,
    ) -> float:
        """Return the mean loss of a model, or of a circuit of it, on windows spread over the tokens."""
        batch, total = self.spread(count), 0.0
        with torch.no_grad():
            for part in (one.on(model.device) for one in batch.portions(at_once)):
                loss = next_token_loss(model(part.tokens, circuit), part.targets)
                total += float(loss) * len(part.tokens)
        return total / len(batch.tokens)

    def _at(self, starts: NDArray[np.int64]) -> Batch:
        found = self.tokens[starts[:, None] + np.arange(self.width + 1)]
        rows = torch.from_numpy(found.astype(np.int64))
        return Batch(rows[:, :-1], rows[:, 1:])


def next_token_loss(
    logits: Float[Tensor, "prompt position token"], targets: Int[Tensor, "prompt position"]
) -> Float[Tensor, ""]:
    """Return the mean cross-entropy over the whole vocabulary at the positions that have a target."""
    asked = targets != NO_TARGET
    return functional.cross_entropy(logits[asked], targets[asked])
