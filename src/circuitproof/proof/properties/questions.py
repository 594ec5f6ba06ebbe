"""What is to be asked of solvers about decisions, whichever solver it is and however it is written."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TypeAlias, assert_never

from circuitproof.circuits.circuit import Circuit
from circuitproof.forward.interface import Interface
from circuitproof.proof.fold import Fold


@dataclass(frozen=True, slots=True)
class Wrong:
    """A prompt is not decided clearly for its right answer."""

    wanted: Sequence[int]
    """For each prompt of the domain the place of its right answer."""


class Compared(StrEnum):
    """What is looked for in two decisions."""

    UNLIKE = "the sets of leading candidates differ"
    NOT_ALIKE = "no candidate leads alone in both"
    CHANGED = "a candidate leads alone in the first and not in the second"

    def holds(self, first: Fold, second: Fold) -> bool:
        """Say whether it is so in exact numbers."""
        is_other = first.decision != second.decision
        match self:
            case Compared.UNLIKE:
                return is_other
            case Compared.NOT_ALIKE:
                return is_other or not first.is_clear
            case Compared.CHANGED:
                return is_other and first.is_clear
            case _:
                assert_never(self)


@dataclass(frozen=True, slots=True)
class Sought:
    """What is looked for among prompts."""

    what: Wrong | Compared
    circuits: tuple[Circuit, ...]
    """The circuit that decides, and a second one where two are compared."""
    said: tuple[str, str]
    """What a solution does, and what each prompt does where there is none."""
    beside: int | None = None
    """The prompt that each is compared with, where one circuit decides both."""


@dataclass(frozen=True, slots=True)
class EachPrompt:
    """Each prompt is an obligation: it may not be a solution."""

    sought: Sought


@dataclass(frozen=True, slots=True)
class OneClass:
    """A class is an obligation: none of its prompts may be a solution beside its first."""

    sought: Sought
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OneWitness:
    """Some prompt must be a solution."""

    sought: Sought
    name: str


@dataclass(frozen=True, slots=True)
class EachBall:
    """Each prompt is an obligation: no perturbation may end its clear decision."""

    epsilon: Fraction
    at: Interface


PropertyQuestion: TypeAlias = EachPrompt | OneClass | OneWitness | EachBall
