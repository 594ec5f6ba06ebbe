"""The operators of the architecture in torch: simplex projection, sparsemax, BandNorm, activations."""

from typing import Any, TypeAlias, assert_never

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional

from circuitproof.errors import NumericError
from circuitproof.files.devices import CPU
from circuitproof.models.operators import Activation, BandNorm, Gelu, GeluForm, LeakyRelu, Relu
from circuitproof.nn.devices import has_doubles

Scores: TypeAlias = Float[Tensor, "*row entry"]
SupportMask: TypeAlias = Bool[Tensor, "*row entry"]
SignedRows: TypeAlias = Float[Tensor, "sign *row width"]

_APPROXIMATIONS = {GeluForm.EXACT: "none", GeluForm.TANH: "tanh"}
"""What torch calls each form of GELU."""


def project(scores: Scores, mass: Float[Tensor, "*row"], allowed: SupportMask) -> tuple[Scores, SupportMask]:
    """Return the non-negative weights of sum `mass` nearest to `scores`, and their support.

    Entries that are not `allowed` get weight zero and do not count. The threshold is found by sorting, in
    FP64, so that the support is right whenever sums of the given scores are exact there; a device without
    FP64 does it in FP32.
    """
    _refuse_unusable(scores, allowed)
    return _projected(scores, mass, allowed)


def sparsemax(scores: Scores, allowed: SupportMask) -> Scores:
    """Return the point of the simplex over the allowed entries that is nearest to `scores`."""
    return project(scores, torch.ones_like(scores[..., 0]), allowed)[0]


def softmax(scores: Scores, allowed: SupportMask) -> Scores:
    """Return softmax over the allowed entries."""
    _refuse_unusable(scores, allowed)
    return torch.softmax(scores.masked_fill(~allowed, -torch.inf), dim=-1)


def band_norm(vectors: Float[Tensor, "*row width"], norm: BandNorm) -> Float[Tensor, "*row width"]:
    """Return `vectors` centred, with the mass of each sign brought into the band, and centred again."""
    centred = vectors - vectors.mean(-1, keepdim=True)
    _refuse_not_finite(centred)
    is_even = torch.arange(vectors.shape[-1], device=vectors.device) % 2 == 0
    spare = torch.stack((is_even, ~is_even)).reshape(2, *[1] * (centred.dim() - 1), -1)
    above, below = _banded(torch.stack((centred, -centred)), norm, spare)
    balanced = above - below
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


def _banded(centred: SignedRows, norm: BandNorm, spare: Bool[Tensor, "sign *one width"]) -> SignedRows:
    """Return the positive parts with their mass in the band; `spare` takes the mass of an empty side."""
    side = centred.clamp(min=0)
    mass = side.sum(-1)
    low, high = float(norm.low), float(norm.high)
    nearest, _ = _projected(centred, mass.clamp(low, high), None)
    is_below, is_above = (mass < low).unsqueeze(-1), (mass > high).unsqueeze(-1)
    raised = _reference_lift(side, low, spare) if norm.lift.shares_equally else nearest
    return torch.where(is_below, raised, torch.where(is_above, nearest, side))


def _reference_lift(side: SignedRows, low: float, spare: Bool[Tensor, "sign *one width"]) -> SignedRows:
    is_positive = side > 0
    takes = torch.where(is_positive.any(-1, keepdim=True), is_positive, spare)
    missing = low - side.sum(-1, keepdim=True)
    return side + takes * (missing / takes.sum(-1, keepdim=True))


def _projected(scores: Tensor, mass: Tensor, allowed: Tensor | None) -> tuple[Tensor, Tensor]:
    """Project scores that are known to be finite; all entries may count."""
    return _ProjectionFunction.apply(scores, mass, allowed)  # pyright: ignore[reportReturnType]  # torch types apply as Any


class _ProjectionFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, mass: Tensor, allowed: Tensor | None) -> tuple[Tensor, Tensor]:  # noqa: ANN401  # torch's own signature
        values = scores.double() if has_doubles(scores.device.type) else scores.float()
        if allowed is not None:
            values = values.masked_fill(~allowed, -torch.inf)
        values = values - values.amax(-1, keepdim=True)
        wanted = mass.to(values.dtype).unsqueeze(-1)
        ordered = _descending(values)
        totals = _running_sums(ordered)
        ranks = torch.arange(1, values.shape[-1] + 1, dtype=values.dtype, device=values.device)
        size = (wanted + ranks * ordered > totals).sum(-1, keepdim=True)
        threshold = (totals.gather(-1, size - 1) - wanted) / size
        support = values >= ordered.gather(-1, size - 1)
        weights = (values - threshold).clamp_(min=0).masked_fill_(~support, 0)
        ctx.save_for_backward(support)
        ctx.mark_non_differentiable(support)
        return weights.to(scores.dtype), support

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:  # noqa: ANN401  # torch's own signature
        (support,) = ctx.saved_tensors
        inside = gradients[0] * support
        mean = inside.sum(-1, keepdim=True) / support.sum(-1, keepdim=True)
        return inside - mean * support, mean.squeeze(-1), None


def _descending(values: Tensor) -> Tensor:
    """Return each row from its largest number down; in main memory NumPy takes a fraction of torch's time."""
    if values.device.type != CPU or torch.compiler.is_compiling():
        return values.sort(-1, descending=True).values
    turned = values.detach().neg().numpy()
    turned.sort(axis=-1)
    return torch.from_numpy(turned).neg_()


def _running_sums(values: Tensor) -> Tensor:
    """Return the sums of each row up to every place; off the processor `cumsum` is not deterministic."""
    return values.cumsum(-1) if values.device.type == CPU else scanned(values)


def scanned(values: Float[Tensor, "*row entry"]) -> Float[Tensor, "*row entry"]:
    """Return running sums by doubling: each place takes in what stands 1, 2, 4, ... places before it."""
    span = 1
    while span < values.shape[-1]:
        values = torch.cat((values[..., :span], values[..., span:] + values[..., :-span]), -1)
        span *= 2
    return values


def _refuse_unusable(scores: Tensor, counted: Tensor) -> None:
    if not bool(counted.any(-1).all()):
        raise NumericError("a row of scores has no allowed entry; there is nothing to attend to")
    _refuse_not_finite(scores, ~counted)


def _refuse_not_finite(values: Tensor, besides: Tensor | None = None) -> None:
    is_finite = values.isfinite() if besides is None else values.isfinite() | besides
    if not bool(is_finite.all()):
        raise NumericError(
            "a NaN or infinite number reached an operator; the weights or the training have diverged"
        )
