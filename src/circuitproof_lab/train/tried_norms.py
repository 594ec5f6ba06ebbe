"""Norms that were tried in LayerNorm's place and given up: they can be trained and measured, and no more.

Appendix B of the paper names four in a sentence each. What is here is our reading of those sentences. They
are no operators of an architecture, so no model directory can hold them and nothing is proved of them.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, TypeAlias, assert_never

import torch
from jaxtyping import Float
from torch import Tensor

from circuitproof.errors import DeclarationError
from circuitproof.files.codec import PositiveRational
from circuitproof.models.operators import LayerNorm
from circuitproof.nn.stream import StreamState
from circuitproof.nn.transformer import NormLayer, Transformer
from circuitproof_lab.train.remove_norm import swap_norms


@dataclass(frozen=True, slots=True)
class AffineClamp:
    """Scale and shift, then clamp; the second affine map is that of the node which reads it."""

    tag: ClassVar[str] = "affine clamp"
    bound: PositiveRational


@dataclass(frozen=True, slots=True)
class GainBuckets:
    """Centre, and multiply by a power of two that follows the mean absolute deviation (MAD) by jumps."""

    tag: ClassVar[str] = "gain buckets"
    least: PositiveRational
    most: PositiveRational
    """A deviation outside of these has the gain of the nearer one."""

    def __post_init__(self) -> None:
        if self.least > self.most:
            raise DeclarationError(f"norm: want least <= most, got least {self.least} and most {self.most}")


@dataclass(frozen=True, slots=True)
class LeakyClamp:
    """Centre; coordinates beyond the bound go on with a smaller slope, without an end."""

    tag: ClassVar[str] = "leaky clamp"
    bound: PositiveRational
    slope: PositiveRational


@dataclass(frozen=True, slots=True)
class Clamp:
    """Centre, and clamp every coordinate."""

    tag: ClassVar[str] = "clamp"
    bound: PositiveRational


TriedNorm: TypeAlias = AffineClamp | GainBuckets | LeakyClamp | Clamp


class TriedNormLayer(NormLayer):
    """One of these norms; it shares its scale and shift with the LayerNorm whose place it takes."""

    def __init__(self, tried: TriedNorm, norm: NormLayer, kind: LayerNorm) -> None:
        torch.nn.Module.__init__(self)
        self.tried, self.norm = tried, kind
        self.scale, self.shift = norm.scale, norm.shift

    def forward(self, inputs: StreamState) -> StreamState:
        if isinstance(self.tried, AffineClamp):
            bound = float(self.tried.bound)
            return (inputs * self.scale + self.shift).clamp(-bound, bound)
        centred = inputs - inputs.mean(-1, keepdim=True)
        return _controlled(centred, self.tried) * self.scale + self.shift


def try_norm(model: Transformer, tried: TriedNorm) -> None:
    """Put a norm in the place of every LayerNorm of a model."""
    swap_norms(model, partial(TriedNormLayer, tried))


def _controlled(centred: StreamState, tried: GainBuckets | LeakyClamp | Clamp) -> StreamState:
    match tried:
        case GainBuckets(least, most):
            deviation = centred.detach().abs().mean(-1, keepdim=True)
            return centred * _bucket_gain(deviation.clamp(float(least), float(most)))
        case LeakyClamp(bound, slope):
            inside = centred.clamp(-float(bound), float(bound))
            return inside + float(slope) * (centred - inside)
        case Clamp(bound):
            return centred.clamp(-float(bound), float(bound))
        case _:
            assert_never(tried)


def _bucket_gain(deviation: Float[Tensor, "*row one"]) -> Float[Tensor, "*row one"]:
    """Return 2^-k for deviations from 2^k to below 2^(k+1); `frexp` is exact where a logarithm rounds."""
    exponent = torch.frexp(deviation).exponent - 1
    return torch.ldexp(torch.ones_like(deviation), -exponent)
