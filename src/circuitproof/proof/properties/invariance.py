"""Invariance: prompts that must not be told apart are decided alike."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from circuitproof.proof.claim import Claim
from circuitproof.proof.counterexamples import Decided, decided
from circuitproof.proof.effort import Effort
from circuitproof.proof.evidence import PromptSplit, Replay, Replayed, make_leaf
from circuitproof.proof.findings import Findings
from circuitproof.proof.fold import CandidateLogits, Folded
from circuitproof.proof.known import divide, is_clear, same_decision
from circuitproof.proof.properties.each_prompt import open_prompts
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.properties.property import Property, PropertyWords
from circuitproof.proof.properties.questions import Compared, OneClass, PropertyQuestion, Sought
from circuitproof.proof.regions.disturbed import Point
from circuitproof.proof.remarks import Decisions, Plain, Remark, RemarkContext, constant
from circuitproof.proof.verdict import Answer, Battery, PropertyOutcome, Proved, Refuted
from circuitproof.tasks.domain import Prompt

if TYPE_CHECKING:
    from circuitproof.proof.patterns.answers import PatternProver
    from circuitproof.proof.patterns.goals import Seen
    from circuitproof.proof.patterns.regions import PromptRegion


@dataclass(frozen=True, slots=True)
class Invariance(Property):
    """For every class of R, all prompts get the same clear decision."""

    kind: ClassVar[Kind] = Kind.INVARIANCE
    is_known_on_patterns: ClassVar[bool] = True
    is_enclosed_on_patterns: ClassVar[bool] = True

    def meaning(self) -> PropertyWords:
        return PropertyWords(
            "Prompts of one class get the same decision, and it is clear.",
            "∀x, x′ ∈ D:  x R x′  ⇒  d(x) = d(x′), |d(x)| = 1",
            "The decision need not be right, and logits may differ within a class.",
        )

    def obligations(self, claim: Claim) -> int:
        return len(claim.task.classes())

    def answer_list(self, claim: Claim, folded: Folded[CandidateLogits], _effort: Effort) -> Answer:
        found, classes, prompts = folded.of(claim.circuit), claim.task.classes(), claim.task.prompts
        failing: list[tuple[int, ...]] = []
        unknown: list[int] = []
        for members in classes:
            clear = divide(is_clear(found[x].decision) for x in members)
            tied, known = [members[k] for k in clear.no], [members[k] for k in clear.yes]
            unlike = [x for x in known if same_decision(found[x], found[known[0]]) is False]
            if tied or unlike:
                failing.append((tied[0],) if tied else (known[0], unlike[0]))
            else:
                unknown.extend(members[k] for k in clear.open)
        leaves = tuple(map(make_leaf, found))
        outcome: PropertyOutcome = Proved(PromptSplit(leaves))
        if failing:
            outcome = Refuted(Replay(tuple(Replayed(prompts[x], leaves[x]) for x in failing[0])))
        elif unknown:
            outcome = open_prompts(leaves, unknown)
        open_classes = sum(not set(unknown).isdisjoint(members) for members in classes)
        met = len(classes) - len(failing) - open_classes
        return Answer(self, outcome, len(classes), met, Findings(tuple(failing)))

    def answer_pattern(self, prover: "PatternProver") -> Answer:
        return prover.for_every_prompt(self, Alike())

    def remarks(self, _battery: Battery, grounds: RemarkContext, decisions: Decisions) -> tuple[Remark, ...]:
        has_one_each = all(len(answers) == 1 for answers in grounds.answers.values())
        implied = (Plain.IMPLIED,) * (grounds.is_equivalent and has_one_each)
        return implied + (Plain.CLEAR,) * grounds.has_single_classes + constant(grounds, decisions)

    def questions(self, claim: Claim) -> tuple[PropertyQuestion, ...]:
        return tuple(_question(claim, members) for members in claim.task.classes())

    def replayed(self, claim: Claim, prompts: Sequence[Prompt], _eta: Point) -> tuple[Decided, ...]:
        return tuple(decided(claim, claim.circuit, prompt) for prompt in prompts)


def _question(claim: Claim, members: Sequence[int]) -> OneClass:
    """Return that all prompts of a class are decided clearly and like its first."""
    first = members[0]
    said = (f"is not decided clearly like prompt {first}", "is, clearly")
    return OneClass(Sought(Compared.NOT_ALIKE, (claim.circuit,), said, first), tuple(members))


@dataclass(frozen=True, slots=True)
class Alike:
    """All prompts of a class get the same clear decision."""

    second: None = None
    first: dict[int, "Seen"] = field(default_factory=dict[int, "Seen"])
    """Of each class the first prompt that was seen."""

    def decision(self, _region: "PromptRegion", first: "Seen") -> int:
        return self.first.setdefault(first.label.group, first).fold.leader

    def least(self, _winner: int, _other: int) -> Fraction:
        return Fraction(0)

    def broken_by(self, seen: "Seen") -> Replay | None:
        """Return a tie, or two prompts of a class that are decided differently."""
        if is_clear(seen.fold.decision) is not True:
            return Replay((seen.replayed(),)) if is_clear(seen.fold.decision) is False else None
        first = self.first.setdefault(seen.label.group, seen)
        is_unlike = same_decision(first.fold, seen.fold) is False
        return Replay((first.replayed(), seen.replayed())) if is_unlike else None
