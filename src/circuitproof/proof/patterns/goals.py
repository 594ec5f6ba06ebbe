"""What has to hold of single prompts, and what margins prove it for a whole region."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from circuitproof.circuits.circuit import Circuit
from circuitproof.proof.evidence import Replay, Replayed, make_leaf
from circuitproof.proof.fold import CandidateLogits, Fold
from circuitproof.proof.known import exact_folds
from circuitproof.proof.patterns.regions import PromptRegion
from circuitproof.tasks.domain import Prompt
from circuitproof.tasks.labelling import Label


@dataclass(frozen=True, slots=True)
class Seen:
    """A concrete prompt and its logits, in the circuit and in the one that it is compared with."""

    prompt: Prompt
    label: Label
    fold: CandidateLogits
    second: CandidateLogits | None = None

    @property
    def exact(self) -> Fold:
        """Return the logits where only exact ones will do."""
        return exact_folds([self.fold])[0]

    @property
    def exact_second(self) -> Fold:
        """Return those of the circuit that it is compared with."""
        assert self.second is not None  # noqa: S101  # asked of a comparison
        return exact_folds([self.second])[0]

    def replayed(self) -> Replayed:
        return Replayed(self.prompt, make_leaf(self.fold, self.second))


class Goal(Protocol):
    """What is shown of every prompt, by the claim's circuit and where one is named by a second."""

    @property
    def second(self) -> Circuit | None:
        """Return the second circuit."""
        ...

    def decision(self, region: PromptRegion, first: Seen, /) -> int:
        """Return the place of the candidate that a region is to decide."""
        ...

    def least(self, winner: int, other: int, /) -> Fraction:
        """Return what the margin of the winner over another candidate must exceed."""
        ...

    def broken_by(self, seen: Seen, /) -> Replay | None:
        """Return the evidence that a prompt, with those before, breaks the goal."""
        ...


def others(count: int, winner: int) -> Sequence[int]:
    return [place for place in range(count) if place != winner]
