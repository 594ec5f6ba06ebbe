"""Several processes that train one model together: each differentiates its share of every batch."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, distributed

from circuitproof.errors import InputError
from circuitproof.nn.transformer import Transformer

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Workers:
    """How many processes there are, and which of them this one is."""

    count: int = 1
    own: int = 0
    """Its number, from 0."""

    @property
    def is_first(self) -> bool:
        """Say whether this is the process that writes what all have made."""
        return self.own == 0

    def share(self, items: Sequence[Item]) -> Sequence[Item]:
        """Return this process's share of something that all have."""
        return items[self.own :: self.count]

    def total(self, own: Float[Tensor, "*any"]) -> Float[Tensor, "*any"]:
        """Return the sum of what each process has, where it was; all of them ask at the same time."""
        if self.count == 1:
            return own
        summed = own.cpu()  # the processes meet in main memory, whatever they compute on
        distributed.all_reduce(summed)
        return summed.to(own.device)

    def add_gradients(self, model: Transformer) -> None:
        """Let every process go on with the sum of all gradients."""
        if self.count > 1:
            for parameter in model.parameters():
                parameter.grad = self.total(
                    torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
                )

    def wait(self) -> None:
        """Wait until every process has come here."""
        if self.count > 1:
            distributed.barrier()

    def refuse_uneven(self, pieces: int) -> None:
        """Refuse pieces of a batch that cannot be shared out."""
        if pieces % self.count:
            raise InputError(
                f"training.pieces is {pieces}, want a multiple of the {self.count} processes that share it"
            )


def together() -> Workers:
    """Return the processes that work together now: those that joined, or this one alone."""
    if not distributed.is_initialized():
        return Workers()
    return Workers(distributed.get_world_size(), distributed.get_rank())


@contextmanager
def joined() -> Iterator[Workers]:
    """Join the processes that `torchrun` started together, or work alone where it did not."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield together()
        return
    distributed.init_process_group("gloo")
    try:
        yield together()
    finally:
        distributed.destroy_process_group()
