"""The transformer of a claim: sizes, operators, and the tensors that follow from them."""

from collections.abc import Container
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TypeAlias

from circuitproof_check.reading import (
    ForgedError,
    boolean,
    fields,
    integer,
    kind,
    rational,
    show,
    text,
)

_SIZES = ("vocabulary", "context", "layers", "heads", "width", "head_width", "mlp_width")
_REST = ("norm", "attention", "attention_scale", "activation", "tied", "biases", "logit_bias")


class Lift(Enum):
    """How the band norm raises a side whose mass is below the band."""

    REFERENCE = "reference"
    CONTINUOUS = "continuous"


@dataclass(frozen=True, slots=True)
class Band:
    """The band norm."""

    low: Fraction
    high: Fraction
    lift: Lift


@dataclass(frozen=True, slots=True)
class Inexact:
    """An operator without an exact meaning; nothing that is evaluated may use it."""

    name: str
    parameter: str


Norm: TypeAlias = Band | Inexact | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """Sizes and operators; the activation is the slope below zero."""

    vocabulary: int
    context: int
    layers: int
    heads: int
    width: int
    head_width: int
    mlp_width: int
    norm: Norm
    attention: str
    attention_scale: Fraction
    activation: Fraction | Inexact
    tied: bool
    biases: bool
    logit_bias: bool


def read_architecture(value: object, where: str) -> Architecture:
    """Read sizes and operators."""
    values = dict(zip(_SIZES + _REST, fields(value, where, *_SIZES, *_REST), strict=True))
    sizes = {name: integer(values[name], f"{where}.{name}", 1) for name in _SIZES}
    flags = {name: boolean(values[name], f"{where}.{name}") for name in ("tied", "biases", "logit_bias")}
    scale = rational(values["attention_scale"], f"{where}.attention_scale")
    rule_scale_is_positive(scale)
    attention = text(values["attention"], f"{where}.attention")
    if attention not in ("sparsemax", "softmax"):
        raise ForgedError(f"{where}.attention is {show(attention)}, want sparsemax or softmax")
    norm = _read_norm(values["norm"], f"{where}.norm")
    rule_reference_lift_has_an_odd_coordinate(norm, sizes["width"])
    return Architecture(
        **sizes,
        **flags,
        norm=norm,
        attention=attention,
        attention_scale=scale,
        activation=_read_activation(values["activation"], f"{where}.activation"),
    )


def _read_norm(value: object, where: str) -> Norm:
    match kind(value, where):
        case "none":
            fields(value, where, "kind")
            return None
        case "band":
            _, low, high, lift = fields(value, where, "kind", "low", "high", "lift")
            if lift not in [member.value for member in Lift]:
                raise ForgedError(f"{where}.lift is {show(lift)}, want reference or continuous")
            band = Band(rational(low, f"{where}.low"), rational(high, f"{where}.high"), Lift(lift))
            rule_band_is_a_band(band)
            return band
        case "layer":
            _, epsilon = fields(value, where, "kind", "epsilon")
            return Inexact("layer", text(epsilon, f"{where}.epsilon"))
        case other:
            raise ForgedError(f"{where}.kind is {show(other)}, want none, band or layer")


def _read_activation(value: object, where: str) -> Fraction | Inexact:
    match kind(value, where):
        case "relu":
            fields(value, where, "kind")
            return Fraction(0)
        case "leaky relu":
            _, spelled = fields(value, where, "kind", "slope")
            slope = rational(spelled, f"{where}.slope")
            rule_slope_is_between_zero_and_one(slope)
            return slope
        case "gelu":
            _, form = fields(value, where, "kind", "form")
            return Inexact("gelu", text(form, f"{where}.form"))
        case other:
            raise ForgedError(f"{where}.kind is {show(other)}, want relu, leaky relu or gelu")


def rule_scale_is_positive(scale: Fraction) -> None:
    """The attention scale is above zero."""
    if scale <= 0:
        raise ForgedError(f"attention_scale is {show(scale)}, want a positive rational")


def rule_band_is_a_band(band: Band) -> None:
    """0 < low ≤ high."""
    if not 0 < band.low <= band.high:
        raise ForgedError(f"norm: low is {show(band.low)} and high {show(band.high)}, want 0 < low <= high")


def rule_reference_lift_has_an_odd_coordinate(norm: Norm, width: int) -> None:
    """The reference lift of an empty negative side needs an odd coordinate."""
    if isinstance(norm, Band) and norm.lift is Lift.REFERENCE and width == 1:
        raise ForgedError("norm: the reference lift has no meaning at width 1, want at least 2")


def rule_slope_is_between_zero_and_one(slope: Fraction) -> None:
    """0 < slope < 1."""
    if not 0 < slope < 1:
        raise ForgedError(f"activation: the slope is {show(slope)}, want 0 < slope < 1")


def tensor_shapes(size: Architecture, programs: Container[tuple[int, int]]) -> dict[str, tuple[int, ...]]:
    """Return the shape of every tensor that a model with these program heads has."""
    width, vocabulary = size.width, size.vocabulary
    shapes: dict[str, tuple[int, ...]] = {
        "embed.token": (vocabulary, width),
        "embed.position": (size.context, width),
        **_norm_shapes(size, "logits"),
        **({} if size.tied else {"logits.weight": (vocabulary, width)}),
        **({"logits.bias": (vocabulary,)} if size.logit_bias else {}),
    }
    for layer in range(size.layers):
        shapes |= _norm_shapes(size, f"attention.{layer}") | _norm_shapes(size, f"mlp.{layer}")
        shapes |= {f"attention.{layer}.output.bias": (width,)} if size.biases else {}
        shapes |= _linear_shapes(size, f"mlp.{layer}.up", size.mlp_width, width)
        shapes |= _linear_shapes(size, f"mlp.{layer}.down", width, size.mlp_width)
        for index in range(size.heads):
            for role in ("value",) if (layer, index) in programs else ("query", "key", "value"):
                shapes |= _linear_shapes(size, f"head.{layer}.{index}.{role}", size.head_width, width)
            shapes[f"head.{layer}.{index}.output.weight"] = (width, size.head_width)
    return shapes


def _linear_shapes(size: Architecture, name: str, out: int, into: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (out, into)} | ({f"{name}.bias": (out,)} if size.biases else {})


def _norm_shapes(size: Architecture, name: str) -> dict[str, tuple[int, ...]]:
    shape = (size.width,)
    return {} if size.norm is None else {f"{name}.norm.scale": shape, f"{name}.norm.shift": shape}
