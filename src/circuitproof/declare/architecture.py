"""A transformer as data: sizes, operators and exact constants, and the tensors that follow from them."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import isqrt
from typing import TypeAlias, assert_never

from circuitproof.declare.circuits.graph import Graph
from circuitproof.errors import DeclarationError, NotExactError
from circuitproof.text.canonical import Json
from circuitproof.text.reading import Fields, reading_part, write_rational

_FLOAT32_BITS = 24


class Attention(StrEnum):
    """How a row of scores becomes weights."""

    SOFTMAX = "softmax"
    SPARSEMAX = "sparsemax"


class Lift(StrEnum):
    """How BandNorm raises a side whose mass is below the band."""

    REFERENCE = "reference"
    """Add the missing mass equally over the strictly positive coordinates; jumps where one crosses zero."""
    CONTINUOUS = "continuous"
    """Project the centred side onto the simplex of the wanted mass; continuous everywhere."""

    @property
    def shares_equally(self) -> bool:
        """Say whether missing mass is added in equal shares, rather than by a projection."""
        match self:
            case Lift.REFERENCE:
                return True
            case Lift.CONTINUOUS:
                return False
            case _:
                assert_never(self)


class GeluForm(StrEnum):
    """Which function is meant by GELU."""

    EXACT = "exact"
    """x times the normal distribution function."""
    TANH = "tanh"
    """The hyperbolic-tangent approximation that GPT-2 uses."""


@dataclass(frozen=True, slots=True)
class NoNorm:
    """Nodes read the residual as it is."""


@dataclass(frozen=True, slots=True)
class LayerNorm:
    """Centre, divide by the standard deviation, scale and shift."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        if self.epsilon <= 0:
            raise DeclarationError(f"norm.epsilon is {self.epsilon}, want a positive rational")


@dataclass(frozen=True, slots=True)
class BandNorm:
    """Centre, bring the mass of each sign into [low, high], recentre, scale and shift."""

    low: Fraction
    high: Fraction
    lift: Lift

    def __post_init__(self) -> None:
        if not 0 < self.low <= self.high:
            raise DeclarationError(f"norm: want 0 < low <= high, got low {self.low} and high {self.high}")


@dataclass(frozen=True, slots=True)
class Gelu:
    """The smooth activation of GPT-2."""

    form: GeluForm


@dataclass(frozen=True, slots=True)
class Relu:
    """max(x, 0)."""


@dataclass(frozen=True, slots=True)
class LeakyRelu:
    """x where it is positive, slope times x elsewhere."""

    slope: Fraction

    def __post_init__(self) -> None:
        if not 0 < self.slope < 1:
            raise DeclarationError(f"activation.slope is {self.slope}, want a rational between 0 and 1")


Norm: TypeAlias = NoNorm | LayerNorm | BandNorm
Activation: TypeAlias = Gelu | Relu | LeakyRelu
Shapes: TypeAlias = Mapping[str, tuple[int, ...]]


def slope_of(activation: Activation) -> Fraction:
    """Return the slope of a piecewise-linear activation below zero; above, it is 1."""
    match activation:
        case Relu():
            return Fraction(0)
        case LeakyRelu(slope):
            return slope
        case Gelu():
            raise NotExactError("GELU has no exact value; want ReLU or leaky ReLU")
        case _:
            assert_never(activation)


class _NormKind(StrEnum):
    NONE = "none"
    LAYER = "layer"
    BAND = "band"


class _ActivationKind(StrEnum):
    GELU = "gelu"
    RELU = "relu"
    LEAKY_RELU = "leaky relu"


