"""GPT-2 as Hugging Face stores it: what its configuration declares, and where its tensors hold ours.

Nothing is folded or approximated: LayerNorm, softmax and GELU are declared as what they are. `place_of`
serves both directions, so what is read back after writing is what was there, bit for bit.
"""

import re
from fractions import Fraction

from circuitproof.errors import InputError
from circuitproof.files.canonical import Json
from circuitproof.files.reading import Fields, about
from circuitproof.importers.hf_layout import HfLayout, flag, refuse_flags, refuse_unknown_options
from circuitproof.importers.slices import ALL, TensorSlice, span
from circuitproof.models.architecture import Architecture, Shapes, inverse_root
from circuitproof.models.declaration import Declaration
from circuitproof.models.operators import Activation, Attention, Gelu, GeluForm, LayerNorm, Norm, Relu

_ACTIVATIONS = {
    "gelu_new": Gelu(GeluForm.TANH),
    "gelu_pytorch_tanh": Gelu(GeluForm.TANH),
    "gelu": Gelu(GeluForm.EXACT),
    "relu": Relu(),
}
_KIND, PREFIX = "GPT-2", "transformer."
_OPTIONS = frozenset(
    {
        "vocab_size",
        "n_positions",
        "n_embd",
        "n_layer",
        "n_head",
        "n_inner",
        "activation_function",
        "layer_norm_epsilon",
        "scale_attn_weights",
        "reorder_and_upcast_attn",
        "tie_word_embeddings",
    }
)
_UNREAD = re.compile(r"h\.[0-9]+\.attn\.(masked_)?bias")
"""The causal mask, which older versions stored; no forward of GPT-2 reads it from there."""
_ROLES = ("query", "key", "value")
"""The order in which `c_attn` holds them."""
_WHOLE = {
    "embed.token": "wte.weight",
    "embed.position": "wpe.weight",
    "logits.norm.scale": "ln_f.weight",
    "logits.norm.shift": "ln_f.bias",
    "logits.weight": "lm_head.weight",
}
_OF_A_LAYER = {
    ("attention", "norm.scale"): "ln_1.weight",
    ("attention", "norm.shift"): "ln_1.bias",
    ("attention", "output.bias"): "attn.c_proj.bias",
    ("mlp", "norm.scale"): "ln_2.weight",
    ("mlp", "norm.shift"): "ln_2.bias",
    ("mlp", "up.weight"): "mlp.c_fc.weight",
    ("mlp", "up.bias"): "mlp.c_fc.bias",
    ("mlp", "down.weight"): "mlp.c_proj.weight",
    ("mlp", "down.bias"): "mlp.c_proj.bias",
}


def place_of(ours: str, architecture: Architecture) -> TensorSlice:
    """Return where a tensor of a model of this architecture stands."""
    match ours.split("."):
        case ["head", layer, index, "output", "weight"]:
            return _place(f"h.{layer}.attn.c_proj.weight", span(int(index), architecture.head_width), ALL)
        case ["head", layer, index, role, kind]:
            own = span(_ROLES.index(role) * architecture.heads + int(index), architecture.head_width)
            return _place(f"h.{layer}.attn.c_attn.{kind}", *((own,) if kind == "bias" else (ALL, own)))
        case _ if ours in _WHOLE:
            return _place(_WHOLE[ours])
        case _:
            block, layer, part = ours.split(".", 2)
            return _place(f"h.{layer}.{_OF_A_LAYER[block, part]}")


def _place(theirs: str, *part: slice) -> TensorSlice:
    """Return a place; the matrices of a `Conv1D` multiply from the right."""
    is_turned = ".c_" in theirs and theirs.endswith(".weight")
    return TensorSlice(theirs, part or (ALL,), is_turned)


def their_shapes(architecture: Architecture) -> Shapes:
    """Return every tensor of the stored model with its shape, without the prefix `transformer.`."""
    width, inner = architecture.width, architecture.mlp_width
    embedding = (architecture.vocabulary, width)
    of_a_layer = {
        "ln_1": (width,),
        "attn.c_attn": (width, 3 * width),
        "attn.c_proj": (width, width),
        "ln_2": (width,),
        "mlp.c_fc": (width, inner),
        "mlp.c_proj": (inner, width),
    }
    layers = range(architecture.layers)
    maps = {f"h.{layer}.{name}": shape for layer in layers for name, shape in of_a_layer.items()}
    shapes: dict[str, tuple[int, ...]] = {
        "wte.weight": embedding,
        "wpe.weight": (architecture.context, width),
    }
    for name, shape in {**maps, "ln_f": (width,)}.items():
        shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[-1:]}
    return shapes if architecture.tied else {**shapes, "lm_head.weight": embedding}


