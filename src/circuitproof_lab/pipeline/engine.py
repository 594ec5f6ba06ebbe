"""The engine of recipes: a recipe lists its stages, and `follow` takes its work through them in that order.

Work is one frozen dataclass of a recipe. A stage reads what stages before it wrote there, makes its own
record or file in the run (`Run.record` and `Run.stage` skip what is finished and tell what begins), and
returns the work with that written too. Where a stage cannot go on, that is a result: what was found until
then, and why.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from circuitproof.errors import DeclarationError

Work = TypeVar("Work")
Known = TypeVar("Known")


class StageName(StrEnum):
    """What a stage does, in the words of the folders and records of runs."""

    TEACH = "teach"
    FIT = "fit surrogate"
    EXPLAIN = "explain"
    TRAIN = "train"
    REMOVE_NORMS = "remove norms"
    VIABILITY = "viability"
    EXTRACT = "extract"
    REGRESS = "block regression"
    SYNTHESISE = "synthesise"
    INSTALL = "install"
    GATE = "gate"
    DOMAIN = "domain"
    HEAL = "heal"
    AUDIT = "audit"
    CALIBRATE = "calibrate"
    PROVE = "prove"
    CHECK = "check"
    LIMITS = "limits"
    MEASURE = "measure"
    COMPARE = "compare"


class Stopped(Exception):  # noqa: N818  # a gate that is not met is a result, not a mistake
    """Ends a recipe early with the sentence that its result says."""


@dataclass(frozen=True, slots=True)
class RunStage(Generic[Work]):
    """One line of a recipe: a stage, and how it takes the recipe's work on."""

    name: StageName
    act: Callable[[Work], Work]


def follow(
    stages: Iterable[RunStage[Work]], work: Work, ends: tuple[type[Exception], ...] = (Stopped,)
) -> tuple[Work, str | None]:
    """Return how far work comes through stages, and where and why it ended early, if it did."""
    for stage in stages:
        try:
            work = stage.act(work)
        except ends as stop:
            return work, str(stop)
    return work, None


def written(value: Known | None, what: str) -> Known:
    """Return what an earlier stage wrote; a recipe that lists its stages in another order is a mistake."""
    if value is None:
        raise DeclarationError(f"no stage has made the {what} yet; list the one that does before this one")
    return value
