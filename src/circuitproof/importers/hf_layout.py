"""What the importers of Hugging Face's directories share: where a model's tensors stand, and its options."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from circuitproof.errors import InputError
from circuitproof.files.reading import Fields
from circuitproof.importers.foreign import finite
from circuitproof.importers.slices import TensorSlice
from circuitproof.importers.stored import Array, StoredTensors, refuse_other_tensors
from circuitproof.models.architecture import Architecture, Shapes

CONFIG = "config.json"
SliceOf: TypeAlias = Callable[[str], TensorSlice]
_HARMLESS = re.compile(
    r".*(_token_id|_pdrop|dropout(_prob)?|_penalty|_version|_dtype|label.*)"
    r"|(summary|output|num_beam|_?attn_impl|predict_special).*"
    r"|architectures|model_type|dtype|use_cache|initializer_range|task_specific_params|n_ctx|n_special"
    r"|return_dict|gradient_checkpointing|is_decoder|temperature|top_[kp]|typical_p|(min|max)_length"
    r"|do_sample|early_stopping|num_return_sequences|(encoder_)?no_repeat_ngram_size"
)
"""Options that change training, sampling or the shape of what is returned, but no logit."""


@dataclass(frozen=True, slots=True)
class HfLayout:
    """A stored model: its architecture, the tensors of its file, and where ours stand among them."""

    kind: str
    """What people call models of this layout."""
    architecture: Architecture
    shapes: Shapes
    """Every tensor that must be there, without the prefix."""
    place: SliceOf
    output: tuple[str, str]
    """The names of the output embedding, and of the token embedding that it may be tied to."""
    unread: re.Pattern[str]
    """Names of what older versions stored and no forward reads from there."""
    made: Mapping[str, Array] = field(default_factory=dict[str, Array])
    """Tensors of ours that are not stored."""
    notes: tuple[str, ...] = ()

    def refuse_unfit(self, theirs: StoredTensors, where: str) -> None:
        """Refuse tensors that are not just those of the configuration, before any of them is read."""
        output, embedding = self.output
        spare = {output: self.shapes[embedding]} if output in theirs else {}
        refuse_other_tensors(theirs, {**self.shapes, **spare}, where, f"its {CONFIG}")
        for name in theirs:
            if name not in self.shapes and name not in spare and not self.unread.fullmatch(name):
                raise InputError(f"{where} holds tensor {name}, which {self.kind} does not have")
        is_doubled = self.architecture.tied and spare
        if is_doubled and theirs[output][:].tobytes() != theirs[embedding][:].tobytes():
            raise InputError(f"{where}: {output} is not {embedding}, though its {CONFIG} ties them")

    def tensor(self, ours: str, theirs: StoredTensors, where: str) -> Array:
        """Return one of our tensors, found to be finite."""
        if ours in self.made:
            return self.made[ours]
        place = self.place(ours)
        return finite(place.cut(theirs[place.theirs]), f"{where}: tensor {place.theirs}")


def refuse_unknown_options(fields: Fields, known: frozenset[str], kind: str) -> None:
    """Refuse an option that is set and not known: it may be one that changes what the model computes."""
    for key in fields.keys():  # noqa: SIM118  # Fields is not a mapping
        value = fields.value(key)
        if key in known or _HARMLESS.fullmatch(key) or isinstance(value, str) or not value:
            continue
        raise InputError(
            f"{fields.path(key)} is set, an option that {kind} here does not have; "
            "take it out if no logit depends on it"
        )


def flag(fields: Fields, key: str, *, default: bool) -> bool:
    """Return an option that is true or false."""
    return fields.boolean(key) if fields.has(key) else default


def refuse_flags(fields: Fields, keys: tuple[str, ...], kind: str) -> None:
    """Refuse options that change what is computed."""
    for key in keys:
        if flag(fields, key, default=False):
            raise InputError(f"{fields.path(key)} is true, want false: {kind} itself has none of it")


def zeros(shape: tuple[int, ...]) -> Array:
    """Return what stands for a bias that a model does not have."""
    return np.zeros(shape, np.float32)
