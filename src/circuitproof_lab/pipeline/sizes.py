"""About how many bytes a run writes, so that a disk without room for them is met before the first step."""

from math import prod

from circuitproof.models.architecture import Architecture, tensor_shapes

_REPORTS = 1 << 20
"""What stands beside the weights of a model: names of tokens, measures, evidence."""
_KEPT = 3
"""A checkpoint keeps each weight and two numbers of the optimizer."""


def model_size(architecture: Architecture) -> int:
    """Return the size of a model's folder, or of a bundle about it."""
    return 4 * sum(map(prod, tensor_shapes(architecture).values())) + _REPORTS


def training_size(architecture: Architecture, kept: int = 0) -> int:
    """Return the size of a training: the model, its newest checkpoint, and for a moment the one before.

    To this come the models that are `kept` on the way.
    """
    return (1 + 2 * _KEPT + kept) * model_size(architecture)
