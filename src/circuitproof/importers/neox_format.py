"""GPT-NeoX and Pythia as Hugging Face stores them: rotary positions, and MLPs that read beside the heads.

Every number is the one that was stored. The tables of positions are not stored: they are computed in FP64
and rounded to FP32.
"""

import re
from collections.abc import Mapping

import numpy as np

from circuitproof.errors import InputError
from circuitproof.files.reading import Fields, about
from circuitproof.importers.hf_layout import HfLayout, flag, refuse_unknown_options, zeros
from circuitproof.importers.slices import ALL, TensorSlice, span
from circuitproof.importers.stored import Array
from circuitproof.models.architecture import (
    ROTARY_TABLES,
    Architecture,
    Shapes,
    inverse_root,
    tensor_shapes,
)
from circuitproof.models.operators import Attention, Gelu, GeluForm, LayerNorm, Relu
from circuitproof.models.rotary import USUAL_BASE, rotary_tables

PREFIX = "gpt_neox."
_KIND = "GPT-NeoX"
_ROLES = ("query", "key", "value")
"""The order in which a head's part of `query_key_value` holds them."""
_USUAL_SHARE = "0.25"
_ACTIVATIONS = {
    "gelu": Gelu(GeluForm.EXACT),
    "gelu_python": Gelu(GeluForm.EXACT),
    "gelu_new": Gelu(GeluForm.TANH),
    "gelu_fast": Gelu(GeluForm.TANH),
    "gelu_pytorch_tanh": Gelu(GeluForm.TANH),
    "relu": Relu(),
}
_OPTIONS = frozenset(
    {
        "vocab_size",
        "hidden_size",
        "num_hidden_layers",
        "num_attention_heads",
        "intermediate_size",
        "hidden_act",
        "max_position_embeddings",
        "layer_norm_eps",
        "tie_word_embeddings",
        "use_parallel_residual",
        "rope_parameters",
        "attention_bias",
        "rotary_pct",
        "rotary_emb_base",
        "rope_theta",
        "partial_rotary_factor",
    }
)
_UNREAD = re.compile(r"layers\.[0-9]+\.attention\.((masked_)?bias|rotary_emb\.inv_freq)|rotary_emb\.inv_freq")
_WHOLE = {
    "embed.token": "embed_in.weight",
    "logits.norm.scale": "final_layer_norm.weight",
    "logits.norm.shift": "final_layer_norm.bias",
    "logits.weight": "embed_out.weight",
}
_OF_A_LAYER = {
    ("attention", "norm.scale"): "input_layernorm.weight",
    ("attention", "norm.shift"): "input_layernorm.bias",
    ("attention", "output.bias"): "attention.dense.bias",
    ("mlp", "norm.scale"): "post_attention_layernorm.weight",
    ("mlp", "norm.shift"): "post_attention_layernorm.bias",
    ("mlp", "up.weight"): "mlp.dense_h_to_4h.weight",
    ("mlp", "up.bias"): "mlp.dense_h_to_4h.bias",
    ("mlp", "down.weight"): "mlp.dense_4h_to_h.weight",
    ("mlp", "down.bias"): "mlp.dense_4h_to_h.bias",
}


def read_neox(fields: Fields) -> HfLayout:
    """Return the layout that a `config.json` declares."""
    refuse_unknown_options(fields, _OPTIONS, _KIND)
    with about(fields.where):
        architecture = _architecture(fields)
    has_biases = flag(fields, "attention_bias", default=True)
    return HfLayout(
        kind=_KIND,
        architecture=architecture,
        shapes=_their_shapes(architecture, has_biases=has_biases),
        place=lambda ours: _place_of(ours, architecture.head_width),
        output=("embed_out.weight", "embed_in.weight"),
        unread=_UNREAD,
        made=_made(architecture, _base(fields), has_biases=has_biases),
        notes=(
            "the tables of rotary positions are computed in FP64 and rounded to FP32",
            *(() if has_biases else ("biases of attention, which it does not have, are zeros",)),
        ),
    )


