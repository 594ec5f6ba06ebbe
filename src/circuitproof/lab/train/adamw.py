"""AdamW, as torch computes it: torch's own loads torch's compiler first, a second for every process."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

_SMALLEST = 1e-8
"""What a square root of squares is raised by, so that it divides."""


@dataclass(slots=True)
class Moments:
    """What is remembered of one tensor's gradients; the names are those of checkpoints."""

    exp_avg: Tensor
    exp_avg_sq: Tensor
    step: int = 0

    def tensors(self) -> Mapping[str, Tensor]:
        return {
            "step": torch.tensor(float(self.step)),
            "exp_avg": self.exp_avg,
            "exp_avg_sq": self.exp_avg_sq,
        }

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Remember what tensors of these names say."""
        self.step = int(tensors["step"])
        self.exp_avg.copy_(tensors["exp_avg"])
        self.exp_avg_sq.copy_(tensors["exp_avg_sq"])


class AdamW:
    """Moves each weight by its mean gradient, in units of how large its gradients are."""

    def __init__(
        self,
        parameters: Iterable[Tensor],
        learning_rate: float,
        betas: tuple[float, float] = (0.9, 0.999),
        weight_decay: float = 0.0,
    ) -> None:
        self.parameters = list(parameters)
        self.learning_rate = learning_rate
        self.betas = betas
        self.weight_decay = weight_decay
        self.moments = [Moments(torch.zeros_like(one), torch.zeros_like(one)) for one in self.parameters]

    def forget_gradients(self) -> None:
        """Let the next gradients be those of the next step alone."""
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Move the parameters that have a gradient."""
        for parameter, moments in zip(self.parameters, self.moments, strict=True):
            if parameter.grad is not None:
                self._move(parameter, parameter.grad, moments)

    def _move(self, parameter: Tensor, gradient: Tensor, moments: Moments) -> None:
        mean_kept, square_kept = self.betas
        moments.step += 1
        parameter.mul_(1 - self.learning_rate * self.weight_decay)
        moments.exp_avg.lerp_(gradient, 1 - mean_kept)
        moments.exp_avg_sq.mul_(square_kept).addcmul_(gradient, gradient, value=1 - square_kept)
        size = (moments.exp_avg_sq.sqrt() / (1 - square_kept**moments.step) ** 0.5).add_(_SMALLEST)
        parameter.addcdiv_(moments.exp_avg, size, value=-self.learning_rate / (1 - mean_kept**moments.step))
