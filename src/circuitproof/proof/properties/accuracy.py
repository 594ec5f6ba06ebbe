"""Accuracy: on how many prompts a circuit is right, and on which it is not."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

from circuitproof.circuits.circuit import Circuit
from circuitproof.errors import DeclarationError, InputError
from circuitproof.files.canonical import Json
from circuitproof.files.printing import plural
from circuitproof.files.reading import Fields, write_rational
from circuitproof.proof.claim import Claim
from circuitproof.proof.counterexamples import Decided, rightly_decided
from circuitproof.proof.effort import Effort
from circuitproof.proof.enclosed import NOT_KNOWN, Decision, Ternary
from circuitproof.proof.evidence import Cases, Leaf, Open, Replay, Replayed, make_leaf
from circuitproof.proof.findings import Findings, RightCount
from circuitproof.proof.fold import CandidateLogits, Folded
from circuitproof.proof.known import Divided, decides, divide, same
from circuitproof.proof.properties.bounds import BoundedNumber, bounds_given
from circuitproof.proof.properties.each_prompt import for_every_prompt, open_prompts
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.properties.property import Asked, Property, PropertyWords
from circuitproof.proof.regions.disturbed import Point
from circuitproof.proof.remarks import ConstantScore, Decisions, Plain, Remark, RemarkContext, perhaps
from circuitproof.proof.verdict import Answer, Battery, PropertyOutcome, Proved, Refuted, Undecided
from circuitproof.tasks.domain import Prompt
from circuitproof.tasks.patterns import Pattern

if TYPE_CHECKING:
    from circuitproof.proof.patterns.answers import PatternProver
    from circuitproof.proof.summed.cover import RightTally

_TOLD = 12
"""So many wrong prompts at most are named in words."""
_SILENT = "Only the candidates are compared: another token may have a larger logit."


@dataclass(frozen=True, slots=True)
class Accuracy(Property):
    """The circuit is right on all prompts but those listed, or on at least so many.

    With neither, the errors are to be found.
    """

    kind: ClassVar[Kind] = Kind.ACCURACY
    is_asked_of_solvers: ClassVar[bool] = False
    is_enclosed_on_patterns: ClassVar[bool] = True

    wrong: tuple[int, ...] | None = None
    least: int | None = None
    exactly: int | None = None
    """How many prompts of a pattern are right, no more and no fewer."""
    is_of_pattern: bool = False
    """Whether `least` and `exactly` count prompts of a pattern, of which there may be very many."""

    def __post_init__(self) -> None:
        if sum(one is not None for one in (self.wrong, self.least, self.exactly)) > 1:
            raise DeclarationError("accuracy lists errors and says how many are right at least; give one")
        if min(1 if one is None else one for one in (self.least, self.exactly)) < 1:
            least = self.exactly if self.least is None else self.least
            raise DeclarationError(f"accuracy wants at least 1 right prompt, got {least}")
        if self.wrong is not None and list(self.wrong) != sorted({*self.wrong}):
            raise DeclarationError("accuracy wants the numbers of wrong prompts distinct and increasing")

    @classmethod
    def asked(cls, asked: Asked) -> Self:
        ends = [int(one.end) for one in asked.bounds if one.number is BoundedNumber.ACCURACY]
        return cls(least=ends[0] if ends else None)

    @classmethod
    def given(cls, asked: Asked) -> str:
        return bounds_given(asked.bounds, BoundedNumber.ACCURACY)

    @classmethod
    def read(cls, fields: Fields, _circuit: Circuit) -> Self:
        for key in ("least", "exactly"):
            if fields.has(key):
                is_text = isinstance(fields.value(key), str)
                count = int(fields.rational(key)) if is_text else fields.integer(key)
                return cls(
                    least=count if key == "least" else None,
                    exactly=count if key == "exactly" else None,
                    is_of_pattern=is_text,
                )
        return cls(wrong=fields.integers("wrong"))

    def to_json(self) -> dict[str, Json]:
        counts = {"least": self.least, "exactly": self.exactly}
        said: dict[str, Json] = {
            name: write_rational(Fraction(count)) if self.is_of_pattern else count
            for name, count in counts.items()
            if count is not None
        }
        return {"kind": str(self.kind), **said, **({} if self.wrong is None else {"wrong": list(self.wrong)})}

    @property
    def is_to_be_found(self) -> bool:
        return self.wrong is None and self.least is None and self.exactly is None

    @property
    def name(self) -> str:
        if self.least is not None:
            return f"accuracy: at least {self.least:,} right"
        if self.exactly is not None:
            return f"accuracy: exactly {self.exactly:,} right"
        return f"accuracy: {plural(len(self.wrong), 'error')}" if self.wrong is not None else str(self.kind)

    def meaning(self) -> PropertyWords:
        if self.least is not None:
            count = plural(self.least, "prompt")
            words = f"On at least {count} the circuit decides the right answer, and nothing ties with it."
            return PropertyWords(words, f"|{{x ∈ D: d(x) = {{P(x)}}}}| ≥ {self.least}", _SILENT)
        if self.exactly is not None:
            count = plural(self.exactly, "prompt")
            words = f"On exactly {count} the circuit decides the right answer, and nothing ties with it."
            return PropertyWords(words, f"|{{x ∈ D: d(x) = {{P(x)}}}}| = {self.exactly}", _SILENT)
        wrong = self.wrong or ()
        told = ", ".join(map(str, wrong[:_TOLD])) + ", …" * (len(wrong) > _TOLD)
        words = "On every prompt the circuit decides the right answer, and nothing ties with it"
        but = f", but for {plural(len(wrong), 'prompt')}: {told}. On each of these it does not" * bool(wrong)
        return PropertyWords(f"{words}{but}.", "∀x ∈ D:  d(x) ≠ {P(x)}  ⇔  x is listed", _SILENT)

    def refuse_misfit(self, claim: Claim) -> None:
        if self.is_to_be_found:
            return
        size, wrong = claim.task.size, self.wrong or ()
        for words, count in (("at least", self.least), ("exactly", self.exactly)):
            if count is not None and count > size:
                raise InputError(f"{words} {count} prompts are said to be right, the task has {size}")
        if isinstance(claim.task.domain, Pattern):
            return
        if self.exactly is not None:
            raise InputError(
                "of a list accuracy names the errors; say exactly how many are right of a pattern"
            )
        if wrong and not 0 <= wrong[0] <= wrong[-1] < size:
            raise InputError(f"prompt {wrong[-1]} is said to be wrong, the task has prompts 0 to {size - 1}")
        if len(wrong) == size:
            raise InputError("every prompt is said to be wrong; an accuracy is of one right prompt or more")

    def unfound(self) -> "Accuracy":
        return Accuracy(wrong=()) if self.is_to_be_found else self

    def implies_equivalence(self, claim: Claim) -> bool:
        return self._said(claim) == claim.task.size

    def _said(self, claim: Claim) -> int:
        """Return how many prompts are said to be right."""
        return self.least or self.exactly or claim.task.size - len(self.wrong or ())

    def obligations(self, claim: Claim) -> int:
        return claim.task.size if self.least is None else self.least

    def answer_list(self, claim: Claim, folded: Folded[CandidateLogits], _effort: Effort) -> Answer:
        found = folded.of(claim.circuit)
        right = divide(map(decides, found, claim.task.decisions()))
        said = _found(right) if self.is_to_be_found else self
        leaves = [make_leaf(one) for one in found]
        if said.least is None:
            as_said = _as_said(right, frozenset(said.wrong or ()))
            answer = for_every_prompt(claim, said, leaves, as_said)
        else:
            answer = _at_least(claim, said, leaves, right)
        count = RightCount(len(right.yes), len(right.open), claim.task.size)
        may_sharpen = self.is_to_be_found and bool(right.open)
        return replace(answer, findings=replace(answer.findings, right=count), may_sharpen=may_sharpen)

    def answer_pattern(self, prover: "PatternProver") -> Answer:
        """Count right prompts and wrong ones by regions; what is to be found is stated as it is known."""
        if self.wrong is not None:
            raise InputError("the wrong prompts of a pattern are found, never asked for; leave the list out")
        cover = prover.counted()
        evidence, tally = cover.whole(), cover.tally
        said = self._of_pattern(tally, prover.claim.task.size)
        outcome = said.judged(tally, prover.claim.task.size, evidence)
        left = prover.claim.task.size - tally.right - tally.wrong
        count = RightCount(tally.right, left, prover.claim.task.size)
        findings = replace(prover.survey(outcome, cover.regions), right=count)
        is_met = int(isinstance(outcome, Proved))
        return Answer(said, outcome, 1, is_met, findings, may_sharpen=cover.is_blurred)

    def _of_pattern(self, tally: "RightTally", size: int) -> "Accuracy":
        """Return what is claimed of a pattern: what was asked, or as much as was found."""
        if not self.is_to_be_found:
            return replace(self, is_of_pattern=True)
        is_whole = tally.right + tally.wrong == size
        if is_whole and len(tally.shown_wrong) == tally.wrong:
            return (
                Accuracy(wrong=tuple(range(tally.wrong)))
                if tally.right
                else Accuracy(least=1, is_of_pattern=True)
            )
        right = max(1, tally.right)
        if is_whole and tally.right:
            return Accuracy(exactly=right, is_of_pattern=True)
        return Accuracy(least=right, is_of_pattern=True)

    def judged(self, tally: "RightTally", size: int, evidence: "Cases | Replay | Open") -> PropertyOutcome:
        """Return what counts say of a claim about a pattern."""
        least = self.least if self.exactly is None else self.exactly
        is_whole = tally.right + tally.wrong == size
        if isinstance(evidence, Replay | Open):
            return Undecided(evidence if isinstance(evidence, Open) else Open("prompts were not counted"))
        if least is None:
            return Proved(evidence)
        if tally.right >= least and (self.exactly is None or (is_whole and tally.right == least)):
            return Proved(evidence)
        if tally.wrong > size - least or (self.exactly is not None and tally.right > least):
            return Refuted(evidence)
        return Undecided(Open(f"{size - tally.right - tally.wrong:,} of {size:,} prompts are not counted"))

    def remarks(self, battery: Battery, grounds: RemarkContext, _decisions: Decisions) -> tuple[Remark, ...]:
        claim, said = battery.claim, self._said(battery.claim)
        if isinstance(claim.task.domain, Pattern):
            counts = claim.task.labelled.answer_counts()
            most, is_enough = max(counts.values()), _is_right_over_pattern(grounds.unedged, claim, said)
        else:
            most = max(Counter(claim.task.answers()).values())
            is_enough = _is_right_without_edges(grounds.unedged, claim.task.decisions(), said)
        is_no_better = (ConstantScore(most),) if most >= said else ()
        return (*is_no_better, *perhaps(Plain.UNEDGED, is_enough))

    def against(self, prompts: Sequence[Decided]) -> str:
        if self.least is not None:
            return ""
        return "; ".join(
            f"prompt {one.place} is said to be {'wrong' if one.place in (self.wrong or ()) else 'right'}"
            for one in prompts
        )

    def replayed(self, claim: Claim, prompts: Sequence[Prompt], _eta: Point) -> tuple[Decided, ...]:
        return rightly_decided(claim, claim.circuit, prompts)


def _is_right_without_edges(unedged: Sequence[Decision], right: Sequence[int], said: int) -> Ternary:
    """Say whether what is decided without any edge, for all prompts or for each, is right so often."""
    if len(unedged) not in {1, len(right)}:
        return False
    is_one = len(unedged) == 1
    pairs = zip([*unedged] * len(right) if is_one else unedged, right, strict=True)
    found = divide(same(one, frozenset({place})) for one, place in pairs)
    if len(found.yes) >= said:
        return True
    most = max(Counter(right).values())
    possible = most if is_one and found.open else len(found.yes) + len(found.open)
    return NOT_KNOWN if possible >= said else False


def _is_right_over_pattern(unedged: Sequence[Decision], claim: Claim, said: int) -> Ternary:
    """Say the same of the one decision without edges for all prompts of a pattern."""
    counts = claim.task.labelled.answer_counts()
    of_places = [counts.get(candidate, 0) for candidate in claim.task.candidates]
    found = divide(same(unedged[0], frozenset({place})) for place in range(len(of_places)))
    if sum(of_places[place] for place in found.yes) >= said:
        return True
    return NOT_KNOWN if found.open and max(of_places) >= said else False


def _found(right: Divided) -> Accuracy:
    """Return the errors; where some decision is unknown, how many are right at least."""
    if not right.yes:
        return Accuracy(least=1)
    return Accuracy(least=len(right.yes)) if right.open else Accuracy(wrong=right.no)


def _as_said(right: Divided, wrong: frozenset[int]) -> Divided:
    """Return which prompts are as a list of errors says, and which are not."""
    yes, no = frozenset(right.yes), frozenset(right.no)
    kept, broken = (yes - wrong) | (no & wrong), (yes & wrong) | (no - wrong)
    return Divided(tuple(sorted(kept)), tuple(sorted(broken)), right.open)


def _at_least(claim: Claim, said: Accuracy, leaves: Sequence[Leaf], right: Divided) -> Answer:
    """Answer by showing enough prompts that are right, or too many that are not."""
    least = said.least or 1
    allowed = claim.task.size - least

    def replay(places: Sequence[int]) -> Replay:
        return Replay(tuple(Replayed(claim.task.prompts[x], leaves[x]) for x in places))

    if len(right.yes) >= least:
        return Answer(said, Proved(replay(right.yes[:least])), least, least, Findings())
    if len(right.no) > allowed:
        refuted = Refuted(replay(right.no[: allowed + 1]))
        found = Findings(tuple((x,) for x in right.no))
        return Answer(said, refuted, least, len(right.yes), found)
    return Answer(said, open_prompts(leaves, right.open), least, len(right.yes), Findings())
