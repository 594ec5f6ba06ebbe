"""Logit difference: by how much right answers lead, at least, on average, at most."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from circuitproof.circuits.circuit import Circuit
from circuitproof.errors import DeclarationError
from circuitproof.files.canonical import Json
from circuitproof.files.reading import Fields
from circuitproof.proof.brackets import ClaimedBracket, read_bracket
from circuitproof.proof.claim import Claim
from circuitproof.proof.fold import CandidateLogits, Folded
from circuitproof.proof.measures import differences, enclosed_rows, greatest_of, least_of, mean_of
from circuitproof.proof.properties.bounds import BoundedNumber, bounds_given, bracket_of
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.properties.measure import NOT_NEGATIVE, MeasuredProperty, Measurement
from circuitproof.proof.properties.property import Asked, PropertyWords

_NUMBERS = (BoundedNumber.LEAST, BoundedNumber.MEAN, BoundedNumber.GREATEST)


@dataclass(frozen=True, slots=True)
class LogitDifferences(MeasuredProperty):
    """The logit of the right answer less the largest of another candidate: least, mean, greatest."""

    kind: ClassVar[Kind] = Kind.LOGIT_DIFFERENCE

    least: ClaimedBracket | None = None
    mean: ClaimedBracket | None = None
    greatest: ClaimedBracket | None = None

    @classmethod
    def asked(cls, asked: Asked) -> Self:
        return cls(*(bracket_of(asked.bounds, number) for number in _NUMBERS))

    @classmethod
    def given(cls, asked: Asked) -> str:
        return bounds_given(asked.bounds, *_NUMBERS)

    @classmethod
    def read(cls, fields: Fields, _circuit: Circuit) -> Self:
        found = cls(*(read_bracket(fields, key) for key in ("least", "mean", "greatest")))
        if found.is_to_be_found:
            raise DeclarationError(
                f"{fields.where} brackets none of least, mean and greatest; want one or more"
            )
        return found

    def to_json(self) -> dict[str, Json]:
        if self.is_to_be_found:
            return {"kind": str(self.kind)}
        ends = {"least": self.least, "mean": self.mean, "greatest": self.greatest}
        written = {key: None if one is None else one.to_json() for key, one in ends.items()}
        return {"kind": str(self.kind), **written}

    def meaning(self) -> PropertyWords:
        said = self.unfound().brackets()
        words = ", ".join(f"the {number} is {bracket.words()}" for number, bracket in said.items())
        formulas = (bracket.formula(f"{number.split()[0]} of m(x)") for number, bracket in said.items())
        return PropertyWords(
            "Of the logit differences of all prompts (the right answer's logit less the largest of another "
            f"candidate), {words}.",
            ",  ".join(formulas),
            "Only the candidates are compared: another token may have a larger logit.",
        )

    @property
    def is_to_be_found(self) -> bool:
        return self.least is None and self.mean is None and self.greatest is None

    def unfound(self) -> "LogitDifferences":
        return LogitDifferences(least=NOT_NEGATIVE) if self.is_to_be_found else self

    def brackets(self) -> Mapping[str, ClaimedBracket]:
        pairs = zip(_NUMBERS, (self.least, self.mean, self.greatest), strict=True)
        return {str(number): bracket for number, bracket in pairs if bracket is not None}

    def measure(self, claim: Claim, folded: Folded[CandidateLogits], precision: int) -> Measurement:
        found = differences(enclosed_rows(folded.of(claim.circuit)), claim.task.decisions())
        known = [take(found, precision) for take in (least_of, mean_of, greatest_of)]
        said = LogitDifferences(*(one.outward() for one in known)) if self.is_to_be_found else self
        may_sharpen = self.is_to_be_found and not all(one.is_sharp() for one in known)
        return Measurement(said, dict(zip(map(str, _NUMBERS), known, strict=True)), may_sharpen)
