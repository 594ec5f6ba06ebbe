"""The tensors of a model as enclosed rows and affine maps, each made once."""

from typing import cast

from circuitproof_check.architecture import Band, LayerNorm, embedding
from circuitproof_check.forward import Forward
from circuitproof_check.reading import require
from circuitproof_check.work import OBJECT, spend

from . import rows
from .maps import AffineMap
from .places import Spot
from .rows import RowBall


class Parameters:
    """What circuits of a claim read of its weights, at a precision."""

    def __init__(self, forward: Forward, precision: int) -> None:
        self.forward, self.precision, self.size = forward, precision, forward.size
        self._maps: dict[str, AffineMap] = {}
        self._tensors: dict[tuple[str, int], RowBall] = {}

    def tensor(self, name: str, row: int | None = None) -> RowBall:
        """Return a row of a tensor, or the whole of one that has no other dimension."""
        asked = name, -1 if row is None else row
        if asked not in self._tensors:
            found = self.forward.whole(name) if row is None else self.forward.row(name, row)
            self._tensors[asked] = rows.of_tensor(found, self.precision)
        return self._tensors[asked]

    def embedded(self, spot: Spot) -> RowBall:
        """Return what `embed` puts out."""
        spend(OBJECT)
        tables = embedding(self.size, spot.entry.prompt[spot.position], spot.position)
        return rows.total([self.tensor(table, row) for table, row in tables], self.size.width)

    def normed(self, name: str, row: RowBall) -> RowBall:
        """Return a row after a norm of that name, if the architecture has norms."""
        norm = self.size.norm
        require("norm_has_enclosures", not isinstance(norm, Band), name, norm)
        if norm is None:
            return row
        epsilon = cast("LayerNorm", norm).epsilon
        scale, shift = self.forward.whole(f"{name}.scale"), self.forward.whole(f"{name}.shift")
        return rows.layer_normed(row, epsilon, scale, shift, self.precision)

    def map(self, name: str) -> AffineMap:
        """Return an affine map; a head puts out what has no bias of its own."""
        if name not in self._maps:
            biases = [] if name.endswith(".output") else self.forward.biases(name)
            bias = biases[0] if biases else None
            self._maps[name] = AffineMap(*self.forward.entries(name), bias, self.precision)
        return self._maps[name]
