"""Ways of passing outputs on: the plain residual stream, one with gaps in it, and those masked by circuits.

Tensors carry the axes (circuit, head, prompt, position, width); an axis of size one is shared.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import TypeAlias

import torch
from jaxtyping import Float
from torch import Tensor

from circuitproof.circuits.graph import EMBED, Granularity, Graph, Head, Node, Port, Target, Use
from circuitproof.nn.edge_masks import (
    EdgeMasks,
    columns_before,
    columns_below,
    rows_below,
    source_column,
    target_row,
)

StreamState = Float[Tensor, "_ _ prompt position _"]
Held: TypeAlias = tuple[tuple[tuple[int, ...], Tensor], ...]
"""What a stream holds between two layers: outputs, each with the columns it stands for."""
Inputs: TypeAlias = tuple[StreamState, StreamState, StreamState]
"""What heads read for their queries, keys and values; often the same."""


class PlainStream:
    """Every edge kept: one running sum that every node reads."""

    def __init__(self, head_count: int, device: torch.device) -> None:
        self._heads = tuple(range(head_count))
        self._total = torch.zeros((), device=device)

    def heads(self, layer: int) -> tuple[int, ...]:  # noqa: ARG002  # the same at every layer
        """Return the heads of a layer that are to be computed."""
        return self._heads

    def has_mlp(self, layer: int) -> bool:  # noqa: ARG002  # the same at every layer
        """Say whether the MLP of a layer is to be computed."""
        return True

    def read(self, targets: Sequence[Target]) -> StreamState:  # noqa: ARG002  # one sum for all
        """Return what is read at targets of one kind, in each circuit; one for all where it is the same."""
        return self._total

    def read_heads(self, layer: int) -> Inputs:  # noqa: ARG002  # one sum for all
        """Return what the heads of a layer that are to be computed read."""
        return self._total, self._total, self._total

    def write(self, node: Node, output: StreamState) -> None:
        """Take the output of a node that is no head."""
        self._total = output if node == EMBED else self._total + output

    def write_heads(self, layer: int, mixed: StreamState, weight: Tensor, bias: Tensor | None) -> None:  # noqa: ARG002  # one sum for all
        """Take the mixed values of the heads, to be mapped by their output weights; the bias is shared."""
        self._total = self._total + _all_heads(mixed, weight, bias)

    def needs_below(self, layer: int) -> Hashable:  # noqa: ARG002  # the same at every layer
        """Return what decides, beside weights and prompts, what the stream holds where a layer begins."""
        return None

    def held(self) -> Held:
        """Return what the stream holds now."""
        return (((), self._total),)

    def take(self, held: Held) -> None:
        """Go on from what a stream with the same needs held."""
        ((_, self._total),) = held


class RecordingStream(PlainStream):
    """The same, remembering what every node writes, each under its column."""

    def __init__(self, graph: Graph, device: torch.device) -> None:
        super().__init__(graph.heads, device)
        self._graph = graph
        self.outputs: dict[int, StreamState] = {}

    def write(self, node: Node, output: StreamState) -> None:
        super().write(node, output)
        self.outputs[source_column(self._graph, node)] = output

    def write_heads(self, layer: int, mixed: StreamState, weight: Tensor, bias: Tensor | None) -> None:
        super().write_heads(layer, mixed, weight, bias)
        first = columns_below(self._graph, layer)
        outputs = mixed @ weight.mT.unsqueeze(1)
        for place in range(outputs.shape[1]):
            self.outputs[first + place] = outputs[:, place : place + 1]
        if bias is not None:
            self.outputs[first + outputs.shape[1]] = bias.expand_as(outputs[:, :1])

    def stacked(self) -> Float[Tensor, "source prompt position width"]:
        """Return all outputs by column; in a model without biases or MLPs there are columns of zeros."""
        nothing = torch.zeros_like(self.outputs[0])
        columns = range(columns_below(self._graph, self._graph.layers))
        return torch.cat([self.outputs.get(column, nothing) for column in columns], 1)[0]


def _all_heads(mixed: StreamState, weight: Tensor, bias: Tensor | None) -> StreamState:
    """Return the sum of the heads' outputs, as one matrix product."""
    side_by_side = mixed.movedim(1, -2).flatten(-2)
    return torch.nn.functional.linear(side_by_side, weight.movedim(0, 1).flatten(1), bias).unsqueeze(1)


class _CircuitStream(ABC):
    """What circuits use and read of a stream, by their masks."""

    def __init__(self, masks: EdgeMasks, device: torch.device) -> None:
        self._masks, self._values = masks, masks.values.to(device)

    def heads(self, layer: int) -> tuple[int, ...]:
        return self._masks.heads[layer]

    def has_mlp(self, layer: int) -> bool:
        return self._masks.mlps[layer]

    def needs_below(self, layer: int) -> Hashable:
        """Return the nodes below that are computed, the masks between them, and what cut edges carry."""
        masks, rows = self._masks, rows_below(self._masks.graph, layer)
        values = masks.values.detach()[:, :rows, : columns_below(masks.graph, layer)].contiguous()
        used = (masks.heads[:layer], masks.mlps[:layer], masks.ablation)
        return (*used, tuple(values.shape), values.numpy().tobytes())

    @abstractmethod
    def read(self, targets: Sequence[Target]) -> StreamState:
        """Return what is read at targets of one kind, in each circuit."""

    def read_heads(self, layer: int) -> Inputs:
        """Return what the heads of a layer that are to be computed read."""
        heads = [Head(layer, index) for index in self.heads(layer)]
        if self._masks.graph.granularity is Granularity.HEAD:
            read = self.read(heads)
            return read, read, read
        query, key, value = (self.read([Port(head, use) for head in heads]) for use in Use)
        return query, key, value

    def _rows(self, targets: Sequence[Target]) -> list[int]:
        return [target_row(self._masks.graph, target) for target in targets]


