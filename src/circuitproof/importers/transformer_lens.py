"""Models of TransformerLens, and of the code that it grew from, as model directories; no pickle is read.

Everything that is done to a model is one of its notes: norms that were folded, biases that it lacks,
coordinates in another order, logits of something else than tokens.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from circuitproof.errors import InputError
from circuitproof.files.canonical import refuse_existing
from circuitproof.files.reading import Fields, about, read_fields
from circuitproof.importers.foreign import Foreign, write_foreign
from circuitproof.importers.hf_layout import CONFIG
from circuitproof.importers.lens_config import LensConfig, plain_config
from circuitproof.importers.lens_layout import GROKKING, NATIVE, LensLayout, layout_of
from circuitproof.importers.lens_reader import LensReader
from circuitproof.importers.rotations import rotations_of
from circuitproof.importers.stored import (
    StoredTensors,
    count_layers,
    open_tensors,
    refuse_links,
    tensor_files,
    tensors_in_memory,
    widening_notes,
)
from circuitproof.models.architecture import Architecture
from circuitproof.models.declaration import NO_PROGRAMS, Declaration
from circuitproof.models.operators import Attention, NoNorm, Relu

_BLOCK = re.compile(r"blocks\.([0-9]{1,4})\.")
_WRAPPED = re.compile(r"(_orig_mod\.|module\.)*")
"""What compiling and training on several devices put before every name."""
_BIASES = (
    *(f"head.0.0.{role}.bias" for role in ("query", "key", "value")),
    *("attention.0.output.bias", "mlp.0.up.bias", "mlp.0.down.bias"),
)


def import_tl(source: Path, out: Path, config: Path | None = None) -> Foreign:
    """Turn a directory, or a safetensors file with its configuration beside, into a model directory."""
    if not source.exists():
        raise InputError(f"{source} is not there; name a directory or a safetensors file")
    refuse_existing(out)
    folder = source if source.is_dir() else source.parent
    refuse_links(folder)
    fields = read_fields(folder / CONFIG if config is None else config)
    files = tensor_files(source) if source.is_dir() else [source]
    with open_tensors(files, lambda name: _WRAPPED.sub("", name, 1)) as theirs:
        foreign = read_lens(theirs, fields, str(source))
        write_foreign(foreign, out)
    return foreign


def from_live(model: Any, out: Path, config: Mapping[str, object] | None = None) -> Foreign:  # noqa: ANN401  # TransformerLens need not be here
    """Write a model directory of a live model of TransformerLens, or of its state with its configuration."""
    is_state = isinstance(model, Mapping)
    if config is None and is_state:
        raise InputError("a state does not say what is computed with it; give config=model.cfg.to_dict()")
    found = dict[str, object](model if is_state else model.state_dict())
    state = {_WRAPPED.sub("", name, 1): tensor for name, tensor in found.items()}
    given = _options(model.cfg) if config is None else config
    foreign = read_lens(tensors_in_memory(state), Fields(plain_config(given), "config"), "the model")
    write_foreign(foreign, out)
    return foreign


def _options(config: Any) -> Mapping[str, object]:  # noqa: ANN401  # the same
    return config.to_dict() if hasattr(config, "to_dict") else vars(config)


@dataclass(frozen=True, slots=True)
class _LensSizes:
    """What the shapes of the tensors tell."""

    layers: int
    vocabulary: int
    """How many tokens are read."""
    predicted: int
    """How many logits there are."""
    context: int
    width: int
    heads: int
    head_width: int
    mlp_width: int

    def in_config(self) -> Mapping[str, int]:
        """Return them by the names of TransformerLens."""
        return {
            "n_layers": self.layers,
            "d_vocab": self.vocabulary,
            "d_vocab_out": self.predicted,
            "n_ctx": self.context,
            "d_model": self.width,
            "n_heads": self.heads,
            "d_head": self.head_width,
            "d_mlp": self.mlp_width,
        }


def read_lens(theirs: StoredTensors, fields: Fields, where: str) -> Foreign:
    """Return the model that tensors of one of the layouts and their configuration make."""
    is_nested = fields.has("original") and isinstance(fields.value("original"), dict)
    config = LensConfig(fields.fields("original") if is_nested else fields, layout_of(theirs, where))
    config.refuse_unsupported()
    sizes = _sizes(theirs, config, where)
    config.refuse_other_sizes(sizes.in_config())
    scale, scaled = config.scale(sizes.head_width)
    with about(fields.where):
        architecture = _architecture(theirs, config, sizes, scale)
    rotations = rotations_of(theirs, config, architecture)
    reader = LensReader(theirs, config.layout, architecture, rotations, config.is_folded, where)
    reader.refuse_unfit()
    notes = (
        *scaled,
        *config.mask(sizes.layers)[1],
        *(rotations.notes if rotations else ()),
        *(config.activation_note() if sizes.mlp_width else ()),
        *reader.notes(),
        *widening_notes(theirs, reader.used()),
        *config.unread_note(),
    )
    return Foreign(where, Declaration(architecture, NO_PROGRAMS, None), reader.tensor, notes)


def _sizes(theirs: StoredTensors, config: LensConfig, where: str) -> _LensSizes:
    """Return the sizes of a model; of the native layout the configuration says how many heads there are."""

    def out_in(ours: str) -> tuple[int, ...]:
        """Return the shape of a tensor of which ours is a part, as [out, in]."""
        shape = _shape(theirs, config.layout, ours, where)
        return shape[::-1] if config.layout.place(ours, 1).is_turned else shape

    vocabulary, width = out_in("embed.token")
    context = config.size("n_ctx") if config.is_rotary() else out_in("embed.position")[0]
    if context is None:
        raise InputError(f"{config.fields.path('n_ctx')} is missing: no tensor says how long prompts may be")
    heads, head_width = _heads(config, _shape(theirs, config.layout, "head.0.0.query.weight", where))
    return _LensSizes(
        layers=count_layers(theirs, _BLOCK),
        vocabulary=vocabulary,
        predicted=out_in("logits.weight")[0],
        context=context,
        width=width,
        heads=heads,
        head_width=head_width,
        mlp_width=out_in("mlp.0.up.weight")[0] if _has(theirs, config.layout, "mlp.0.up.weight") else 0,
    )


def _heads(config: LensConfig, query: tuple[int, ...]) -> tuple[int, int]:
    """Return how many heads there are, and how wide they are."""
    if config.layout is not NATIVE:
        return query[0], query[1 if config.layout is GROKKING else 2]
    heads = config.size("n_heads")
    if heads is None or query[0] % heads:
        raise InputError(f"{config.fields.path('n_heads')} is {heads}, want a divisor of {query[0]}")
    return heads, query[0] // heads


def _has(theirs: StoredTensors, layout: LensLayout, ours: str) -> bool:
    return layout.theirs(ours) in theirs


def _shape(theirs: StoredTensors, layout: LensLayout, ours: str, where: str) -> tuple[int, ...]:
    """Return the shape of the tensor in which one of ours stands, of as many dimensions as it must have."""
    name = layout.theirs(ours)
    if name not in theirs:
        raise InputError(f"{where} lacks tensor {name}, which {layout.name} needs")
    dimensions = 3 if ours.startswith("head.") and layout is not NATIVE else 2
    if len(shape := theirs[name].shape) != dimensions:
        raise InputError(f"{where}: tensor {name} has shape {shape}, want {dimensions} dimensions")
    return shape


def _architecture(
    theirs: StoredTensors, config: LensConfig, sizes: _LensSizes, scale: Fraction
) -> Architecture:
    _refuse_other_options(config, sizes)
    biases = [name for name in _BIASES if _has(theirs, config.layout, name)]
    has_scales = _has(theirs, config.layout, "logits.norm.scale")
    is_biased_output = _has(theirs, config.layout, "logits.bias")
    return Architecture(
        vocabulary=sizes.vocabulary,
        context=sizes.context,
        layers=sizes.layers,
        heads=sizes.heads,
        width=sizes.width,
        head_width=sizes.head_width,
        mlp_width=sizes.mlp_width,
        norm=NoNorm() if config.layout is GROKKING else config.norm(has_scales=has_scales),
        attention=Attention.SOFTMAX,
        attention_scale=scale,
        activation=config.activation() if sizes.mlp_width else Relu(),
        tied=False,
        biases=bool(biases),
        logit_bias=is_biased_output,
        rotary=(config.size("rotary_dim") or sizes.head_width) if config.is_rotary() else None,
        parallel=config.flag("parallel_attn_mlp"),
        mask=config.mask(sizes.layers)[0],
        outputs=None if sizes.predicted == sizes.vocabulary else sizes.predicted,
    )


def _refuse_other_options(config: LensConfig, sizes: _LensSizes) -> None:
    """Refuse options that the tensors contradict, or that have no place here."""
    fields, has_mlps = config.fields, sizes.mlp_width > 0
    if fields.has("attn_only") and config.flag("attn_only") is has_mlps:
        said, found = ("true", "MLPs") if has_mlps else ("false", "no MLPs")
        raise InputError(f"{fields.path('attn_only')} is {said}, but there are {found} among the tensors")
    if (groups := config.size("n_key_value_heads")) not in (None, sizes.heads):
        raise InputError(
            f"{fields.path('n_key_value_heads')} is {groups}, want {sizes.heads}: "
            "grouped queries are not there yet"
        )
    if config.flag("scale_attn_by_inverse_layer_idx") and sizes.layers > 1:
        key = fields.path("scale_attn_by_inverse_layer_idx")
        raise InputError(f"{key} is true, want false: one scale of attention serves all layers")
    if config.flag("parallel_attn_mlp") and config.layout is NATIVE:
        raise InputError(f"{fields.path('parallel_attn_mlp')} is true, which {NATIVE.name} does not compute")
