"""Fading norms out in training: each LayerNorm becomes the same affine map with a fixed deviation."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import TypeAlias

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from circuitproof.errors import InputError, NumericError
from circuitproof.models.operators import LayerNorm
from circuitproof.nn.stream import StreamState
from circuitproof.nn.transformer import AttentionLayer, MlpLayer, NormLayer, Transformer
from circuitproof_lab.train.data import Data
from circuitproof_lab.train.norm_schedule import NormReader, Schedule, Site, all_sites
from circuitproof_lab.train.windows import NO_TARGET, Batch, next_token_loss
from circuitproof_lab.train.workers import together

Deviations: TypeAlias = Mapping[Site, float]
"""The fixed deviation of every norm of a model."""


class FadingNorm(NormLayer):
    """A LayerNorm on its way to an affine map; it shares its scale and shift with the norm it replaces.

    What it divides the centred input by fades from the deviation of that input to a fixed one: the two
    quotients are blended. At blend 0 it is LayerNorm bit for bit, at blend 1 it is affine.
    """

    deviation: Float[Tensor, ""]

    def __init__(self, norm: NormLayer, kind: LayerNorm) -> None:
        torch.nn.Module.__init__(self)
        self.norm = kind
        self.epsilon = float(kind.epsilon)
        self.scale, self.shift = norm.scale, norm.shift
        self.blend = 0.0
        self.seen: Tensor | None = None
        self.register_buffer("deviation", torch.zeros((), device=norm.scale.device))

    def forward(self, inputs: StreamState) -> StreamState:
        """Return the input, normalised as far as the norm has not faded; remember its deviations."""
        centred = inputs - inputs.mean(-1, keepdim=True)
        own = (centred.square().mean(-1, keepdim=True) + self.epsilon).sqrt()
        self.seen = own.detach()[..., 0]
        if self.blend <= 0:
            return super().forward(inputs)
        fixed = centred / self.deviation
        quotient = fixed if self.blend >= 1 else torch.lerp(centred / own, fixed, self.blend)
        return quotient * self.scale + self.shift

    def mean_seen(self, counted: Bool[Tensor, "prompt position"]) -> Float[Tensor, ""]:
        """Return the mean of the deviations last seen, over the positions that count."""
        if self.seen is None:
            raise NumericError("a deviation was asked for before the model ran; run it on a batch first")
        return self.seen[..., counted].mean()

    def average(self, mean: Float[Tensor, ""], weight: float) -> None:
        """Move the fixed deviation toward a mean."""
        self.deviation.lerp_(mean.to(self.deviation.dtype), weight)


@dataclass(frozen=True, slots=True)
class Fading:
    """The goal of a removal: the wanted tokens, while the norms of the model fade on schedule.

    Until a norm begins to fade, its deviation is averaged; from then on it stands still.
    """

    data: Data
    schedule: Schedule
    pieces: int = 1

    def losses(self, model: Transformer, step: int) -> Iterator[Float[Tensor, ""]]:
        """Return the loss on the batch of a step, with every norm faded as far as it should be by then."""
        norms, spans = fading_norms(model), self.schedule.spans(model.architecture.layers)
        for site, norm in norms.items():
            norm.blend = spans[site].blend(step)
        waiting = {site: norm for site, norm in norms.items() if step < spans[site].first}
        pieces = self.data.batch(step).pieces(self.pieces)
        nothing = torch.zeros((), device=model.device)
        asked, means = sum(piece.asked for piece in pieces), dict.fromkeys(waiting, nothing)
        for piece in together().share(pieces):
            share, there = piece.asked / asked, piece.on(model.device)
            yield next_token_loss(model(there.tokens), there.targets) * share
            for site, norm in waiting.items():
                counted = _counted(piece, site.reader).to(model.device)
                means[site] = means[site] + norm.mean_seen(counted) * share
        for site, norm in waiting.items():
            norm.average(together().total(means[site]), 1 / min(step + 1, self.schedule.window))

    def evaluate(self, model: Transformer) -> Mapping[str, float]:
        """Return what the data measures, and how many norms are left."""
        left = sum(1 - norm.blend for norm in fading_norms(model).values())
        return {**self.data.evaluate(model), "norms left": left}


def make_fading(model: Transformer) -> None:
    """Replace every LayerNorm of a model by one that can fade; what the model computes stays the same."""
    swap_norms(model, FadingNorm)


def swap_norms(model: Transformer, make: Callable[[NormLayer, LayerNorm], NormLayer]) -> None:
    """Replace every LayerNorm of a model by what is made of it."""
    kind = model.architecture.norm
    if not isinstance(kind, LayerNorm):
        raise InputError(
            f"the model's norm is {type(kind).__name__}, want LayerNorm; there is nothing to replace here"
        )
    if not model.graph.has_mlps:
        raise InputError("the model has no MLPs (mlp_width 0); norms are replaced in models that have")
    for site in all_sites(model.architecture.layers):
        holder = _holder(model, site)
        holder.norm = make(holder.norm, kind)


def fading_norms(model: Transformer) -> Mapping[Site, FadingNorm]:
    """Return the norms of a model that `make_fading` prepared."""
    norms: dict[Site, FadingNorm] = {}
    for site in all_sites(model.architecture.layers):
        norm = _holder(model, site).norm
        if not isinstance(norm, FadingNorm):
            raise InputError(f"{site} cannot fade; prepare the model with make_fading")
        norms[site] = norm
    return norms


def deviations_of(model: Transformer) -> Deviations:
    """Return the deviations at which the norms of a fading model are fixed."""
    found = {site: norm.deviation.item() for site, norm in fading_norms(model).items()}
    refuse_bad_deviations(found, model.architecture.layers)
    return found


def fix_norms(model: Transformer, deviations: Deviations) -> None:
    """Turn the norms of a model into affine maps with these deviations."""
    refuse_bad_deviations(deviations, model.architecture.layers)
    make_fading(model)
    for site, norm in fading_norms(model).items():
        norm.blend = 1.0
        norm.deviation.fill_(deviations[site])


def refuse_bad_deviations(deviations: Deviations, layers: int) -> None:
    """Refuse deviations that do not belong to a model of so many layers, or that nobody can divide by."""
    for site in all_sites(layers):
        if site not in deviations:
            raise InputError(f"there is no deviation for {site}; give one for every norm of the model")
    for site, deviation in deviations.items():
        if site not in all_sites(layers):
            raise InputError(f"there is a deviation for {site}, but the model has only {layers} layers")
        if not (isfinite(deviation) and deviation > 0):
            raise NumericError(
                f"the deviation of {site} is {deviation}, want a positive number; "
                "the weights or the training have diverged"
            )


def _holder(model: Transformer, site: Site) -> AttentionLayer | MlpLayer | Transformer:
    match site.reader:
        case NormReader.ATTENTION:
            holder = model.attentions[site.layer]
        case NormReader.MLP:
            holder = model.mlps[site.layer]
        case NormReader.LOGITS:
            holder = model
    assert isinstance(holder, AttentionLayer | MlpLayer | Transformer)  # noqa: S101  # torch types module lists as Module
    return holder


def _counted(batch: Batch, reader: NormReader) -> Bool[Tensor, "prompt position"]:
    """Return where it matters what a norm does: for the logits, where a token is asked for.

    For others it is every position up to the last of those; what stands behind it is padding.
    """
    asked = batch.targets != NO_TARGET
    return asked if reader is NormReader.LOGITS else asked.flip(-1).cummax(-1).values.flip(-1)