_MOST = {
    "vocabulary": 1 << 21,
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
    """A decoder-only transformer with learned positions and pre-norms, at any scale."""

    vocabulary: int
    context: int
    layers: int
    heads: int
    width: int
    head_width: int
    mlp_width: int
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

    def __post_init__(self) -> None:
        for name, most in _MOST.items():
            if not 1 <= getattr(self, name) <= most:
                raise DeclarationError(f"architecture.{name} is {getattr(self, name)}, want 1 to {most}")
        Graph(self.layers, self.heads)  # refuses one that is too large
        if isinstance(self.norm, BandNorm) and self.width == 1:
            raise DeclarationError("architecture.width is 1, want at least 2: BandNorm centres what it reads")
        if not (self.attention_scale > 0 and is_float32(self.attention_scale)):
            raise DeclarationError(
                f"architecture.attention_scale is {self.attention_scale}, want a positive FP32 value"
            )

    @property
    def has_norm(self) -> bool:
        """Say whether nodes normalise what they read."""
        return not isinstance(self.norm, NoNorm)

    def to_json(self) -> Json:
        """Return the architecture as JSON that `read_architecture` reads back."""
        return {
            "vocabulary": self.vocabulary,
            "context": self.context,
            "layers": self.layers,
            "heads": self.heads,
            "width": self.width,
            "head_width": self.head_width,
            "mlp_width": self.mlp_width,
            "norm": _norm_to_json(self.norm),
            "attention": str(self.attention),
            "attention_scale": write_rational(self.attention_scale),
            "activation": _activation_to_json(self.activation),
            "tied": self.tied,
            "biases": self.biases,
            "logit_bias": self.logit_bias,
        }


def read_architecture(fields: Fields) -> Architecture:
    """Read an architecture from a model's file or from a recipe.

    `head_width` may be left out (width / heads), and so may `attention_scale` (1/√head_width in FP32).
    """
    heads = fields.integer("heads", least=1)
    width = fields.integer("width", least=1)
    head_width = fields.integer("head_width", least=1) if fields.has("head_width") else _split(width, heads)
    scaled = fields.has("attention_scale")
    with reading_part(fields, "norm") as part:
        norm = _read_norm(part)
    with reading_part(fields, "activation") as part:
        activation = _read_activation(part)
    return Architecture(
        vocabulary=fields.integer("vocabulary", least=1),
        context=fields.integer("context", least=1),
        layers=fields.integer("layers", least=1),
        heads=heads,
        width=width,
        head_width=head_width,
        mlp_width=fields.integer("mlp_width", least=1),
        norm=norm,
        attention=fields.choice("attention", Attention),
        attention_scale=fields.rational("attention_scale") if scaled else inverse_root(head_width),
        activation=activation,
        tied=fields.boolean("tied"),
        biases=fields.boolean("biases"),
        logit_bias=fields.boolean("logit_bias"),
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


def tensor_shapes(architecture: Architecture, programs: frozenset[tuple[int, int]] = frozenset()) -> Shapes:
    """Return every tensor of a model with its shape; matrices are [out, in], one set per head.

    `programs` names the heads (layer, index) whose attention is a program: they have no query and no key.
    """
    width = architecture.width
    _refuse_absent_heads(architecture, programs)
    shapes: dict[str, tuple[int, ...]] = {
        "embed.token": (architecture.vocabulary, width),
        "embed.position": (architecture.context, width),
    }
    for layer in range(architecture.layers):
        for index in range(architecture.heads):
            shapes |= _head_shapes(architecture, f"head.{layer}.{index}", (layer, index) in programs)
        shapes |= {f"attention.{layer}.output.bias": (width,)} if architecture.biases else {}
        shapes |= _norm_shapes(architecture, f"attention.{layer}.norm")
        shapes |= _norm_shapes(architecture, f"mlp.{layer}.norm")
        shapes |= _linear_shapes(architecture, f"mlp.{layer}.up", architecture.mlp_width, width)
        shapes |= _linear_shapes(architecture, f"mlp.{layer}.down", width, architecture.mlp_width)
    shapes |= _norm_shapes(architecture, "logits.norm")
    shapes |= {} if architecture.tied else {"logits.weight": (architecture.vocabulary, width)}
    shapes |= {"logits.bias": (architecture.vocabulary,)} if architecture.logit_bias else {}
    return shapes


def _refuse_absent_heads(architecture: Architecture, heads: frozenset[tuple[int, int]]) -> None:
    for layer, index in sorted(heads):
        if not (0 <= layer < architecture.layers and 0 <= index < architecture.heads):
            raise DeclarationError(
                f"head {layer}.{index} cannot be a program: there are {architecture.layers} layers of "
                f"{architecture.heads} heads"
            )


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


def _split(width: int, heads: int) -> int:
    if width % heads:
        raise DeclarationError(
            f"width is {width}, which {heads} heads do not divide; "
            f"choose a multiple of {heads} or give head_width"
        )
    return width // heads


def _read_norm(fields: Fields) -> Norm:
    match fields.choice("kind", _NormKind):
        case _NormKind.NONE:
            return NoNorm()
        case _NormKind.LAYER:
            return LayerNorm(fields.rational("epsilon"))
        case _NormKind.BAND:
            return BandNorm(fields.rational("low"), fields.rational("high"), fields.choice("lift", Lift))
        case _ as kind:
            assert_never(kind)


def _norm_to_json(norm: Norm) -> Json:
    match norm:
        case NoNorm():
            return {"kind": str(_NormKind.NONE)}
        case LayerNorm(epsilon):
            return {"kind": str(_NormKind.LAYER), "epsilon": write_rational(epsilon)}
        case BandNorm(low, high, lift):
            return {
                "kind": str(_NormKind.BAND),
                "low": write_rational(low),
                "high": write_rational(high),
                "lift": str(lift),
            }
        case _:
            assert_never(norm)


def _read_activation(fields: Fields) -> Activation:
    match fields.choice("kind", _ActivationKind):
        case _ActivationKind.GELU:
            return Gelu(fields.choice("form", GeluForm))
        case _ActivationKind.RELU:
            return Relu()
        case _ActivationKind.LEAKY_RELU:
            return LeakyRelu(fields.rational("slope"))
        case _ as kind:
            assert_never(kind)


def _activation_to_json(activation: Activation) -> Json:
    match activation:
        case Gelu(form):
            return {"kind": str(_ActivationKind.GELU), "form": str(form)}
        case Relu():
            return {"kind": str(_ActivationKind.RELU)}
        case LeakyRelu(slope):
            return {"kind": str(_ActivationKind.LEAKY_RELU), "slope": write_rational(slope)}
        case _:
            assert_never(activation)