def read_gpt2(fields: Fields) -> HfLayout:
    """Return the layout that a `config.json` declares."""
    architecture = read_config(fields)
    return HfLayout(
        kind=_KIND,
        architecture=architecture,
        shapes=their_shapes(architecture),
        place=lambda ours: place_of(ours, architecture),
        output=("lm_head.weight", "wte.weight"),
        unread=_UNREAD,
    )


def read_config(fields: Fields) -> Architecture:
    """Return the architecture that a `config.json` declares; keys that only training reads are left alone."""
    refuse_flags(fields, ("scale_attn_by_inverse_layer_idx", "add_cross_attention"), _KIND)
    refuse_unknown_options(fields, _OPTIONS, _KIND)
    with about(fields.where):
        return _architecture(fields)


def _architecture(fields: Fields) -> Architecture:
    width, heads = fields.integer("n_embd", least=1), fields.integer("n_head", least=1)
    if width % heads:
        raise InputError(f"{fields.path('n_embd')} is {width}, which {heads} heads do not divide")
    has_inner = fields.has("n_inner") and fields.value("n_inner") is not None
    scaled = flag(fields, "scale_attn_weights", default=True)
    return Architecture(
        vocabulary=fields.integer("vocab_size", least=1),
        context=fields.integer("n_positions", least=1),
        layers=fields.integer("n_layer", least=1),
        heads=heads,
        width=width,
        head_width=width // heads,
        mlp_width=fields.integer("n_inner", least=1) if has_inner else 4 * width,
        norm=LayerNorm(fields.rational("layer_norm_epsilon")),
        attention=Attention.SOFTMAX,
        attention_scale=inverse_root(width // heads) if scaled else Fraction(1),
        activation=_ACTIVATIONS[fields.one_of("activation_function", _ACTIVATIONS)],
        tied=flag(fields, "tie_word_embeddings", default=True),
        biases=True,
        logit_bias=False,
    )


def to_config(declaration: Declaration) -> Json:
    """Return the `config.json` of a model, which must be a GPT-2 as Hugging Face has it."""
    sizes = declaration.architecture
    if (misfit := _misfit(declaration)) is not None:
        raise InputError(f"GPT-2's format cannot hold this model: {misfit}")
    return {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        "vocab_size": sizes.vocabulary,
        "n_positions": sizes.context,
        "n_embd": sizes.width,
        "n_layer": sizes.layers,
        "n_head": sizes.heads,
        "n_inner": sizes.mlp_width,
        "activation_function": _activation_name(sizes.activation),
        "layer_norm_epsilon": _epsilon(sizes.norm),
        "scale_attn_weights": sizes.attention_scale == inverse_root(sizes.head_width),
        "tie_word_embeddings": sizes.tied,
        "bos_token_id": None,
        "eos_token_id": None,
        "torch_dtype": "float32",
    }


def _misfit(declaration: Declaration) -> str | None:
    """Return what keeps a model from being a GPT-2 as Hugging Face has it, if anything does."""
    sizes, activation = declaration.architecture, declaration.architecture.activation
    misfits = {
        "heads are programs": bool(declaration.programs),
        f"its norm is {sizes.norm.tag!r}, want LayerNorm": not isinstance(sizes.norm, LayerNorm),
        f"its attention is {sizes.attention}, want softmax": sizes.attention is not Attention.SOFTMAX,
        f"its activation is {activation.tag!r}, want GELU or ReLU": not _activation_name(activation),
        "its epsilon is not the shortest decimal of a double": _epsilon(sizes.norm) is None,
        f"{sizes.heads} heads of width {sizes.head_width} do not make up the width {sizes.width}": (
            sizes.heads * sizes.head_width != sizes.width
        ),
        f"attention is scaled by {sizes.attention_scale}, want 1/√{sizes.head_width} in FP32, or 1": (
            sizes.attention_scale not in (inverse_root(sizes.head_width), 1)
        ),
        "heads and MLPs have no biases": not sizes.biases,
        "it has no MLPs": not sizes.mlp_width,
        "its positions are rotations": sizes.rotary is not None,
        "its attention has no mask": not sizes.is_causal,
        "its MLPs read beside the heads": sizes.parallel,
        "the logits have a bias": sizes.logit_bias,
        f"it has {sizes.outputs} outputs, want one for each token": sizes.outputs is not None,
    }
    return next((sentence for sentence, applies in misfits.items() if applies), None)


def _activation_name(activation: Activation) -> str | None:
    return next((name for name, one in _ACTIVATIONS.items() if one == activation), None)


def _epsilon(norm: Norm) -> float | None:
    """Return the epsilon of a LayerNorm as the double whose shortest decimal it is, if it is one."""
    if not isinstance(norm, LayerNorm) or Fraction(repr(float(norm.epsilon))) != norm.epsilon:
        return None
    return float(norm.epsilon)
