"""What has to hold of single prompts, and what margins prove it for a whole region."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from circuitproof.declare.circuits.circuit import Circuit
from circuitproof.declare.tasks.domain import Prompt
from circuitproof.declare.tasks.labelled import Label
from circuitproof.declare.tasks.task import Task
from circuitproof.prove.balls.robustness import Directions, radii, violation
from circuitproof.prove.claim import Claim
from circuitproof.prove.evidence import FoldLeaf, Replay, Replayed
from circuitproof.prove.fold import Fold
from circuitproof.prove.patterns.regions import PromptRegion
from circuitproof.prove.properties import Robustness


@dataclass(frozen=True, slots=True)
class Seen:
    """A concrete prompt and its exact logits, in the circuit and where it is meant without an edge."""

    prompt: Prompt
    label: Label
    fold: Fold
    lesion: Fold | None = None

    def replayed(self) -> Replayed:
        return Replayed(self.prompt, FoldLeaf(self.fold, lesion=self.lesion))


@dataclass(frozen=True, slots=True)
class Right:
    """Every prompt gets its right answer and nothing else; with `robust`, whatever the perturbation."""

    task: Task
    robust: "Robust | None" = None
    lesion: None = None

    def decision(self, region: PromptRegion, first: Seen) -> int:
        return self.task.candidates.index((region.label or first.label).answer)

    def least(self, winner: int, other: int) -> Fraction:
        return Fraction(0) if self.robust is None else self.robust.least(winner, other)

    def broken_by(self, seen: Seen) -> Replay | None:
        """Return a prompt that is decided otherwise, or not at all, or is when it is perturbed."""
        wanted = frozenset({self.task.candidates.index(seen.label.answer)})
        if seen.fold.decision != wanted:
            return Replay((seen.replayed(),))
        return None if self.robust is None else self.robust.broken_by(seen)


@dataclass(frozen=True, slots=True)
class Alike:
    """All prompts of a class get the same clear decision."""

    lesion: None = None
    first: dict[int, Seen] = field(default_factory=dict[int, Seen])
    """Of each class the first prompt that was seen."""

    def decision(self, _region: PromptRegion, first: Seen) -> int:
        return self.first.setdefault(first.label.group, first).fold.winner

    def least(self, _winner: int, _other: int) -> Fraction:
        return Fraction(0)

    def broken_by(self, seen: Seen) -> Replay | None:
        """Return a tie, or two prompts of a class that are decided differently."""
        if not seen.fold.is_clear:
            return Replay((seen.replayed(),))
        first = self.first.setdefault(seen.label.group, seen)
        is_alike = first.fold.decision == seen.fold.decision
        return None if is_alike else Replay((first.replayed(), seen.replayed()))


@dataclass(frozen=True, slots=True)
class Robust:
    """Every decision is clear and stays when the final residual is perturbed by at most epsilon."""

    epsilon: Fraction
    rows: Directions
    lesion: None = None

    def decision(self, _region: PromptRegion, first: Seen) -> int:
        return first.fold.winner

    def least(self, winner: int, other: int) -> Fraction:
        return self.epsilon * self.rows.apart(winner, other)

    def broken_by(self, seen: Seen) -> Replay | None:
        """Return a tie, or a perturbation that ends a clear decision."""
        if seen.fold.is_clear and radii([seen.fold], self.rows)[0].exceeds(self.epsilon):
            return None
        eta = violation(seen.fold, self.rows, self.epsilon)
        return Replay((Replayed(seen.prompt, FoldLeaf(seen.fold), eta),))


@dataclass(frozen=True, slots=True)
class Idle:
    """No prompt with a clear decision is decided differently without an edge; one that is needs the edge."""

    lesion: Circuit

    def decision(self, _region: PromptRegion, first: Seen) -> int:
        """Return one of the candidates that lead on one prompt of the region."""
        return min(first.fold.decision)

    def least(self, _winner: int, _other: int) -> Fraction:
        return Fraction(0)

    def broken_by(self, seen: Seen) -> Replay | None:
        """Return a prompt that needs the edge."""
        assert seen.lesion is not None  # noqa: S101  # the solver looks at the lesion that the goal names
        is_idle = not seen.fold.is_clear or seen.fold.decision == seen.lesion.decision
        return None if is_idle else Replay((seen.replayed(),))


def robust_goal(claim: Claim, prop: Robustness) -> Robust | None:
    """Return what robustness wants of every prompt, where it can be asked over a pattern."""
    if claim.frozen.architecture.has_norm or not prop.at.is_final_residual:
        return None
    return Robust(prop.epsilon, claim.directions())


Goal: TypeAlias = Right | Alike | Robust | Idle
"""What is shown of every prompt. `decision` names the candidate that a region is to decide, `least` what its
margins must exceed; `broken_by` returns the evidence that a prompt, with those before, breaks the goal."""


def others(count: int, winner: int) -> Sequence[int]:
    return [place for place in range(count) if place != winner]
