"""Two ways of passing outputs on: the plain residual stream, and one whose edges are gated by circuits.

Tensors carry the axes (circuit, head, prompt, position, width); an axis of size one is shared.
"""

from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from circuitproof.circuits.graph import EMBED, LOGITS, Mlp
from circuitproof.model.gates import Gates, source_column, target_row

State = Float[Tensor, "_ _ prompt position _"]


@runtime_checkable
class Stream(Protocol):
    """Where nodes read and write. Each node is written once, in the order of computation."""

    def heads(self, layer: int) -> tuple[int, ...]:
        """Return the heads of a layer that are to be computed."""
        ...

    def has_mlp(self, layer: int) -> bool:
        """Say whether the MLP of a layer is to be computed."""
        ...

    def read_heads(self, layer: int) -> State:
        """Return what each of those heads reads."""
        ...

    def read_mlp(self, layer: int) -> State:
        """Return what an MLP reads."""
        ...

    def read_logits(self) -> State:
        """Return the final residual."""
        ...

    def write_embed(self, output: State) -> None:
        """Take the embedding."""
        ...

    def write_heads(self, layer: int, mixed: State, weight: Tensor, bias: Tensor | None) -> None:
        """Take the mixed values of the heads, to be mapped by their output weights; the bias is shared."""
        ...

    def write_mlp(self, layer: int, output: State) -> None:
        """Take the output of an MLP."""
        ...


class PlainStream:
    """Every edge kept: one running sum that every node reads."""

    def __init__(self, head_count: int) -> None:
        self._heads = tuple(range(head_count))
        self._total = torch.zeros(())

    def heads(self, layer: int) -> tuple[int, ...]:  # noqa: ARG002  # the same at every layer
        """Return all heads."""
        return self._heads

    def has_mlp(self, layer: int) -> bool:  # noqa: ARG002  # the same at every layer
        """Say yes."""
        return True

    def read_heads(self, layer: int) -> State:  # noqa: ARG002  # one sum for all
        """Return the running sum, shared by the heads."""
        return self._total

    def read_mlp(self, layer: int) -> State:  # noqa: ARG002  # one sum for all
        """Return the running sum."""
        return self._total

    def read_logits(self) -> State:
        """Return the running sum."""
        return self._total

    def write_embed(self, output: State) -> None:
        """Start the sum."""
        self._total = output

    def write_heads(self, layer: int, mixed: State, weight: Tensor, bias: Tensor | None) -> None:  # noqa: ARG002  # one sum for all
        """Add the outputs of all heads with one matrix product."""
        side_by_side = mixed.movedim(1, -2).flatten(-2)
        output = torch.nn.functional.linear(side_by_side, weight.movedim(0, 1).flatten(1), bias)
        self._total = self._total + output.unsqueeze(1)

    def write_mlp(self, layer: int, output: State) -> None:  # noqa: ARG002  # one sum for all
        """Add an MLP's output."""
        self._total = self._total + output


class GatedStream:
    """Each node reads only what its circuit keeps; nodes that no circuit uses are not computed."""

    def __init__(self, gates: Gates) -> None:
        self._gates = gates
        self._written: list[tuple[list[int], State]] = []

    def heads(self, layer: int) -> tuple[int, ...]:
        """Return the heads that some circuit uses."""
        return self._gates.heads[layer]

    def has_mlp(self, layer: int) -> bool:
        """Say whether some circuit uses the MLP."""
        return self._gates.mlps[layer]

    def read_heads(self, layer: int) -> State:
        """Return what each used head reads in each circuit."""
        return self._read(self._gates.head_rows(layer))

    def read_mlp(self, layer: int) -> State:
        """Return what the MLP reads in each circuit."""
        return self._read([target_row(self._gates.graph, Mlp(layer))])

    def read_logits(self) -> State:
        """Return the final residual of each circuit."""
        return self._read([target_row(self._gates.graph, LOGITS)])

    def write_embed(self, output: State) -> None:
        """Keep the embedding for those who read it."""
        self._written.append(([source_column(self._gates.graph, EMBED)], output))

    def write_heads(self, layer: int, mixed: State, weight: Tensor, bias: Tensor | None) -> None:
        """Keep each head's output, and the shared bias as one more output."""
        outputs = mixed @ weight.mT.unsqueeze(1)
        shared = torch.zeros_like(outputs[:, :1]) if bias is None else bias.expand_as(outputs[:, :1])
        self._written.append((self._gates.head_columns(layer), torch.cat([outputs, shared], 1)))

    def write_mlp(self, layer: int, output: State) -> None:
        """Keep the MLP's output for those who read it."""
        self._written.append(([source_column(self._gates.graph, Mlp(layer))], output))

    def _read(self, rows: list[int]) -> State:
        first = self._written[0][1]
        shape = first.shape[2:]
        total = first.new_zeros(self._gates.values.shape[0], len(rows), *shape)
        for columns, outputs in self._written:
            kept = self._gates.values[:, rows][:, :, columns].to(first.dtype)
            if bool(kept.any()):
                total = total + (kept @ outputs.flatten(2)).unflatten(2, shape)
        return total
