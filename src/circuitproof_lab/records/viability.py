"""The record of the first gate: does the model itself decide every prompt right that is declared?"""

from dataclasses import dataclass
from enum import StrEnum

from circuitproof.files.codec import PositiveInt
from circuitproof.tasks.names import TokenNames

VIABILITY = "viability.json"


class Narrowing(StrEnum):
    """What becomes of prompts that a model decides wrong; written down before its decisions are seen."""

    NOTHING = "nothing"
    """One wrong decision ends it."""
    STRATA = "strata"
    """Where one decision is wrong, all prompts of its stratum go."""


@dataclass(frozen=True, slots=True)
class Stratum:
    """The prompts of a template that share some words, or a declared stratum, as the model decides them."""

    name: str
    prompts: PositiveInt
    right: int

    @property
    def is_right(self) -> bool:
        return self.right == self.prompts


@dataclass(frozen=True, slots=True, kw_only=True)
class Viability:
    """What a model decides on the pool of a task, and what is left of the pool."""

    task: str
    strata: tuple[Stratum, ...]
    kept: tuple[str, ...]
    """The strata that stay."""
    left: int
    """How many prompts stay, as many of each opener or answer."""
    wanted: PositiveInt
    narrowing: Narrowing
    """The rule by which strata go."""
    least: PositiveInt
    """With fewer prompts left of one of its openers, a template goes."""

    @property
    def is_viable(self) -> bool:
        """Say whether enough prompts stay."""
        return self.left >= self.wanted

    @property
    def prompts(self) -> int:
        """Return how large the pool is."""
        return sum(one.prompts for one in self.strata)

    @property
    def right(self) -> int:
        """Return how many prompts of the pool are decided right."""
        return sum(one.right for one in self.strata)

    @property
    def sentence(self) -> str:
        """Say in a sentence what stays, and which strata do not."""
        wrong_ones = [one for one in self.strata if not one.is_right]
        failing = [f"{self.shown_stratum(one.name)} ({one.prompts - one.right})" for one in wrong_ones]
        wrong = f"; wrong in {', '.join(failing)}" if failing else ""
        return (
            f"{self.task}: {self.right} of {self.prompts} prompts decided right{wrong}; {len(self.kept)} of "
            f"{len(self.strata)} strata stay with {self.left} balanced prompts, {self.wanted} are wanted"
        )

    def shown_stratum(self, name: str) -> str:
        """Return how the name of a stratum is shown, where strata are called by tokens."""
        return TokenNames({place: one.name for place, one in enumerate(self.strata)}).stratum(name)

    @property
    def dropped(self) -> tuple[Stratum, ...]:
        return tuple(one for one in self.strata if one.name not in self.kept)
