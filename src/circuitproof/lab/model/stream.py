"""Ways of passing outputs on: the plain residual stream, one with gaps in it, and one gated by circuits.

Tensors carry the axes (circuit, head, prompt, position, width); an axis of size one is shared.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import Protocol, TypeAlias, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from circuitproof.declare.circuits.graph import EMBED, LOGITS, Mlp
from circuitproof.lab.model.gates import Gates, columns_below, source_column, target_row

State = Float[Tensor, "_ _ prompt position _"]
Held: TypeAlias = tuple[tuple[tuple[int, ...], Tensor], ...]
"""What a stream holds between two layers: outputs, each with the columns it stands for."""


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

    def needs_below(self, layer: int) -> Hashable:
        """Return what decides, beside weights and prompts, what the stream holds where a layer begins."""
        ...

    def held(self) -> Held:
        """Return what the stream holds now."""
        ...

    def take(self, held: Held) -> None:
        """Go on from what a stream with the same needs held."""
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
        self._total = self._total + _all_heads(mixed, weight, bias)

    def write_mlp(self, layer: int, output: State) -> None:  # noqa: ARG002  # one sum for all
        """Add an MLP's output."""
        self._total = self._total + output

    def needs_below(self, layer: int) -> Hashable:  # noqa: ARG002  # the same at every layer
        """Return that nothing else decides it."""
        return None

    def held(self) -> Held:
        """Return the running sum."""
        return (((), self._total),)

    def take(self, held: Held) -> None:
        """Go on from a running sum."""
        ((_, self._total),) = held


def _all_heads(mixed: State, weight: Tensor, bias: Tensor | None) -> State:
    """Return the sum of the heads' outputs, as one matrix product."""
    side_by_side = mixed.movedim(1, -2).flatten(-2)
    return torch.nn.functional.linear(side_by_side, weight.movedim(0, 1).flatten(1), bias).unsqueeze(1)


class _CircuitStream(ABC):
    """What circuits use and read of a stream, by their gates."""

    def __init__(self, gates: Gates) -> None:
        self._gates = gates

    def heads(self, layer: int) -> tuple[int, ...]:
        """Return the heads that some circuit uses."""
        return self._gates.heads[layer]

    def has_mlp(self, layer: int) -> bool:
        """Say whether some circuit uses the MLP."""
        return self._gates.mlps[layer]

    def read_heads(self, layer: int) -> State:
        """Return what each used head reads in each circuit; one for all where that is the same."""
        return self._read(self._gates.head_rows(layer))

    def read_mlp(self, layer: int) -> State:
        """Return what the MLP reads in each circuit."""
        return self._read([target_row(self._gates.graph, Mlp(layer))])

    def read_logits(self) -> State:
        """Return the final residual of each circuit."""
        return self._read([target_row(self._gates.graph, LOGITS)])

    def needs_below(self, layer: int) -> Hashable:
        """Return the nodes below that are computed, and the gates between them."""
        gates, rows = self._gates, layer * (self._gates.graph.heads + 1)
        values = gates.values.detach()[:, :rows, : columns_below(gates.graph, layer)].contiguous()
        return (gates.heads[:layer], gates.mlps[:layer], tuple(values.shape), values.numpy().tobytes())

    @abstractmethod
    def _read(self, rows: list[int]) -> State: ...


class GapStream(_CircuitStream):
    """One circuit that keeps nearly everything: each node reads the running sum less what it must not read.

    This costs a plain forward and one subtraction per gap, where a gated stream sums up every edge.
    """

    def __init__(self, gates: Gates) -> None:
        super().__init__(gates)
        self._gaps = gates.gaps()
        self._left_out = {column for columns in self._gaps.values() for column in columns}
        self._total = torch.zeros(())
        self._apart: dict[int, State] = {}

    def write_embed(self, output: State) -> None:
        """Start the sum."""
        self._write(source_column(self._gates.graph, EMBED), output)

    def write_heads(self, layer: int, mixed: State, weight: Tensor, bias: Tensor | None) -> None:
        """Add the heads' outputs and the bias they share."""
        self._total = self._total + _all_heads(mixed, weight, bias)
        *columns, shared = self._gates.head_columns(layer)
        for place, column in enumerate(columns):
            if column in self._left_out:
                self._apart[column] = mixed[:, place : place + 1] @ weight[place].mT
        if bias is not None and shared in self._left_out:
            self._apart[shared] = bias.expand_as(self._total)

    def write_mlp(self, layer: int, output: State) -> None:
        """Add the MLP's output."""
        self._write(source_column(self._gates.graph, Mlp(layer)), output)

    def needs_below(self, layer: int) -> Hashable:
        """Return the same, and the outputs that must be kept apart."""
        below = columns_below(self._gates.graph, layer)
        apart = sorted(column for column in self._left_out if column < below)
        return (super().needs_below(layer), tuple(apart))

    def held(self) -> Held:
        """Return the running sum, then each output that is kept apart."""
        return (((), self._total), *(((column,), output) for column, output in self._apart.items()))

    def take(self, held: Held) -> None:
        """Go on from a running sum and the outputs that were kept apart."""
        (_, self._total), *apart = held
        self._apart = {column: output for (column,), output in apart}

    def _write(self, column: int, output: State) -> None:
        self._total = self._total + output
        if column in self._left_out:
            self._apart[column] = output

    def _read(self, rows: list[int]) -> State:
        """Return the sum for each row, less the outputs behind its closed gates."""
        gaps = [self._gaps[row] for row in rows]
        if not any(gaps):
            return self._total
        return torch.cat([self._total - _sum(self._apart, columns) for columns in gaps], 1)


def _sum(outputs: dict[int, State], columns: list[int]) -> Tensor:
    """Return the sum of some outputs; in a model without biases those that heads share are not there."""
    chosen = [outputs[column] for column in columns if column in outputs]
    return torch.stack(chosen).sum(0) if chosen else torch.zeros(())


class GatedStream(_CircuitStream):
    """Each node reads only what its circuit keeps; nodes that no circuit uses are not computed."""

    def __init__(self, gates: Gates) -> None:
        super().__init__(gates)
        self._written: list[tuple[tuple[int, ...], State]] = []

    def write_embed(self, output: State) -> None:
        """Keep the embedding for those who read it."""
        self._written.append(((source_column(self._gates.graph, EMBED),), output))

    def write_heads(self, layer: int, mixed: State, weight: Tensor, bias: Tensor | None) -> None:
        """Keep each head's output, and the shared bias as one more output."""
        outputs = mixed @ weight.mT.unsqueeze(1)
        shared = torch.zeros_like(outputs[:, :1]) if bias is None else bias.expand_as(outputs[:, :1])
        self._written.append((tuple(self._gates.head_columns(layer)), torch.cat([outputs, shared], 1)))

    def write_mlp(self, layer: int, output: State) -> None:
        """Keep the MLP's output for those who read it."""
        self._written.append(((source_column(self._gates.graph, Mlp(layer)),), output))

    def held(self) -> Held:
        """Return every output that was written."""
        return tuple(self._written)

    def take(self, held: Held) -> None:
        """Go on from outputs that were written."""
        self._written = [*held]

    def _read(self, rows: list[int]) -> State:
        first = self._written[0][1]
        shape = first.shape[2:]
        total = first.new_zeros(self._gates.values.shape[0], len(rows), *shape)
        for columns, outputs in self._written:
            kept = self._gates.values[:, rows][:, :, list(columns)].to(first.dtype)
            if bool(kept.any()):
                total = total + (kept @ outputs.flatten(2)).unflatten(2, shape)
        return total
