"""What training makes small."""

from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

NO_TARGET = -100
"""The target of a position at which nothing is asked."""


def next_token_loss(
    logits: Float[Tensor, "prompt position token"], targets: Int[Tensor, "prompt position"]
) -> Float[Tensor, ""]:
    """Return the mean cross-entropy over the whole vocabulary at the positions that have a target."""
    asked = targets != NO_TARGET
    return functional.cross_entropy(logits[asked], targets[asked])
