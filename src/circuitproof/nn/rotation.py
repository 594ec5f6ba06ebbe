"""Positions as rotations of queries and keys."""

import torch
from torch import Tensor, nn

from circuitproof.files.devices import CPU
from circuitproof.models.rotary import rotary_tables
from circuitproof.nn.stream import StreamState


class Rotation(nn.Module):
    """Rotates queries and keys by their positions; the tables belong to the model and are not trained."""

    def __init__(self, context: int, rotary: int) -> None:
        super().__init__()
        cosines, sines = (torch.tensor(table, device=CPU) for table in rotary_tables(context, rotary))
        self.register_buffer("cosines", cosines)
        self.register_buffer("sines", sines)

    def tables(self) -> tuple[Tensor, Tensor]:
        return self.get_buffer("cosines"), self.get_buffer("sines")

    def forward(self, values: StreamState) -> StreamState:
        cosines, sines = (table[: values.shape[-2]] for table in self.tables())
        half = cosines.shape[-1]
        one, other, rest = values[..., :half], values[..., half : 2 * half], values[..., 2 * half :]
        return torch.cat([one * cosines - other * sines, other * cosines + one * sines, rest], -1)