class GapStream(_CircuitStream):
    """One circuit that keeps nearly everything: each node reads the running sum less what it must not read.

    This costs a plain forward and one subtraction per gap, where a masked stream sums up every edge.
    """

    def __init__(self, masks: EdgeMasks, device: torch.device) -> None:
        super().__init__(masks, device)
        self._gaps = masks.gaps()
        self._left_out = {column for columns in self._gaps.values() for column in columns}
        self._total = torch.zeros((), device=device)
        self._apart: dict[int, StreamState] = {}

    def read(self, targets: Sequence[Target]) -> StreamState:
        """Return the sum for each node, less the outputs that its masks cut."""
        gaps = [self._gaps[row] for row in self._rows(targets)]
        if not any(gaps):
            return self._total
        return torch.cat([self._total - self._left(columns) for columns in gaps], 1)

    def _left(self, columns: list[int]) -> Tensor:
        """Return the sum of some outputs; in a model without biases those that heads share are not there."""
        chosen = [self._apart[column] for column in columns if column in self._apart]
        return torch.stack(chosen).sum(0) if chosen else self._total.new_zeros(())

    def write(self, node: Node, output: StreamState) -> None:
        self._total = self._total + output
        if (column := source_column(self._masks.graph, node)) in self._left_out:
            self._apart[column] = output

    def write_heads(self, layer: int, mixed: StreamState, weight: Tensor, bias: Tensor | None) -> None:
        self._total = self._total + _all_heads(mixed, weight, bias)
        *columns, shared = self._masks.head_columns(layer)
        for place, column in enumerate(columns):
            if column in self._left_out:
                self._apart[column] = mixed[:, place : place + 1] @ weight[place].mT
        if bias is not None and shared in self._left_out:
            self._apart[shared] = bias.expand_as(self._total)

    def needs_below(self, layer: int) -> Hashable:
        """Return the same, and the outputs that must be kept apart."""
        below = columns_below(self._masks.graph, layer)
        apart = sorted(column for column in self._left_out if column < below)
        return (super().needs_below(layer), tuple(apart))

    def held(self) -> Held:
        """Return the running sum, then each output that is kept apart."""
        return (((), self._total), *(((column,), output) for column, output in self._apart.items()))

    def take(self, held: Held) -> None:
        (_, self._total), *apart = held
        self._apart = {column: output for (column,), output in apart}


class MaskedStream(_CircuitStream):
    """Each node reads only what its circuit keeps; nodes that no circuit uses are not computed."""

    def __init__(self, masks: EdgeMasks, device: torch.device) -> None:
        super().__init__(masks, device)
        self._written: Held = ()

    def read(self, targets: Sequence[Target]) -> StreamState:
        rows, first = self._rows(targets), self._written[0][1]
        shape = first.shape[2:]
        total = first.new_zeros(self._masks.values.shape[0], len(rows), *shape)
        for columns, outputs in self._written:
            if bool(self._masks.values[:, rows][:, :, list(columns)].any()):
                kept = self._values[:, rows][:, :, list(columns)].to(first.dtype)
                total = total + (kept @ outputs.flatten(2)).unflatten(2, shape)
        return total

    def write(self, node: Node, output: StreamState) -> None:
        self._written += (((source_column(self._masks.graph, node),), output),)

    def write_heads(self, layer: int, mixed: StreamState, weight: Tensor, bias: Tensor | None) -> None:
        """Keep each head's output, and the shared bias as one more output."""
        outputs = mixed @ weight.mT.unsqueeze(1)
        shared = torch.zeros_like(outputs[:, :1]) if bias is None else bias.expand_as(outputs[:, :1])
        self._written += ((tuple(self._masks.head_columns(layer)), torch.cat([outputs, shared], 1)),)

    def held(self) -> Held:
        return self._written

    def take(self, held: Held) -> None:
        self._written = held


class SubstitutedStream(MaskedStream):
    """The same where a cut edge carries what its source put out elsewhere."""

    def __init__(self, masks: EdgeMasks, substitutes: Float[Tensor, "source prompt position width"]) -> None:
        super().__init__(masks, substitutes.device)
        self._substitutes = substitutes

    def read(self, targets: Sequence[Target]) -> StreamState:
        kept, earlier = super().read(targets), columns_before(self._masks.graph, targets[0])
        cut = 1 - self._values[:, self._rows(targets)][:, :, :earlier].to(kept.dtype)
        return kept + torch.einsum("crs,s...->cr...", cut, self._substitutes[:earlier])


Stream: TypeAlias = PlainStream | GapStream | MaskedStream
"""Where nodes read and write. Each node is written once, in the order of computation."""
