"""What stays as it is when only the readouts of program heads change, and is therefore computed once."""

from collections.abc import Sequence

import torch
from torch import Tensor

from circuitproof.errors import DeclarationError
from circuitproof.nn.below import Below
from circuitproof.nn.transformer import Transformer


def share_below(first: Transformer, *others: Transformer) -> None:
    """Let models that are equal below the first program head of any compute what is there once, for all.

    They may differ at that layer and above. What they compute is the same, bit by bit, as without sharing.
    """
    models = (first, *others)
    layer = min((head.layer for model in models for head in model.programs), default=0)
    below = first.below if isinstance(first.below, Below) and first.below.layer <= layer else Below(layer)
    for model in models:
        if not _equal_below(first, model, below.layer):
            raise DeclarationError(
                f"the models differ below layer {below.layer}, so what is there cannot be shared; "
                "give models that differ in the readouts of program heads only"
            )
        model.below = below


def _equal_below(one: Transformer, other: Transformer, layer: int) -> bool:
    ours, theirs = _parameters_below(one, layer), _parameters_below(other, layer)
    return one.architecture == other.architecture and all(map(torch.equal, ours, theirs))


def _parameters_below(model: Transformer, layer: int) -> Sequence[Tensor]:
    modules = (*model.attentions[:layer], *model.mlps[:layer])
    inner = [parameter for module in modules for parameter in module.parameters()]
    return [*model.embedding_slices().values(), *inner]
