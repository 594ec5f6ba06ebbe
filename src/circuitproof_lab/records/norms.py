"""Records of the removal of norms: how they faded, and what folding them away changed and cost."""

from dataclasses import dataclass
from typing import Annotated

from circuitproof.files.canonical import Digest
from circuitproof.files.codec import Key, Positive
from circuitproof_lab.train.measures import Evaluation, FoldError, FoldLimits
from circuitproof_lab.train.norm_schedule import Schedule

FOLD, REMOVAL = "fold.json", "removal.json"


@dataclass(frozen=True, slots=True)
class FadedNorm:
    """One norm: when it faded, and the deviation at which it is fixed."""

    name: Annotated[str, Key("norm")]
    first: int
    last: int
    deviation: Positive


@dataclass(frozen=True, slots=True)
class Attenuation:
    """How the norms of a model faded, as a recipe asked, and how it did meanwhile."""

    recipe: str
    recipe_digest: Digest
    schedule: Schedule
    norms: tuple[FadedNorm, ...]
    """By depth, from the one that is nearest to the tokens."""
    evaluations: tuple[Evaluation, ...]


@dataclass(frozen=True, slots=True)
class NormFold:
    """What folding changed, and what it cost."""

    limits: FoldLimits
    """What it was allowed to cost."""
    error: FoldError
    unties: bool
    """The output embedding was the token embedding, and is its own now."""
    adds_biases: bool
    adds_logit_bias: bool
    source: Evaluation
    """Of the model with norms, before anything faded."""
    folded: Evaluation
