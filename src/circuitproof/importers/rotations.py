"""Rotary positions of TransformerLens: its tables where they are stored, and the order of coordinates.

Where adjacent coordinates are rotated together, queries and keys are reordered so that the two halves are:
a score is the same sum in another order.
"""

from dataclasses import dataclass

import numpy as np

from circuitproof.errors import InputError
from circuitproof.importers.foreign import finite
from circuitproof.importers.lens_config import LensConfig
from circuitproof.importers.lens_layout import NATIVE
from circuitproof.importers.stored import Array, StoredTensors
from circuitproof.models.architecture import Architecture
from circuitproof.models.rotary import USUAL_BASE, rotary_tables


@dataclass(frozen=True, slots=True)
class Rotations:
    """The tables of cosines and sines, and where each rotated coordinate stood."""

    tables: tuple[Array, Array]
    order: tuple[int, ...]
    notes: tuple[str, ...]

    def reordered(self, tensor: Array) -> Array:
        """Return rows of a query or key map in the order in which they are rotated here."""
        return np.concatenate([tensor[list(self.order)], tensor[len(self.order) :]])


def rotations_of(theirs: StoredTensors, config: LensConfig, architecture: Architecture) -> Rotations | None:
    """Return the rotations of a model that has them."""
    rotary = architecture.rotary
    if rotary is None:
        return None
    is_adjacent = config.layout is NATIVE or config.flag("rotary_adjacent_pairs")
    pairs = [*range(0, rotary, 2), *range(1, rotary, 2)]
    order = tuple(pairs if is_adjacent else range(rotary))
    moved = (
        ("pairs of adjacent coordinates of queries and keys are stored as two halves",) if is_adjacent else ()
    )
    if "blocks.0.attn.rotary_cos" in theirs:
        tables = (_stored(theirs, "cos", order, architecture), _stored(theirs, "sin", order, architecture))
        return Rotations(tables, order, ("the tables of rotary positions are those that are stored", *moved))
    if config.flag("use_NTK_by_parts_rope"):
        path = config.fields.path("use_NTK_by_parts_rope")
        raise InputError(f"{path} is true, want false, or the tables of positions stored with the weights")
    base = config.fields.number("rotary_base", above=1) if config.fields.has("rotary_base") else USUAL_BASE
    cosines, sines = (np.array(one, np.float32) for one in rotary_tables(architecture.context, rotary, base))
    computed = "the tables of rotary positions are computed in FP64 and rounded to FP32"
    return Rotations((cosines, sines), order, (computed, *moved))


def _stored(theirs: StoredTensors, kind: str, order: tuple[int, ...], architecture: Architecture) -> Array:
    """Return a stored table, the same in every layer and in both coordinates of a pair."""
    name, half = f"blocks.0.attn.rotary_{kind}", len(order) // 2
    for layer in range(architecture.layers):
        own = f"blocks.{layer}.attn.rotary_{kind}"
        if own not in theirs or theirs[own].shape != (architecture.context, len(order)):
            raise InputError(f"tensor {own} is missing or not of {architecture.context} rows of {len(order)}")
        if not np.array_equal(theirs[own][:], theirs[name][:]):
            raise InputError(f"tensor {own} is not {name}; one table serves all layers")
    table = finite(theirs[name][:], f"tensor {name}")[:, list(order)]
    if not np.array_equal(table[:, :half], table[:, half:]):
        raise InputError(f"tensor {name} rotates the two coordinates of a pair by different angles")
    return table[:, :half]
