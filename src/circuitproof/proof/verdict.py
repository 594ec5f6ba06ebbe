"""What the engine may answer about a property, and how answers add up."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, TypeAlias

from circuitproof.errors import DeclarationError, ExitCode
from circuitproof.files.canonical import Json
from circuitproof.proof.claim import Claim
from circuitproof.proof.evidence import Evidence, Open, Proving, Refuting
from circuitproof.proof.findings import Findings
from circuitproof.proof.fold import CandidateLogits, Folded
from circuitproof.proof.known import divide, is_clear
from circuitproof.proof.properties.property import Property
from circuitproof.proof.remarks import Remark
from circuitproof.tasks.domain import Domain


class Verdict(StrEnum):
    """The three answers; none of them is true or false."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNDECIDED = "undecided"

    def __bool__(self) -> bool:
        raise TypeError(
            f"the verdict {self} is neither true nor false; compare it: verdict is Verdict.PROVED"
        )


@dataclass(frozen=True, slots=True)
class Proved:
    """The property holds; `evidence` is what the independent checker checks to agree."""

    verdict: ClassVar = Verdict.PROVED
    evidence: Proving


@dataclass(frozen=True, slots=True)
class Refuted:
    """The property fails; `evidence` is what the independent checker replays to agree."""

    verdict: ClassVar = Verdict.REFUTED
    evidence: Refuting


@dataclass(frozen=True, slots=True)
class Undecided:
    """Nobody knows; `evidence` says what is open and why."""

    verdict: ClassVar = Verdict.UNDECIDED
    evidence: Open
    is_final: bool = False
    """Whether no finer arithmetic of the kind can tell."""


PropertyOutcome: TypeAlias = Proved | Refuted | Undecided


@dataclass(frozen=True, slots=True)
class Answer:
    """A property, its outcome, and how many obligations were answered and met.

    On a list these are prompts, classes, edges, circuits or tensors; all prompts of a pattern are one.
    """

    prop: Property
    outcome: PropertyOutcome
    obligations: int
    met: int
    findings: Findings
    remarks: tuple[Remark, ...] = ()
    """What a proof tells less than the property's name."""
    may_sharpen: bool = False
    """Whether a finer arithmetic may find more than is stated or counted here."""

    def __post_init__(self) -> None:
        if self.remarks and not isinstance(self.outcome, Proved):
            raise DeclarationError(f"remarks on an answer that is {self.verdict}, want them on proofs alone")
        if self.obligations < 1:
            raise DeclarationError("no obligations to answer: a verdict about nothing is none")
        is_met = self.met == self.obligations
        if isinstance(self.outcome, Proved) != is_met or not 0 <= self.met <= self.obligations:
            raise DeclarationError(f"{self.met} of {self.obligations} obligations met, yet {self.verdict}")

    @property
    def verdict(self) -> Verdict:
        return self.outcome.verdict

    def to_json(self) -> dict[str, Json]:
        """Return what came of the property as JSON, without evidence and findings."""
        return {
            "property": str(self.prop.kind),
            "verdict": str(self.verdict),
            "met": self.met,
            "remarks": [str(remark) for remark in self.remarks],
        }

    @property
    def evidence(self) -> Evidence:
        return self.outcome.evidence


@dataclass(frozen=True, slots=True)
class Battery:
    """A claim, its answers, and what was computed on the way."""

    claim: Claim
    answers: tuple[Answer, ...]
    shown: Domain
    """The prompts that a bundle lists: a whole list; of a pattern those of the evidence and of each label."""
    folded: Folded[CandidateLogits]
    """The folds of these prompts."""
    cells: int
    """How many distinct computations decide a list, or how many were made for a pattern."""
    tokens: frozenset[int]
    """The tokens whose embedding a checker needs."""

    @property
    def verdict(self) -> Verdict:
        return settle(self.claim.properties, self.answers)

    @property
    def ties(self) -> int | None:
        """Return on how many of the listed prompts the circuit ties; nothing if that is not known."""
        if not self.folded.has([self.claim.circuit]):
            return None
        clear = divide(is_clear(found.decision) for found in self.folded.of(self.claim.circuit))
        return None if clear.open else len(clear.no)


def settle(properties: Sequence[Property], answers: Sequence[Answer]) -> Verdict:
    """Return the verdict on all properties together: one refutation refutes, all proofs prove.

    A property that nobody answered is an error rather than a pass, and no properties prove nothing.
    """
    if not properties:
        raise DeclarationError("no properties to settle")
    if [answer.prop for answer in answers] != list(properties):
        raise DeclarationError(
            f"{len(answers)} answers do not match the {len(properties)} properties claimed"
        )
    return worst([answer.verdict for answer in answers])


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """Return what several verdicts come to together; none at all is an error."""
    if not verdicts:
        raise DeclarationError("no verdicts to add up")
    if Verdict.REFUTED in verdicts:
        return Verdict.REFUTED
    return Verdict.UNDECIDED if Verdict.UNDECIDED in verdicts else Verdict.PROVED


EXIT_CODES = {
    Verdict.PROVED: ExitCode.GOOD,
    Verdict.REFUTED: ExitCode.REFUTED,
    Verdict.UNDECIDED: ExitCode.UNDECIDED,
}
