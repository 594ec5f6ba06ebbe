"""Equivalence: the circuit decides the task."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from circuitproof.proof.claim import Claim
from circuitproof.proof.counterexamples import Decided, rightly_decided
from circuitproof.proof.effort import Effort
from circuitproof.proof.evidence import Replay, make_leaf
from circuitproof.proof.findings import RightCount
from circuitproof.proof.fold import CandidateLogits, Folded
from circuitproof.proof.known import decides, divide, same
from circuitproof.proof.properties.each_prompt import for_every_prompt
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.properties.property import Property, PropertyWords
from circuitproof.proof.properties.questions import EachPrompt, PropertyQuestion, Sought, Wrong
from circuitproof.proof.regions.disturbed import Point
from circuitproof.proof.remarks import Decisions, Plain, Remark, RemarkContext, unedged
from circuitproof.proof.verdict import Answer, Battery
from circuitproof.tasks.domain import Prompt
from circuitproof.tasks.task import Task

if TYPE_CHECKING:
    from circuitproof.proof.patterns.answers import PatternProver
    from circuitproof.proof.patterns.goals import Seen
    from circuitproof.proof.patterns.regions import PromptRegion
    from circuitproof.proof.properties.robustness import Robust


@dataclass(frozen=True, slots=True)
class Equivalence(Property):
    """For every prompt x, the circuit decides the right answer P(x) and nothing else."""

    kind: ClassVar[Kind] = Kind.EQUIVALENCE
    is_known_on_patterns: ClassVar[bool] = True
    is_enclosed_on_patterns: ClassVar[bool] = True

    def meaning(self) -> PropertyWords:
        return PropertyWords(
            "On every prompt the circuit decides the right answer, and no other candidate ties with it.",
            "∀x ∈ D:  d(x) = {P(x)}",
            "Only the candidates are compared: another token may have a larger logit.",
        )

    def implies_equivalence(self, _claim: Claim) -> bool:
        return True

    def answer_list(self, claim: Claim, folded: Folded[CandidateLogits], _effort: Effort) -> Answer:
        wanted, found = claim.task.decisions(), folded.of(claim.circuit)
        right = divide(decides(fold, wanted[x]) for x, fold in enumerate(found))
        answer = for_every_prompt(claim, self, [make_leaf(fold) for fold in found], right)
        if not right.no:
            return answer
        count = RightCount(len(right.yes), len(right.open), claim.task.size)
        findings = replace(answer.findings, right=count)
        return replace(answer, findings=findings, may_sharpen=bool(right.open))

    def answer_pattern(self, prover: "PatternProver") -> Answer:
        return prover.for_every_prompt(self, Right(prover.claim.task))

    def remarks(self, _battery: Battery, grounds: RemarkContext, decisions: Decisions) -> tuple[Remark, ...]:
        return (Plain.CONSTANT,) * grounds.is_constant + unedged(grounds, decisions)

    def questions(self, claim: Claim) -> tuple[PropertyQuestion, ...]:
        said = ("decides another answer than the right one, or ties", "decides right")
        return (EachPrompt(Sought(Wrong(claim.task.decisions()), (claim.circuit,), said)),)

    def replayed(self, claim: Claim, prompts: Sequence[Prompt], _eta: Point) -> tuple[Decided, ...]:
        return rightly_decided(claim, claim.circuit, prompts)


@dataclass(frozen=True, slots=True)
class Right:
    """Every prompt gets its right answer and nothing else; with `robust`, whatever the perturbation."""

    task: Task
    robust: "Robust | None" = None
    second: None = None

    def decision(self, region: "PromptRegion", first: "Seen") -> int:
        return self.task.candidates.index((region.label or first.label).answer)

    def least(self, winner: int, other: int) -> Fraction:
        return Fraction(0) if self.robust is None else self.robust.least(winner, other)

    def broken_by(self, seen: "Seen") -> Replay | None:
        """Return a prompt that is decided otherwise, or not at all, or is when it is perturbed."""
        wanted = frozenset({self.task.candidates.index(seen.label.answer)})
        if same(seen.fold.decision, wanted) is False:
            return Replay((seen.replayed(),))
        return None if self.robust is None else self.robust.broken_by(seen)
