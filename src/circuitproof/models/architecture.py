"""A transformer as data: sizes and operators, and the tensors that follow from them."""

import struct
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import TypeAlias

from circuitproof.circuits.graph import Graph, Head
from circuitproof.errors import DeclarationError
from circuitproof.files.canonical import Json
from circuitproof.files.codec import Codec, PositiveInt, Size, record_to_json
from circuitproof.files.reading import Fields
from circuitproof.models.operators import Activation, Attention, BandNorm, Mask, NoNorm, Norm

_FLOAT32_BITS = 24
_LARGEST_BITS = 0x7F7FFFFF
"""The bits of the largest finite FP32 number; those of smaller positive ones are smaller."""

Shapes: TypeAlias = Mapping[str, tuple[int, ...]]

ROTARY_TABLES = ("rotary.cos", "rotary.sin")

_MOST = {
    "vocabulary": 1 << 21,
    "predicted": 1 << 21,
    "context": 1 << 21,
    "layers": 1 << 12,
    "heads": 1 << 12,
    "width": 1 << 18,
    "head_width": 1 << 18,
    "mlp_width": 1 << 20,
}
"""The largest sizes that are read: larger ones are mistakes, and would be built before they are noticed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """A transformer with pre-norms, at any scale; without `rotary`, positions are learned."""

    vocabulary: PositiveInt
    context: PositiveInt
    layers: PositiveInt
    heads: PositiveInt
    width: PositiveInt
    head_width: PositiveInt
    mlp_width: Size
    norm: Norm
    attention: Attention
    attention_scale: Fraction
    activation: Activation
    tied: bool
    """The output embedding is the token embedding."""
    biases: bool
    """Linear maps of heads and MLPs have biases."""
    logit_bias: bool
    """The output embedding has a bias."""
    rotary: PositiveInt | None = None
    """How many coordinates of queries and keys are rotated by their position, in the place of embeddings."""
    parallel: bool = False
    """The MLP of a layer reads what its heads read, not what they put out."""
    mask: Mask = Mask.CAUSAL
    outputs: PositiveInt | None = None
    """How many logits there are, where that is not one for each token of the vocabulary."""

    def __post_init__(self) -> None:
        for name, most in _MOST.items():
            least = 0 if name == "mlp_width" else 1
            if not least <= getattr(self, name) <= most:
                found = getattr(self, name)
                said = "outputs" if name == "predicted" else name
                raise DeclarationError(f"architecture.{said} is {found}, want {least} to {most}")
        self._refuse_needless_outputs()
        Graph(self.layers, self.heads)  # refuses one that is too large
        if isinstance(self.norm, BandNorm) and self.width == 1:
            raise DeclarationError("architecture.width is 1, want at least 2: BandNorm centres what it reads")
        if self.rotary is not None and not (2 <= self.rotary <= self.head_width and self.rotary % 2 == 0):  # noqa: PLR2004  # pairs
            raise DeclarationError(
                f"architecture.rotary is {self.rotary}, want an even number from 2 to {self.head_width}"
            )
        if not (self.attention_scale > 0 and is_float32(self.attention_scale)):
            near = nearest_float32(self.attention_scale) if self.attention_scale > 0 else None
            raise DeclarationError(
                f"architecture.attention_scale is {self.attention_scale}, want a positive FP32 value"
                + ("" if near is None else f'; the nearest is "{near}"')
            )

    def _refuse_needless_outputs(self) -> None:
        if self.outputs is not None and self.tied:
            raise DeclarationError(
                f"architecture.outputs is {self.outputs} and tied is true: the output embedding cannot be "
                "that of tokens; leave one out"
            )
        if self.outputs == self.vocabulary:
            raise DeclarationError(
                f"architecture.outputs is {self.outputs}, as many as there are tokens; leave it out"
            )

    @property
    def predicted(self) -> int:
        """Return how many logits there are: one for each token, unless something else is said."""
        return self.vocabulary if self.outputs is None else self.outputs

    @property
    def has_norm(self) -> bool:
        return not isinstance(self.norm, NoNorm)

    @property
    def is_causal(self) -> bool:
        """Say whether no position depends on a later one."""
        return self.mask is Mask.CAUSAL

    @property
    def graph(self) -> Graph:
        has_mlps = self.mlp_width > 0
        return Graph(self.layers, self.heads, has_mlps=has_mlps, is_parallel=self.parallel and has_mlps)

    def to_json(self) -> Json:
        """Return it as JSON; optional keys stand there only where they apply."""
        unsaid = {name for name in ("rotary", "parallel", "outputs") if not getattr(self, name)}
        unsaid |= {"mask"} if self.is_causal else set()
        return {key: value for key, value in record_to_json(self).items() if key not in unsaid}

    def refuse_absent_heads(self, programs: Collection[Head]) -> None:
        """Refuse a program for a head that is not there."""
        if absent := [head for head in programs if head not in self.graph]:
            raise DeclarationError(
                f"{absent[0]} cannot be a program: there are {self.layers} layers of {self.heads} heads"
            )


def read_architecture(fields: Fields) -> Architecture:
    """Read an architecture from a model's file or from a recipe.

    `head_width` may be left out (width / heads), and so may `attention_scale` (1/√head_width in FP32).
    """
    width, heads = fields.integer("width", least=1), fields.integer("heads", least=1)
    if not fields.has("head_width") and width % heads:
        raise DeclarationError(
            f"width is {width}, which {heads} heads do not divide; "
            f"choose a multiple of {heads} or give head_width"
        )
    head_width = fields.integer("head_width", least=1) if fields.has("head_width") else width // heads
    scale = fields.rational("attention_scale") if fields.has("attention_scale") else inverse_root(head_width)
    if fields.has("rotary"):
        fields.integer("rotary", least=2)  # not null: a key that does not apply is left out
    if fields.has("outputs"):
        fields.integer("outputs", least=1)
    return Codec().record(
        Architecture,
        fields,
        head_width=head_width,
        attention_scale=scale,
        parallel=fields.only_true("parallel"),
        mask=Mask(fields.one_of("mask", (Mask.NONE,))) if fields.has("mask") else Mask.CAUSAL,
    )


def inverse_root(number: int) -> Fraction:
    """Return the FP32 value nearest to 1/√number, computed in integers.

    >>> inverse_root(64), inverse_root(8)
    (Fraction(1, 8), Fraction(11863283, 33554432))
    """
    shift = _FLOAT32_BITS - 1
    while isqrt((1 << 2 * shift) // number) < 1 << (_FLOAT32_BITS - 1):
        shift += 1
    below = isqrt((1 << 2 * shift) // number)
    above_half = (2 * below + 1) ** 2 * number < 4 << 2 * shift
    return Fraction(below + above_half, 1 << shift)


def is_float32(value: Fraction) -> bool:
    """Say whether `value` is exactly a finite FP32 number."""
    try:
        return Fraction(struct.unpack("<f", struct.pack("<f", float(value)))[0]) == value
    except OverflowError:
        return False


def nearest_float32(value: Fraction) -> Fraction:
    """Return the positive finite FP32 number nearest to a positive value.

    >>> nearest_float32(Fraction(1, 3))
    Fraction(11184811, 33554432)
    """
    try:
        bits = struct.unpack("<I", struct.pack("<f", float(value)))[0]
    except OverflowError:
        bits = _LARGEST_BITS
    near = (_float32(one) for one in (bits, bits - 1, bits + 1) if 1 <= one <= _LARGEST_BITS)
    return min(near, key=lambda one: abs(one - value))  # a double in between may round to a neighbour


def _float32(bits: int) -> Fraction:
    return Fraction(struct.unpack("<f", struct.pack("<I", bits))[0])


def tensor_shapes(architecture: Architecture, programs: Collection[Head] = ()) -> Shapes:
    """Return every tensor of a model with its shape; matrices are [out, in], one set per head.

    `programs` are the heads whose attention is a program: they have no query and no key.
    """
    width = architecture.width
    architecture.refuse_absent_heads(programs)
    shapes: dict[str, tuple[int, ...]] = {"embed.token": (architecture.vocabulary, width)}
    shapes |= _position_shapes(architecture)
    for layer in range(architecture.layers):
        for head in architecture.graph.heads_of(layer):
            shapes |= _head_shapes(architecture, f"head.{layer}.{head.index}", head in programs)
        shapes |= {f"attention.{layer}.output.bias": (width,)} if architecture.biases else {}
        shapes |= _norm_shapes(architecture, f"attention.{layer}.norm")
        shapes |= _mlp_shapes(architecture, f"mlp.{layer}") if architecture.mlp_width else {}
    shapes |= _norm_shapes(architecture, "logits.norm")
    shapes |= {} if architecture.tied else {"logits.weight": (architecture.predicted, width)}
    shapes |= {"logits.bias": (architecture.predicted,)} if architecture.logit_bias else {}
    return shapes


def _position_shapes(architecture: Architecture) -> Shapes:
    if architecture.rotary is None:
        return {"embed.position": (architecture.context, architecture.width)}
    return dict.fromkeys(ROTARY_TABLES, (architecture.context, architecture.rotary // 2))


def _mlp_shapes(architecture: Architecture, name: str) -> Shapes:
    inner, width = architecture.mlp_width, architecture.width
    shapes = {**_norm_shapes(architecture, f"{name}.norm")}
    shapes |= _linear_shapes(architecture, f"{name}.up", inner, width)
    shapes |= _linear_shapes(architecture, f"{name}.down", width, inner)
    return shapes


def _head_shapes(architecture: Architecture, name: str, is_program: bool) -> Shapes:  # noqa: FBT001  # one reader
    shapes: dict[str, tuple[int, ...]] = {}
    for role in ("value",) if is_program else ("query", "key", "value"):
        shapes |= _linear_shapes(architecture, f"{name}.{role}", architecture.head_width, architecture.width)
    return shapes | {f"{name}.output.weight": (architecture.width, architecture.head_width)}


def _linear_shapes(architecture: Architecture, name: str, out: int, into: int) -> Shapes:
    weight = {f"{name}.weight": (out, into)}
    return weight | {f"{name}.bias": (out,)} if architecture.biases else weight


def _norm_shapes(architecture: Architecture, name: str) -> Shapes:
    width = (architecture.width,)
    return {f"{name}.scale": width, f"{name}.shift": width} if architecture.has_norm else {}
