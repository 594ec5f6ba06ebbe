"""The record of a study through a surrogate: agreement on data and everywhere, verdict, outcome."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from circuitproof.files.canonical import Digest
from circuitproof.files.codec import Key, PositiveInt
from circuitproof.proof.verdict import Verdict

STUDY = "study.json"


class Basis(StrEnum):
    """How the answers of a teacher are known."""

    LISTED = "listed"
    """Somebody's table says so."""
    EXACT = "exact"
    """Computed from the weights in exact arithmetic."""
    MEASURED = "measured"
    """Measured in FP32, because the teacher has an operator without exact values."""


@dataclass(frozen=True, slots=True)
class Disproof:
    """A word that refutes a program, as tokens and as text, and what each side answers to it."""

    tokens: tuple[int, ...]
    text: str
    program: str
    surrogate: tuple[str, ...]
    """More than one is a tie."""
    teacher: str


@dataclass(frozen=True, slots=True)
class TestedProgram:
    """A program that was tested, and how it came out."""

    template: str
    choices: Mapping[str, str]
    """What fills each hole of the template."""
    lines: Annotated[tuple[str, ...], Key("program")]
    agreed: Annotated[int, Key("data_agreed")]
    verdict: Verdict
    replies: Mapping[str, str]
    disproof: Annotated[Disproof | None, Key("counterexample")]


@dataclass(frozen=True, slots=True)
class GivenUpProgram:
    """A program that agreed with every example known at the time, and the word that then refuted it."""

    template: str
    choices: Mapping[str, str]
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Closed:
    """A template of which no program agrees with the teacher, and what shows it."""

    template: str
    programs: int
    meanings: PositiveInt | None
    leaves: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SurrogateReport:
    """What a study of a teacher through its surrogate found: one row, and what stands below it."""

    name: str
    basis: Basis
    teacher_digest: Digest
    surrogate_digest: Digest
    """Of the surrogate's weights."""
    words: PositiveInt
    surrogate_agreed: int
    data: PositiveInt
    explanation: TestedProgram | None
    repair: TestedProgram | None
    closed: tuple[Closed, ...]
    given_up: tuple[GivenUpProgram, ...]
    open_template: str | None
    """The template in which the search reached its budget."""
    verdict: Verdict

    @property
    def outcome(self) -> str:
        if self.explanation is None:
            stopped = self.open_template
            return f"search stopped in {stopped}" if stopped else "no program in the family"
        if self.explanation.verdict is Verdict.PROVED:
            return "compact program certified"
        if self.repair is not None:
            return f"counterexample returned; repaired by {self.repair.template} and {self.repair.verdict}"
        if self.open_template:
            return f"counterexample returned; the search for a repair stopped in {self.open_template}"
        return "counterexample returned; no program of the family repairs it"
