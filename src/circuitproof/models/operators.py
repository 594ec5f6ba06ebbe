"""The operators of a transformer: norms, activations and attention, with their exact constants.

This is the one home of each: its word (`tag`) and constants in a declaration, and what an arithmetic needs of
it. An activation that can be computed exactly is a line with one corner, at zero: arithmetics know its slope
and not its name.
"""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import ClassVar, TypeAlias, assert_never

from circuitproof.errors import DeclarationError, NotExactError


class Mask(StrEnum):
    """Which keys a query may attend to."""

    CAUSAL = "causal"
    """Those up to its own position."""
    NONE = "none"
    """All of the prompt."""


class Attention(StrEnum):
    """How a row of scores becomes weights."""

    SOFTMAX = "softmax"
    SPARSEMAX = "sparsemax"

    def require_exact(self) -> None:
        """Refuse attention that has no exact value."""
        if self is not Attention.SPARSEMAX:
            raise NotExactError(f"{self} attention has no exact value; want sparsemax or program heads")


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

    tag: ClassVar[str] = "none"


@dataclass(frozen=True, slots=True)
class LayerNorm:
    """Centre, divide by the standard deviation, scale and shift."""

    tag: ClassVar[str] = "layer"
    epsilon: Fraction

    def __post_init__(self) -> None:
        if self.epsilon <= 0:
            raise DeclarationError(f"norm.epsilon is {self.epsilon}, want a positive rational")


@dataclass(frozen=True, slots=True)
class BandNorm:
    """Centre, bring the mass of each sign into [low, high], recentre, scale and shift."""

    tag: ClassVar[str] = "band"
    low: Fraction
    high: Fraction
    lift: Lift

    def __post_init__(self) -> None:
        if not 0 < self.low <= self.high:
            raise DeclarationError(f"norm: want 0 < low <= high, got low {self.low} and high {self.high}")


@dataclass(frozen=True, slots=True)
class Gelu:
    """The smooth activation of GPT-2."""

    tag: ClassVar[str] = "gelu"
    form: GeluForm


@dataclass(frozen=True, slots=True)
class Relu:
    """max(x, 0)."""

    tag: ClassVar[str] = "relu"


@dataclass(frozen=True, slots=True)
class LeakyRelu:
    """x where it is positive, slope times x elsewhere."""

    tag: ClassVar[str] = "leaky relu"
    slope: Fraction

    def __post_init__(self) -> None:
        if not 0 < self.slope < 1:
            raise DeclarationError(f"activation.slope is {self.slope}, want a rational between 0 and 1")


Norm: TypeAlias = NoNorm | LayerNorm | BandNorm
Activation: TypeAlias = Gelu | Relu | LeakyRelu


def slope_of(activation: Activation) -> Fraction:
    """Return the slope of an activation below zero, at most 1; above, it is 1."""
    match activation:
        case Relu():
            return Fraction(0)
        case LeakyRelu(slope):
            return slope
        case Gelu():
            raise NotExactError("GELU has no exact value; want ReLU or leaky ReLU")
        case _:
            assert_never(activation)


def band_of(norm: Norm) -> BandNorm | None:
    """Return the BandNorm that a norm is, or nothing where there is none to apply."""
    match norm:
        case NoNorm():
            return None
        case BandNorm():
            return norm
        case LayerNorm():
            raise NotExactError("LayerNorm has no exact value; remove the norms or use BandNorm")
        case _:
            assert_never(norm)


def inexact_name(operator: Norm | Activation | Attention) -> str | None:
    """Return the name of an operator that has no exact value; nothing for others."""
    match operator:
        case LayerNorm():
            return "LayerNorm"
        case Gelu():
            return "GELU"
        case Attention.SOFTMAX:
            return "softmax"
        case NoNorm() | BandNorm() | Relu() | LeakyRelu() | Attention.SPARSEMAX:
            return None
        case _:
            assert_never(operator)
