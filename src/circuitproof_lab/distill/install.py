"""Programs in the place of the queries and keys of trained heads."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import torch
from torch import Tensor

from circuitproof.models.architecture import Architecture, tensor_shapes
from circuitproof.models.declaration import NO_PROGRAMS, ProgramHeads
from circuitproof.nn.transformer import Transformer

_SCORING = (".query.weight", ".query.bias", ".key.weight", ".key.bias")


@dataclass(frozen=True, slots=True)
class ScoringParameters:
    """How many numbers score attention, in the W_Q and W_K of heads with their biases."""

    without_programs: int
    """In the same architecture with every head neural."""
    with_programs: int
    """In the neural heads that remain."""


def install(model: Transformer, programs: ProgramHeads) -> Transformer:
    """Return a new model whose heads in `programs` attend where their program says.

    Their queries and keys are gone; every other weight is a copy and can be trained, values and outputs of
    the program heads among them. Programs that `model` has already stay, unless `programs` replaces them.
    """
    installed = Transformer(model.architecture, {**model.programs, **programs}).to(model.token)
    tensors = model.named_slices()
    with torch.no_grad():
        for name, view in installed.named_slices().items():
            view.copy_(tensors[name])
    return installed.train(model.training)


def replace_tensors(model: Transformer, tensors: Mapping[str, Tensor]) -> Transformer:
    """Return a copy of a model with some tensors replaced, by their names in a model file."""
    copy = install(model, NO_PROGRAMS)
    views = copy.named_slices()
    with torch.no_grad():
        for name, tensor in tensors.items():
            views[name].copy_(tensor)
    return copy


def scoring_parameters(model: Transformer) -> ScoringParameters:
    """Count the parameters that programs take away, and those that are left."""
    return ScoringParameters(
        without_programs=_count(model.architecture, NO_PROGRAMS),
        with_programs=_count(model.architecture, model.programs),
    )


def _count(architecture: Architecture, programs: ProgramHeads) -> int:
    shapes = tensor_shapes(architecture, programs)
    return sum(prod(shape) for name, shape in shapes.items() if name.endswith(_SCORING))
