"""Recovered difference: which share of the model's logit difference a circuit recovers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from circuitproof.circuits.circuit import Circuit, whole
from circuitproof.circuits.graph import LOGITS, Edge
from circuitproof.errors import DeclarationError, InputError
from circuitproof.files.canonical import Json
from circuitproof.files.printing import plural
from circuitproof.files.reading import Fields
from circuitproof.proof.brackets import ClaimedBracket, read_bracket
from circuitproof.proof.claim import Claim
from circuitproof.proof.fold import CandidateLogits, Folded
from circuitproof.proof.measures import differences, enclosed_rows, mean_of, recovered_shares
from circuitproof.proof.properties.bounds import BoundedNumber, bounds_given, bracket_of
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.properties.measure import NOT_NEGATIVE, MeasuredProperty, Measurement
from circuitproof.proof.properties.property import Asked, PropertyWords
from circuitproof.proof.remarks import Decisions, LeftOut, Plain, Remark, RemarkContext
from circuitproof.proof.verdict import Battery
from circuitproof.proof.zero_nodes import is_whole_model

_MEAN = "mean recovered share"


@dataclass(frozen=True, slots=True)
class RecoveredDifference(MeasuredProperty):
    """The mean of (m(x) − m_∅(x)) / (m_M(x) − m_∅(x)) over all prompts but those that are left out.

    m is the logit difference of the circuit, m_M that of the whole model, m_∅ that without any edge. Without
    a bracket, or without a list of prompts that are left out, these are to be found.
    """

    kind: ClassVar[Kind] = Kind.RECOVERED_DIFFERENCE
    cuts_edges: ClassVar[bool] = True

    mean: ClaimedBracket | None = None
    without: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.without is not None and list(self.without) != sorted({*self.without}):
            raise DeclarationError("recovered difference wants prompts left out distinct and increasing")

    @classmethod
    def asked(cls, asked: Asked) -> Self:
        return cls(bracket_of(asked.bounds, BoundedNumber.RECOVERED))

    @classmethod
    def given(cls, asked: Asked) -> str:
        return bounds_given(asked.bounds, BoundedNumber.RECOVERED)

    @classmethod
    def read(cls, fields: Fields, _circuit: Circuit) -> Self:
        return cls(read_bracket(fields, "mean"), fields.integers("without"))

    def to_json(self) -> dict[str, Json]:
        mean: dict[str, Json] = {} if self.mean is None else {"mean": self.mean.to_json()}
        out: dict[str, Json] = {} if self.without is None else {"without": list(self.without)}
        return {"kind": str(self.kind), **mean, **out}

    def meaning(self) -> PropertyWords:
        bracket = self.unfound().mean or NOT_NEGATIVE
        out = f", {plural(len(self.without), 'prompt')} left out," if self.without else ""
        return PropertyWords(
            "The share of the whole model's logit difference that the circuit recovers, both less what is "
            f"there without any edge, is on average over all prompts{out} {bracket.words()}.",
            bracket.formula("mean of (m(x) − m_∅(x)) / (m_M(x) − m_∅(x))"),
            "A mean near 1 does not make circuit and model decide alike: shares above 1 make up for others.",
        )

    def refuse_misfit(self, claim: Claim) -> None:
        MeasuredProperty.refuse_misfit(self, claim)
        size, out = claim.task.size, self.without or ()
        if out and not 0 <= out[0] <= out[-1] < size:
            raise InputError(f"prompt {out[-1]} is left out, the task has prompts 0 to {size - 1}")
        if len(out) == size:
            raise InputError("every prompt is left out; a mean wants at least one")

    @property
    def is_to_be_found(self) -> bool:
        return self.mean is None or self.without is None

    def unfound(self) -> "RecoveredDifference":
        return RecoveredDifference(self.mean or NOT_NEGATIVE, self.without or ())

    def brackets(self) -> Mapping[str, ClaimedBracket]:
        return {} if self.mean is None else {_MEAN: self.mean}

    def other_circuits(self, claim: Claim) -> Sequence[Circuit]:
        return (whole(claim.frozen.graph), _unedged(claim.circuit))

    def measure(self, claim: Claim, folded: Folded[CandidateLogits], precision: int) -> Measurement:
        circuits, right = (claim.circuit, *self.other_circuits(claim)), claim.task.decisions()
        own, model, none = (differences(enclosed_rows(folded.of(one)), right) for one in circuits)
        shares = recovered_shares(own, model, none, precision)
        unknown = frozenset(place for place, share in enumerate(shares) if share is None)
        leaves_out = self.without is None and len(unknown) < len(shares)
        out = unknown if leaves_out else frozenset(self.without or ())
        known = [share for place, share in enumerate(shares) if share is not None and place not in out]
        mean = mean_of(known, precision) if unknown <= out else None
        bracket = self.mean or (NOT_NEGATIVE if mean is None else mean.outward())
        is_blunt = self.mean is None and mean is not None and not mean.is_sharp()
        may_sharpen = is_blunt or (self.without is None and bool(unknown))
        said = RecoveredDifference(bracket, tuple(sorted(out)))
        return Measurement(said, {_MEAN: mean}, may_sharpen)

    def remarks(self, battery: Battery, grounds: RemarkContext, _decisions: Decisions) -> tuple[Remark, ...]:
        is_bare = not any(edge.reader == LOGITS for edge in grounds.circuit)
        is_whole = is_whole_model(battery.claim.frozen, grounds.circuit)
        return (Plain.WHOLE,) * is_whole + (Plain.NO_EDGES,) * is_bare

    def late_remarks(self) -> tuple[Remark, ...]:
        return (LeftOut(len(self.without)),) if self.without else ()


def _unedged(circuit: Circuit) -> Circuit:
    return replace(circuit, edges=frozenset[Edge]())
