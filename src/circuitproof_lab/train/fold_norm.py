"""Folding affine norms into their readers: the same function without norms, and how far floats differ."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import sqrt

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from circuitproof.circuits.graph import Head
from circuitproof.errors import NumericError
from circuitproof.models.architecture import Architecture
from circuitproof.models.declaration import ProgramHeads
from circuitproof.models.operators import NoNorm
from circuitproof.nn.transformer import Transformer
from circuitproof_lab.train.measures import FoldError
from circuitproof_lab.train.norm_schedule import NormReader, Site, all_sites
from circuitproof_lab.train.remove_norm import Deviations, refuse_bad_deviations
from circuitproof_lab.train.windows import NO_TARGET, Batch

_NUMBERS_AT_ONCE = 1 << 25


def fold(model: Transformer, deviations: Deviations) -> Transformer:
    """Return the model without norms that computes what `model` does with norms so fixed; FP64, main memory.

    A norm centres, divides by its deviation, scales and shifts; each of its readers takes that into its own
    weight and bias. So a circuit of the result computes what the same circuit of the other does: a node that
    reads zeros has its norm's shift in its bias. Biases and an output embedding of its own are added where
    they are needed.
    """
    refuse_bad_deviations(deviations, model.architecture.layers)
    old = {name: view.detach().cpu().double() for name, view in model.named_slices().items()}
    old.setdefault("logits.weight", old["embed.token"])  # a tied output embedding has no tensor of its own
    folded = Transformer(folded_architecture(model), model.programs).double()
    new = dict(old)
    for site in all_sites(model.architecture.layers):
        for reader in _readers(site, model.architecture, model.programs):
            new |= _fold_into(reader, old, site, deviations[site])
    with torch.no_grad():
        for name, view in folded.named_slices().items():
            if name in new:
                view.copy_(new[name])
    return folded


def folded_architecture(model: Transformer) -> Architecture:
    """Return the architecture without norms that can hold a model once its norms are folded."""
    sizes, slices = model.architecture, model.named_slices()
    shifting = {site.reader for site in all_sites(sizes.layers) if bool(slices[f"{site}.shift"].any())}
    return replace(
        sizes,
        norm=NoNorm(),
        tied=False,
        biases=sizes.biases or bool(shifting & {NormReader.MLP, NormReader.ATTENTION}),
        logit_bias=sizes.logit_bias or NormReader.LOGITS in shifting,
    )


def compare(before: Transformer, after: Transformer, batch: Batch) -> FoldError:
    """Measure how far apart two models are on a batch, in their own precision, some rows at a time."""
    largest, squares, total, agreed, losses = 0.0, 0.0, 0.0, 0, 0.0
    rows = max(1, _NUMBERS_AT_ONCE // (batch.tokens.shape[1] * before.architecture.vocabulary))
    for part in batch.portions(rows):
        with torch.no_grad():
            wanted, found = (model(part.tokens.to(model.device)).cpu() for model in (before, after))
        if not (wanted.isfinite().all() and found.isfinite().all()):
            raise NumericError("fold: a logit is NaN or infinite; the weights or the training have diverged")
        difference = (found - wanted).double()
        largest = max(largest, difference.abs().max().item())
        squares += difference.square().sum().item()
        total += wanted.double().square().sum().item()
        agreed += int((found.argmax(-1) == wanted.argmax(-1)).sum())
        losses += _loss_sum(found, part.targets) - _loss_sum(wanted, part.targets)
    positions = batch.tokens.numel()
    return FoldError(largest, _ratio(squares, total), agreed / positions, losses / batch.asked, positions)


def _ratio(squares: float, total: float) -> float:
    """Return the relative length of a difference; of logits that are all zero it is none or infinite."""
    if total > 0:
        return sqrt(squares / total)
    return float("inf") if squares > 0 else 0.0


def _loss_sum(logits: Tensor, targets: Tensor) -> float:
    asked = targets != NO_TARGET
    return functional.cross_entropy(logits[asked].double(), targets[asked], reduction="sum").item()


def _readers(site: Site, sizes: Architecture, programs: ProgramHeads) -> Iterable[str]:
    """Return the linear maps that read through a norm; a program head has no query and no key."""
    match site.reader:
        case NormReader.MLP:
            return (f"mlp.{site.layer}.up",)
        case NormReader.LOGITS:
            return ("logits",)
        case NormReader.ATTENTION:
            return tuple(
                f"head.{site.layer}.{index}.{role}"
                for index in range(sizes.heads)
                for role in (("value",) if Head(site.layer, index) in programs else ("query", "key", "value"))
            )


def _fold_into(
    reader: str, tensors: Mapping[str, Tensor], site: Site, deviation: float
) -> Mapping[str, Float[Tensor, "..."]]:
    """Return weight and bias of a linear map that also does what the norm before it does."""
    weight = tensors[f"{reader}.weight"]
    scaled = weight * tensors[f"{site}.scale"] / deviation
    bias = weight @ tensors[f"{site}.shift"]
    return {
        f"{reader}.weight": scaled - scaled.mean(-1, keepdim=True),
        f"{reader}.bias": bias + tensors.get(f"{reader}.bias", torch.zeros_like(bias)),
    }
