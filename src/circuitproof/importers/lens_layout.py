"""Where TransformerLens, and code like it, keeps the tensors of a model: three layouts.

| layout                                 | known by                              | matrices      |
|----------------------------------------|---------------------------------------|---------------|
| HookedTransformer                      | `attn.W_O` [head, d_head, d_model]    | [in, out]     |
| before it, as in "Grokking"            | `attn.W_O` [d_model, heads · d_head]  | [out, in]     |
| native, of TransformerLens 3 and 4     | `embed.weight`                        | [out, in]     |

In the second, embeddings are [d_model, vocabulary]; in the third, heads are stacked.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from circuitproof.errors import InputError
from circuitproof.importers.slices import ALL, TensorSlice, span
from circuitproof.importers.stored import StoredTensors


class HeadPart(Enum):
    """How a head's own tensor is cut out."""

    INDEX = "by its index"
    ROWS = "by its rows"
    COLUMNS = "by its columns"


@dataclass(frozen=True, slots=True)
class LensLayout:
    """The names of one layout by ours, without layers and heads, and how they are turned."""

    name: str
    names: Mapping[str, str]
    turned: frozenset[str]
    """Which of ours are the transposes of theirs."""
    parts: Mapping[str, HeadPart]
    buffers: re.Pattern[str]
    """What is stored with the weights and is no weight."""

    def theirs(self, ours: str) -> str:
        """Return the name of the tensor in which one of ours stands."""
        key, layer, _ = _parsed(ours)
        return self.names[key].replace("{}", layer)

    def place(self, ours: str, head_width: int) -> TensorSlice:
        """Return where a tensor stands, if it is there at all."""
        key, _, index = _parsed(ours)
        part: tuple[int | slice, ...]
        match self.parts.get(key):
            case HeadPart.INDEX:
                part = (index,)
            case HeadPart.ROWS:
                part = (span(index, head_width),)
            case HeadPart.COLUMNS:
                part = (ALL, span(index, head_width))
            case None:
                part = (ALL,)
        return TensorSlice(self.theirs(ours), part, key in self.turned)

    def their_shape(self, ours: str, shape: tuple[int, ...], heads: int) -> tuple[int, ...]:
        """Return the shape of the tensor in which one of ours, of this shape, stands."""
        key, _, _ = _parsed(ours)
        first, *rest = shape[::-1] if key in self.turned else shape
        match self.parts.get(key):
            case HeadPart.INDEX:
                return (heads, first, *rest)
            case HeadPart.ROWS:
                return (heads * first, *rest)
            case HeadPart.COLUMNS:
                return (first, *(heads * one for one in rest))
            case None:
                return (first, *rest)


def _parsed(ours: str) -> tuple[str, str, int]:
    """Return a name of ours without layer and head, and both of them."""
    match ours.split("."):
        case ["head", layer, index, role, kind]:
            return f"head.{role}.{kind}", layer, int(index)
        case [block, layer, *rest] if layer.isdigit():
            return ".".join([block, *rest]), layer, 0
        case _:
            return ours, "", 0


_BUFFERS = re.compile(r"blocks\.[0-9]+\.attn\.(mask|IGNORE|rotary_(sin|cos))")
_HEADS = {
    f"head.{role}.{kind}": f"blocks.{{}}.attn.{kind[0].upper() if kind == 'weight' else 'b'}_{letter}"
    for role, letter in {"query": "Q", "key": "K", "value": "V", "output": "O"}.items()
    for kind in ("weight", "bias")
}
_OF_LENS = {
    **_HEADS,
    "embed.token": "embed.W_E",
    "embed.position": "pos_embed.W_pos",
    "attention.output.bias": "blocks.{}.attn.b_O",
    "attention.norm.scale": "blocks.{}.ln1.w",
    "attention.norm.shift": "blocks.{}.ln1.b",
    "mlp.norm.scale": "blocks.{}.ln2.w",
    "mlp.norm.shift": "blocks.{}.ln2.b",
    "mlp.up.weight": "blocks.{}.mlp.W_in",
    "mlp.up.bias": "blocks.{}.mlp.b_in",
    "mlp.down.weight": "blocks.{}.mlp.W_out",
    "mlp.down.bias": "blocks.{}.mlp.b_out",
    "logits.norm.scale": "ln_final.w",
    "logits.norm.shift": "ln_final.b",
    "logits.weight": "unembed.W_U",
    "logits.bias": "unembed.b_U",
}
_MATRICES = frozenset(f"head.{role}.weight" for role in ("query", "key", "value", "output"))
HOOKED = LensLayout(
    "HookedTransformer",
    _OF_LENS,
    _MATRICES | {"mlp.up.weight", "mlp.down.weight", "logits.weight"},
    dict.fromkeys(_HEADS, HeadPart.INDEX),
    _BUFFERS,
)
GROKKING = LensLayout(
    "the layout of Grokking",
    _OF_LENS,
    frozenset({"embed.token", "logits.weight"}),
    {**dict.fromkeys(_HEADS, HeadPart.INDEX), "head.output.weight": HeadPart.COLUMNS},
    _BUFFERS,
)
_NATIVE_HEADS = {
    f"head.{role}.{kind}": f"blocks.{{}}.attn.{role[0]}.{kind}"
    for role in ("query", "key", "value", "output")
    for kind in ("weight", "bias")
}
NATIVE = LensLayout(
    "TransformerLens's native model",
    {
        **_NATIVE_HEADS,
        "embed.token": "embed.weight",
        "embed.position": "pos_embed.weight",
        "attention.output.bias": "blocks.{}.attn.o.bias",
        "attention.norm.scale": "blocks.{}.ln1.weight",
        "attention.norm.shift": "blocks.{}.ln1.bias",
        "mlp.norm.scale": "blocks.{}.ln2.weight",
        "mlp.norm.shift": "blocks.{}.ln2.bias",
        "mlp.up.weight": "blocks.{}.mlp.in.weight",
        "mlp.up.bias": "blocks.{}.mlp.in.bias",
        "mlp.down.weight": "blocks.{}.mlp.out.weight",
        "mlp.down.bias": "blocks.{}.mlp.out.bias",
        "logits.norm.scale": "ln_final.weight",
        "logits.norm.shift": "ln_final.bias",
        "logits.weight": "unembed.weight",
        "logits.bias": "unembed.bias",
    },
    frozenset(),
    {**dict.fromkeys(_NATIVE_HEADS, HeadPart.ROWS), "head.output.weight": HeadPart.COLUMNS},
    re.compile(r"blocks\.[0-9]+\.attn\.causal_mask|rotary\.(cos|sin)_cached"),
)
_PER_HEAD = 3
"""The dimensions of a tensor that has a matrix for each head."""


def layout_of(theirs: StoredTensors, where: str) -> LensLayout:
    """Return the layout whose tensors these are."""
    if "embed.weight" in theirs:
        return NATIVE
    if "embed.W_E" not in theirs or "blocks.0.attn.W_O" not in theirs:
        raise InputError(
            f"{where} has neither embed.W_E with blocks.0.attn.W_O nor embed.weight; want the state of a "
            "HookedTransformer or of TransformerLens's native model"
        )
    return HOOKED if len(theirs["blocks.0.attn.W_O"].shape) == _PER_HEAD else GROKKING
