"""What lies below a layer of models or circuits that are equal there, computed once for some prompts."""

from collections.abc import Callable, Hashable
from typing import TypeAlias

import torch
from jaxtyping import Int
from torch import Tensor

from circuitproof.circuits.graph import Graph
from circuitproof.nn.edge_masks import columns_below
from circuitproof.nn.stream import Held, Stream

EMBEDDING = -1
"""The layer below the first."""
_NUMBERS = 1 << 28
"""How many numbers are kept at most; what comes later is computed each time."""
_CIRCUITS = 2
"""How many circuits are remembered at each layer: the one that was met again, and the last one."""

TokenBatch: TypeAlias = Int[Tensor, "prompt position"]
Climb: TypeAlias = Callable[[range], None]
"""Computes what some layers write into a stream."""


class Below:
    """What streams hold where a layer begins, for as many models as are equal below it.

    Nothing below is trained: no gradient goes there.
    """

    def __init__(self, layer: int) -> None:
        self.layer = layer
        self._known: dict[tuple[Hashable, ...], Held] = {}
        self._numbers = 0

    def bring(self, tokens: TokenBatch, stream: Stream, climb: Climb) -> int:
        """Bring a stream to where the layer begins: from memory, or by computing what is below."""
        key = (_batch(tokens), _needs(stream, self.layer))
        if key in self._known:
            stream.take(self._known[key])
        else:
            with torch.no_grad():
                climb(range(EMBEDDING, self.layer))
            self._keep(key, stream.held())
        return self.layer

    def _keep(self, key: tuple[Hashable, ...], held: Held) -> None:
        numbers = sum(output.numel() for _, output in held)
        if self._numbers + numbers <= _NUMBERS:
            self._known[key] = held
            self._numbers += numbers


class Levels:
    """What the last circuits of one model held where each layer begins.

    A circuit without one edge is the same below the node that the edge leads to.
    """

    def __init__(self, layers: int) -> None:
        self._layers = layers
        self._known: dict[Hashable, dict[Hashable, Held]] = {}

    @staticmethod
    def fit(graph: Graph, width: int, tokens: int) -> bool:
        """Say whether there is room on so many tokens, even if no two layers remember the same circuit."""
        columns = sum(columns_below(graph, layer) for layer in range(1, graph.layers + 1))
        return _CIRCUITS * columns * width * tokens <= _NUMBERS

    def bring(self, tokens: TokenBatch, stream: Stream, climb: Climb) -> int:
        """Bring a stream to the top, from the highest layer below which it is known."""
        batch = _batch(tokens)
        for layer in range(self._recall(batch, stream), self._layers):
            climb(range(layer, layer + 1))
            self._keep((batch, layer + 1), _needs(stream, layer + 1), stream.held())
        return self._layers

    def _recall(self, batch: Hashable, stream: Stream) -> int:
        for layer in reversed(range(1, self._layers + 1)):
            needs, known = _needs(stream, layer), self._known.get((batch, layer), {})
            if needs in known:
                self._known[batch, layer] = {needs: known[needs]}
                stream.take(known[needs])
                return layer
        return EMBEDDING

    def _keep(self, place: Hashable, needs: Hashable, held: Held) -> None:
        known = self._known.setdefault(place, {})
        if len(known) == _CIRCUITS:
            known.popitem()
        known[needs] = held


StreamMemory: TypeAlias = Below | Levels
"""What brings streams to where some layer begins, from memory where it is known, and says which."""


def _batch(tokens: Tensor) -> Hashable:
    return tuple(tokens.shape), tokens.cpu().numpy().tobytes()


def _needs(stream: Stream, layer: int) -> Hashable:
    return type(stream), stream.needs_below(layer)
