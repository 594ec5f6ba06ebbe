"""Measures: numbers about a circuit's logits, of which a claim states brackets."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final

from circuitproof.errors import InputError
from circuitproof.proof.arithmetic import EnclosedNumbers
from circuitproof.proof.brackets import ClaimedBracket, KnownRange
from circuitproof.proof.claim import Claim
from circuitproof.proof.counterexamples import Decided
from circuitproof.proof.effort import Effort
from circuitproof.proof.enclosed import NOT_KNOWN, Ternary
from circuitproof.proof.evidence import Evaluated, Open
from circuitproof.proof.findings import Findings, MeasuredNumber
from circuitproof.proof.fold import CandidateLogits, Folded
from circuitproof.proof.known import divide
from circuitproof.proof.properties.each_prompt import unprovable
from circuitproof.proof.properties.property import Property
from circuitproof.proof.regions.disturbed import Point
from circuitproof.proof.remarks import Decisions, Remark, RemarkContext
from circuitproof.proof.verdict import Answer, Battery, PropertyOutcome, Proved, Refuted, Undecided
from circuitproof.tasks.domain import Prompt

NOT_NEGATIVE: Final = ClaimedBracket(Fraction(0), None)
"""What is claimed, and left open, of a number that there was no time to find."""
KnownNumbers = Mapping[str, KnownRange | None]
"""What is known of numbers, by their names; nothing where some part of one is unknown."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measure that states brackets, and what is known of its numbers at some precision."""

    said: "MeasuredProperty"
    known: KnownNumbers
    may_sharpen: bool
    """Whether something was to be found, and finer numbers may find it better."""


class MeasuredProperty(Property):
    """A property that says of one or more numbers that each is in a bracket; without any, they are found."""

    __slots__ = ()

    is_asked_of_solvers: ClassVar[bool] = False

    @abstractmethod
    def brackets(self) -> Mapping[str, ClaimedBracket]:
        """Return the brackets that are stated, by the names of the numbers."""

    @abstractmethod
    def measure(self, claim: Claim, folded: Folded[CandidateLogits], precision: int) -> "Measurement":
        """Return the property with what was to be found of it, and what is known of its numbers."""

    @property
    def name(self) -> str:
        said = [f"{number} {bracket.words()}" for number, bracket in self.brackets().items()]
        return ", ".join(said) or str(self.kind)

    def refuse_misfit(self, claim: Claim) -> None:
        if (operator := EnclosedNumbers().lacking(claim.frozen.architecture)) is not None:
            raise InputError(
                f"{self.kind} is measured in enclosed numbers, in which {operator} has no value; "
                "claim an accuracy, which is counted in exact ones"
            )

    def cannot_prove(self, claim: Claim) -> str | None:
        is_enclosed = isinstance(claim.arithmetic, EnclosedNumbers)
        return None if is_enclosed else f"{self.kind} is measured in enclosed numbers alone"

    def obligations(self, _claim: Claim) -> int:
        return max(1, len(self.brackets()))

    def answer_list(self, claim: Claim, folded: Folded[CandidateLogits], _effort: Effort) -> Answer:
        if not isinstance(claim.arithmetic, EnclosedNumbers):
            return unprovable(claim, self.unfound(), self.cannot_prove(claim) or "")
        found = self.measure(claim, folded, claim.arithmetic.precision)
        wanted, known = found.said.brackets(), found.known
        held = divide(_holds(bracket, known[number]) for number, bracket in wanted.items())
        every = Evaluated(claim.task.size)
        outcome: PropertyOutcome = Refuted(every) if held.no else Proved(every)
        if held.open and not held.no:
            outcome = Undecided(Open(_open_words(wanted, known, list(wanted)[held.open[0]])))
        told = ((name, known[name]) for name in wanted)
        findings = Findings(
            measured=tuple(MeasuredNumber(name, one) for name, one in told if one is not None)
        )
        return Answer(
            found.said,
            outcome,
            obligations=len(wanted),
            met=len(held.yes),
            findings=findings,
            may_sharpen=found.may_sharpen,
        )

    def remarks(
        self, _battery: Battery, _grounds: RemarkContext, _decisions: Decisions
    ) -> tuple[Remark, ...]:
        return ()

    def replayed(self, _claim: Claim, _prompts: Sequence[Prompt], _eta: Point) -> tuple[Decided, ...]:
        """Return nothing: no single prompt speaks against a number about all."""
        return ()


def _holds(bracket: ClaimedBracket, known: KnownRange | None) -> Ternary:
    return NOT_KNOWN if known is None else bracket.holds(known)


def _open_words(wanted: Mapping[str, ClaimedBracket], known: KnownNumbers, number: str) -> str:
    """Say of a number what is known of it and that this neither meets nor misses its bracket."""
    found = known[number]
    if found is None:
        return f"the {number} is not known: on some prompt that counts its denominator may be 0"
    bracket = wanted[number].words()
    said = f"the {number} is {found.words()}, which neither meets nor misses {bracket}"
    return f"{said}; allow more bits (--precision)"