def _architecture(fields: Fields) -> Architecture:
    width, heads = (
        fields.integer("hidden_size", least=1),
        fields.integer("num_attention_heads", least=1),
    )
    if width % heads:
        raise InputError(f"{fields.path('hidden_size')} is {width}, which {heads} heads do not divide")
    return Architecture(
        vocabulary=fields.integer("vocab_size", least=1),
        context=fields.integer("max_position_embeddings", least=1),
        layers=fields.integer("num_hidden_layers", least=1),
        heads=heads,
        width=width,
        head_width=width // heads,
        mlp_width=fields.integer("intermediate_size", least=1),
        norm=LayerNorm(fields.rational("layer_norm_eps")),
        attention=Attention.SOFTMAX,
        attention_scale=inverse_root(width // heads),
        activation=_ACTIVATIONS[fields.one_of("hidden_act", _ACTIVATIONS)],
        tied=flag(fields, "tie_word_embeddings", default=False),
        biases=True,
        logit_bias=False,
        rotary=_rotary(fields, width // heads),
        parallel=flag(fields, "use_parallel_residual", default=True),
    )


def _rotary(fields: Fields, head_width: int) -> int:
    """Return how many coordinates are rotated: a share of a head's, in any of the ways to say it."""
    found, key = _rope(fields, "rotary_pct", "partial_rotary_factor")
    share = found.rational(key) if found.has(key) else Fields({key: _USUAL_SHARE}, "").rational(key)
    rotary = int(head_width * share)
    if not (0 < share <= 1 and rotary > 0 and rotary % 2 == 0):
        raise InputError(
            f"{found.path(key)} is {share}: {rotary} of {head_width} coordinates of a head would be rotated, "
            "want an even number of at least 2"
        )
    return rotary


def _base(fields: Fields) -> float:
    found, key = _rope(fields, "rotary_emb_base", "rope_theta")
    return found.number(key, above=1) if found.has(key) else USUAL_BASE


def _rope(fields: Fields, old: str, new: str) -> tuple[Fields, str]:
    """Return where an option of rotary positions stands: by itself, or among `rope_parameters`."""
    if fields.has("rope_parameters") and fields.value("rope_parameters") is not None:
        rope = fields.fields("rope_parameters")
        if rope.has("rope_type"):
            rope.one_of("rope_type", ("default",))
        if rope.has(new):
            return rope, new
    return (fields, new) if fields.has(new) else (fields, old)


def _their_shapes(architecture: Architecture, *, has_biases: bool) -> Shapes:
    width, inner = architecture.width, architecture.mlp_width
    attention = {"attention.query_key_value": (3 * width, width), "attention.dense": (width, width)}
    norms = {"input_layernorm": (width,), "post_attention_layernorm": (width,)}
    mlp = {"mlp.dense_h_to_4h": (inner, width), "mlp.dense_4h_to_h": (width, inner)}
    shapes: dict[str, tuple[int, ...]] = {"embed_in.weight": (architecture.vocabulary, width)}
    for layer in range(architecture.layers):
        for name, shape in {**attention, **norms, **mlp}.items():
            shapes[f"layers.{layer}.{name}.weight"] = shape
            if has_biases or name not in attention:
                shapes[f"layers.{layer}.{name}.bias"] = shape[:1]
    shapes |= dict.fromkeys(("final_layer_norm.weight", "final_layer_norm.bias"), (width,))
    return shapes if architecture.tied else {**shapes, "embed_out.weight": (architecture.vocabulary, width)}


def _place_of(ours: str, head_width: int) -> TensorSlice:
    match ours.split("."):
        case ["head", layer, index, "output", "weight"]:
            return TensorSlice(f"layers.{layer}.attention.dense.weight", (ALL, span(int(index), head_width)))
        case ["head", layer, index, role, kind]:
            own = span(int(index) * len(_ROLES) + _ROLES.index(role), head_width)
            return TensorSlice(f"layers.{layer}.attention.query_key_value.{kind}", (own,))
        case _ if ours in _WHOLE:
            return TensorSlice(_WHOLE[ours])
        case _:
            block, layer, part = ours.split(".", 2)
            return TensorSlice(f"layers.{layer}.{_OF_A_LAYER[block, part]}")


def _made(architecture: Architecture, base: float, *, has_biases: bool) -> Mapping[str, Array]:
    """Return what is not stored: the tables of positions, and zeros for biases that are not there."""
    assert architecture.rotary is not None  # noqa: S101  # every GPT-NeoX has rotary positions
    tables = rotary_tables(architecture.context, architecture.rotary, base)
    made = {name: np.array(table, np.float32) for name, table in zip(ROTARY_TABLES, tables, strict=True)}
    biases = {
        name: zeros(shape)
        for name, shape in tensor_shapes(architecture).items()
        if name.startswith(("head.", "attention.")) and name.endswith(".bias")
    }
    return made if has_biases else made | biases
