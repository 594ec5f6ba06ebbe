"""The tensors of a TransformerLens model by our names, with something in the place of what it lacks."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from circuitproof.errors import InputError
from circuitproof.importers.foreign import finite
from circuitproof.importers.lens_layout import LensLayout
from circuitproof.importers.rotations import Rotations
from circuitproof.importers.stored import Array, StoredTensors, refuse_other_tensors
from circuitproof.models.architecture import ROTARY_TABLES, Architecture, tensor_shapes


@dataclass(frozen=True, slots=True)
class LensReader:
    """Reads tensors of a layout by our names."""

    theirs: StoredTensors
    layout: LensLayout
    architecture: Architecture
    rotations: Rotations | None
    is_folded: bool
    """Whether norms have neither scale nor shift of their own."""
    where: str

    def tensor(self, ours: str) -> Array:
        """Return one of our tensors."""
        if self.rotations is not None and ours in ROTARY_TABLES:
            return self.rotations.tables[ROTARY_TABLES.index(ours)]
        place = self.layout.place(ours, self.architecture.head_width)
        if place.theirs in self.theirs:
            found = finite(place.cut(self.theirs[place.theirs]), f"{self.where}: tensor {place.theirs}")
        else:
            found = np.full(
                self._own_shapes()[ours], 1.0 if ours.endswith(".norm.scale") else 0.0, np.float32
            )
        if self.rotations is not None and ours.startswith("head.") and (".query." in ours or ".key." in ours):
            found = self.rotations.reordered(found)
        return found

    def refuse_unfit(self) -> None:
        """Refuse tensors that are missing, of another shape, strange, or of no numbers."""
        heads, wanted = self.architecture.heads, dict[str, tuple[int, ...]]()
        for ours, shape in self._own_shapes().items():
            if self.layout.theirs(ours) in self.theirs or not self._may_lack(ours):
                wanted[self.layout.theirs(ours)] = self.layout.their_shape(ours, shape, heads)
        refuse_other_tensors(self.theirs, wanted, self.where, self.layout.name)
        strange = [n for n in self.theirs if n not in wanted and not self.layout.buffers.fullmatch(n)]
        if strange:
            raise InputError(
                f"{self.where} holds tensor {strange[0]}, which {self.layout.name} does not read"
            )

    def used(self) -> tuple[str, ...]:
        """Return the names of the tensors that are read."""
        names = map(self.layout.theirs, self._own_shapes())
        return tuple(dict.fromkeys(name for name in names if name in self.theirs))

    def notes(self) -> Iterator[str]:
        """Say what stands in the place of tensors and rows that are not there."""
        lacking = [ours for ours in self._own_shapes() if self.layout.theirs(ours) not in self.theirs]
        if any(".norm." in ours for ours in lacking):
            yield "the norms' scales and shifts, which were folded into what reads them, are 1 and 0"
        if any(ours.endswith(".bias") and ours != "logits.bias" for ours in lacking):
            yield "biases that it does not have are zeros"
        if (outputs := self.architecture.outputs) is not None:
            tokens = self.architecture.vocabulary
            yield f"it has {outputs} outputs and {tokens} tokens: no output is taken for a token"

    def _own_shapes(self) -> Mapping[str, tuple[int, ...]]:
        """Return our tensors that are stored."""
        shapes = tensor_shapes(self.architecture)
        return {ours: shape for ours, shape in shapes.items() if ours not in ROTARY_TABLES}

    def _may_lack(self, ours: str) -> bool:
        """Say whether a tensor may be missing: with all that are like it, in every layer, or not at all."""
        if ".norm." in ours:
            return self.is_folded
        alike = [one for one in self._own_shapes() if _family(one) == _family(ours) != ""]
        return bool(alike) and not any(self.layout.theirs(one) in self.theirs for one in alike)


def _family(ours: str) -> str:
    """Return which biases a model has all of or none of: those of attention, of MLPs, of the logits."""
    return ours.partition(".")[0].replace("head", "attention") if ours.endswith(".bias") else ""
