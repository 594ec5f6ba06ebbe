"""How hard engines try, as data: a light module, so that a command line can offer the choices."""

from dataclasses import dataclass
from enum import StrEnum

from circuitproof.errors import DeclarationError


class Method(StrEnum):
    """How robustness is decided where something bends after the perturbation."""

    COMPLETE = "complete"
    """Split the ball wherever a branch is open."""
    BRANCH = "branch"
    """Only try whether the branches at η = 0 hold in the whole ball: the paper's way."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard to try."""

    method: Method = Method.COMPLETE
    budget: int = 20_000
    """The most parts of a prompt's ball to look at."""
    regions: int = 4096
    """The most regions of a pattern, for each property."""
    listed: int = 1024
    """The most prompts of a region that are computed one by one."""

    def __post_init__(self) -> None:
        if self.budget < 1:
            raise DeclarationError(f"the budget is {self.budget} parts, want at least 1")
