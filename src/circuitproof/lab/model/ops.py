"""The operators of the architecture in torch: simplex projection, sparsemax, BandNorm, activations."""

from typing import Any, assert_never

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional

from circuitproof.declare.operators import Activation, BandNorm, Gelu, GeluForm, LeakyRelu, Relu
from circuitproof.errors import NumericError

_APPROXIMATIONS = {GeluForm.EXACT: "none", GeluForm.TANH: "tanh"}
"""What torch calls each form of GELU."""


def project(
    scores: Float[Tensor, "*row entry"], mass: Float[Tensor, "*row"], allowed: Bool[Tensor, "*row entry"]
) -> tuple[Float[Tensor, "*row entry"], Bool[Tensor, "*row entry"]]:
    """Return the non-negative weights of sum `mass` nearest to `scores`, and their support.

    Entries that are not `allowed` get weight zero and do not count. The threshold is found by sorting, in
    FP64, so that the support is right whenever sums of the given scores are exact there.
    """
    _refuse_not_finite(scores, allowed)
    return _projected(scores, mass, allowed)


def sparsemax(
    scores: Float[Tensor, "*row entry"], allowed: Bool[Tensor, "*row entry"]
) -> Float[Tensor, "*row entry"]:
    """Return the point of the simplex over the allowed entries that is nearest to `scores`."""
    return project(scores, torch.ones_like(scores[..., 0]), allowed)[0]


def softmax(
    scores: Float[Tensor, "*row entry"], allowed: Bool[Tensor, "*row entry"]
) -> Float[Tensor, "*row entry"]:
    """Return softmax over the allowed entries."""
    _refuse_not_finite(scores, allowed)
    return torch.softmax(scores.masked_fill(~allowed, -torch.inf), dim=-1)


def band_norm(vectors: Float[Tensor, "*row width"], norm: BandNorm) -> Float[Tensor, "*row width"]:
    """Return `vectors` centred, with the mass of each sign brought into the band, and centred again."""
    centred = vectors - vectors.mean(-1, keepdim=True)
    _refuse_not_finite(centred, torch.ones_like(centred, dtype=torch.bool))
    is_even = torch.arange(vectors.shape[-1]) % 2 == 0
    balanced = _banded(centred, norm, is_even) - _banded(-centred, norm, ~is_even)
    return balanced - balanced.mean(-1, keepdim=True)


def activate(values: Float[Tensor, "*any"], activation: Activation) -> Float[Tensor, "*any"]:
    """Apply an activation to every value."""
    match activation:
        case Gelu(form):
            return functional.gelu(values, approximate=_APPROXIMATIONS[form])
        case Relu():
            return functional.relu(values)
        case LeakyRelu(slope):
            return functional.leaky_relu(values, float(slope))
        case _:
            assert_never(activation)


def _banded(
    centred: Float[Tensor, "*row width"], norm: BandNorm, spare: Bool[Tensor, " width"]
) -> Float[Tensor, "*row width"]:
    """Return the positive side with its mass in the band; `spare` takes the mass of an empty side."""
    side = centred.clamp(min=0)
    mass = side.sum(-1)
    low, high = float(norm.low), float(norm.high)
    nearest, _ = _projected(centred, mass.clamp(low, high), torch.ones_like(centred, dtype=torch.bool))
    is_below, is_above = (mass < low).unsqueeze(-1), (mass > high).unsqueeze(-1)
    raised = _reference_lift(side, low, spare) if norm.lift.shares_equally else nearest
    return torch.where(is_below, raised, torch.where(is_above, nearest, side))


def _reference_lift(
    side: Float[Tensor, "*row width"], low: float, spare: Bool[Tensor, " width"]
) -> Float[Tensor, "*row width"]:
    is_positive = side > 0
    takes = torch.where(is_positive.any(-1, keepdim=True), is_positive, spare)
    missing = low - side.sum(-1, keepdim=True)
    return side + takes * (missing / takes.sum(-1, keepdim=True))


def _projected(scores: Tensor, mass: Tensor, allowed: Tensor) -> tuple[Tensor, Tensor]:
    """Project scores that are known to be finite."""
    return _Projection.apply(scores, mass, allowed)  # pyright: ignore[reportReturnType]  # torch types apply as Any


class _Projection(torch.autograd.Function):
    @staticmethod
    def forward(scores: Tensor, mass: Tensor, allowed: Tensor) -> tuple[Tensor, Tensor]:
        values = scores.double().masked_fill(~allowed, -torch.inf)
        values = values - values.amax(-1, keepdim=True)
        wanted = mass.double().unsqueeze(-1)
        ordered = _descending(values)
        totals = ordered.cumsum(-1)
        ranks = torch.arange(1, values.shape[-1] + 1, dtype=values.dtype)
        size = (wanted + ranks * ordered > totals).sum(-1, keepdim=True)
        threshold = (totals.gather(-1, size - 1) - wanted) / size
        support = values >= ordered.gather(-1, size - 1)
        weights = torch.where(support, (values - threshold).clamp(min=0), 0)
        return weights.to(scores.dtype), support

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: tuple[Tensor, ...]) -> None:  # noqa: ANN401, ARG004  # torch's own signature
        ctx.save_for_backward(output[1])
        ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:  # noqa: ANN401  # torch's own signature
        (support,) = ctx.saved_tensors
        inside = gradients[0] * support
        mean = inside.sum(-1, keepdim=True) / support.sum(-1, keepdim=True)
        return inside - mean * support, mean.squeeze(-1), None


def _descending(values: Tensor) -> Tensor:
    """Return each row from its largest number down; in main memory NumPy takes a fraction of torch's time."""
    if values.device.type != "cpu" or torch.compiler.is_compiling():
        return values.sort(-1, descending=True).values
    turned = values.detach().neg().numpy()
    turned.sort(axis=-1)
    return torch.from_numpy(turned).neg_()


def _refuse_not_finite(values: Tensor, counted: Tensor) -> None:
    if not bool(counted.any(-1).all()):
        raise NumericError("a row of scores has no allowed entry; there is nothing to attend to")
    if not bool((values.isfinite() | ~counted).all()):
        raise NumericError(
            "a NaN or infinite number reached an operator; the weights or the training have diverged"
        )
