"""What is measured of a model in training and of a fold, and what a fold may cost: data, without torch."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Annotated

from circuitproof.errors import NumericError
from circuitproof.files.codec import Positive, PositiveInt, Range


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Measures of the model after so many steps."""

    step: int
    measures: Mapping[str, float]

    def __post_init__(self) -> None:
        for name, value in self.measures.items():
            if not isfinite(value):
                raise NumericError(
                    f"training: {name} is {value} after step {self.step}; lower the learning rate"
                )


@dataclass(frozen=True, slots=True)
class FoldError:
    """How far the folded model is from the attenuated one, both run in FP32 on the same prompts."""

    largest_error: float
    """The largest absolute difference of a logit."""
    relative_error: float
    """The Euclidean length of all differences, relative to that of all logits."""
    agreement: float
    """The share of positions at which both put the same token first."""
    loss_change: float
    """The loss of the folded model minus that of the attenuated one."""
    positions: PositiveInt

    def __post_init__(self) -> None:
        for name in ("largest_error", "relative_error", "agreement", "loss_change"):
            if not isfinite(found := getattr(self, name)):
                raise NumericError(f"fold: {name} is {found}; the weights or the training have diverged")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldLimits:
    """What a fold may cost; it is declared before the run."""

    largest_error: Positive
    relative_error: Positive
    agreement: Annotated[float, Range(above=0, most=1, what="a share of ")]
    """At least this share of positions agrees."""
    loss_change: Positive
    """The loss changes by at most this much, up or down."""

    def refuse_breach(self, error: FoldError) -> None:
        """Refuse a fold that costs more than was declared; the sentence names everything that does."""
        breaches = [
            f"the {name} is {found:.3g}, want at {'least' if is_floor else 'most'} {limit:g}"
            for name, found, limit, is_floor in (
                ("largest error of a logit", error.largest_error, self.largest_error, False),
                ("relative error", error.relative_error, self.relative_error, False),
                ("top-1 agreement", error.agreement, self.agreement, True),
                ("change of the loss", abs(error.loss_change), self.loss_change, False),
            )
            if not (found >= limit if is_floor else found <= limit)
        ]
        if breaches:
            raise NumericError(f"fold refused: {'; '.join(breaches)}; the model is not written")
