"""Loss: the mean cross entropy of the right answers among the candidates."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from circuitproof.circuits.circuit import Circuit
from circuitproof.files.canonical import Json
from circuitproof.files.reading import Fields
from circuitproof.proof.brackets import ClaimedBracket, read_bracket
from circuitproof.proof.claim import Claim
from circuitproof.proof.fold import CandidateLogits, Folded
from circuitproof.proof.measures import enclosed_rows, losses, mean_of
from circuitproof.proof.properties.bounds import BoundedNumber, bounds_given, bracket_of
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.properties.measure import NOT_NEGATIVE, MeasuredProperty, Measurement
from circuitproof.proof.properties.property import Asked, PropertyWords

_MEAN = "mean loss"


@dataclass(frozen=True, slots=True)
class Loss(MeasuredProperty):
    """The mean over all prompts of −ln softmax(logits of the candidates) at the right answer."""

    kind: ClassVar[Kind] = Kind.LOSS

    mean: ClaimedBracket | None = None

    @classmethod
    def asked(cls, asked: Asked) -> Self:
        return cls(bracket_of(asked.bounds, BoundedNumber.LOSS))

    @classmethod
    def given(cls, asked: Asked) -> str:
        return bounds_given(asked.bounds, BoundedNumber.LOSS)

    @classmethod
    def read(cls, fields: Fields, _circuit: Circuit) -> Self:
        return cls(read_bracket(fields, "mean"))

    def to_json(self) -> dict[str, Json]:
        said: dict[str, Json] = {} if self.mean is None else {"mean": self.mean.to_json()}
        return {"kind": str(self.kind), **said}

    def meaning(self) -> PropertyWords:
        bracket = self.unfound().mean or NOT_NEGATIVE
        return PropertyWords(
            f"The mean loss (cross entropy, in nats) over all prompts is {bracket.words()}.",
            bracket.formula("mean over x ∈ D of −ln softmax(ℓ(x)) at P(x)"),
            "The softmax is over the candidates alone, and a small mean does not make every prompt right.",
        )

    @property
    def is_to_be_found(self) -> bool:
        return self.mean is None

    def unfound(self) -> "Loss":
        return Loss(NOT_NEGATIVE) if self.mean is None else self

    def brackets(self) -> Mapping[str, ClaimedBracket]:
        return {} if self.mean is None else {_MEAN: self.mean}

    def measure(self, claim: Claim, folded: Folded[CandidateLogits], precision: int) -> Measurement:
        found = losses(enclosed_rows(folded.of(claim.circuit)), claim.task.decisions(), precision)
        known = mean_of(found, precision)
        is_found = self.mean is None
        return Measurement(
            Loss(known.outward()) if is_found else self, {_MEAN: known}, is_found and not known.is_sharp()
        )
