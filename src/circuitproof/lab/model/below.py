"""What lies below a layer of models that are equal there, computed once for each batch of prompts."""

from collections.abc import Callable

import torch
from jaxtyping import Int
from torch import Tensor

from circuitproof.lab.model.stream import Held, Stream

_NUMBERS = 1 << 28
"""How many numbers are kept at most; what comes later is computed each time."""


class Below:
    """What streams hold where a layer begins, for as many models as are equal below it.

    Nothing below is trained: no gradient goes there.
    """

    def __init__(self, layer: int) -> None:
        self.layer = layer
        self._known: dict[tuple[object, ...], Held] = {}
        self._numbers = 0

    def bring(
        self, tokens: Int[Tensor, "prompt position"], stream: Stream, compute: Callable[[], None]
    ) -> None:
        """Bring a stream to where the layer begins: from memory, or by computing what is below."""
        key = (tuple(tokens.shape), tokens.numpy().tobytes(), type(stream), stream.needs_below(self.layer))
        if key in self._known:
            stream.take(self._known[key])
            return
        with torch.no_grad():
            compute()
        self._keep(key, stream.held())

    def _keep(self, key: tuple[object, ...], held: Held) -> None:
        numbers = sum(output.numel() for _, output in held)
        if self._numbers + numbers <= _NUMBERS:
            self._known[key] = held
            self._numbers += numbers
