"""What a study of a surrogate found, as a report: agreement on data and everywhere, verdict, outcome."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from circuitproof.files.canonical import Json
from circuitproof.files.codec import Codec, Key, PositiveInt, record_to_json
from circuitproof.files.reading import Fields
from circuitproof.proof.verdict import Verdict
from circuitproof_lab.surrogate.equivalence import WordCounterexample, describe
from circuitproof_lab.surrogate.refutation import Refutation
from circuitproof_lab.surrogate.relation import Basis, Relation
from circuitproof_lab.surrogate.study import SurrogateStudy, Tested


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
    size: PositiveInt
    lines: Annotated[tuple[str, ...], Key("program")]
    agreed: Annotated[int, Key("data_agreed")]
    verdict: Verdict
    replies: Mapping[str, str]
    disproof: Annotated[Disproof | None, Key("counterexample")]


@dataclass(frozen=True, slots=True)
class Closed:
    """A template of which no program agrees with the teacher, and what shows it."""

    template: str
    programs: int
    meanings: PositiveInt | None
    leaves: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SurrogateReport:
    """One row of the report, and what stands below it."""

    name: str
    basis: Basis
    words: PositiveInt
    surrogate_agreed: int
    data: PositiveInt
    explanation: TestedProgram | None
    repair: TestedProgram | None
    closed: tuple[Closed, ...]
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

    def to_json(self) -> Json:
        return {**record_to_json(self), "outcome": self.outcome}


def report_of(study: SurrogateStudy, relation: Relation, data: int) -> SurrogateReport:
    return SurrogateReport(
        name=relation.name,
        basis=relation.basis,
        words=len(relation.words),
        surrogate_agreed=study.surrogate_agreed,
        data=data,
        explanation=None if study.explanation is None else _account(study.explanation, relation),
        repair=None if study.repair is None else _account(study.repair, relation),
        closed=tuple(map(_closed, study.refutations)),
        open_template=None if study.stopped is None else study.stopped.template.name,
        verdict=study.verdict,
    )


def read_report(fields: Fields) -> SurrogateReport:
    """Read a report; its outcome follows from the rest."""
    fields.text("outcome")
    return Codec().record(SurrogateReport, fields)


def _account(tested: Tested, relation: Relation) -> TestedProgram:
    program, found = tested.program, tested.equivalence
    return TestedProgram(
        template=program.template.name,
        size=len(program.choices),
        lines=program.lines,
        agreed=tested.agreed,
        verdict=found.verdict,
        replies={name: describe(reply) for name, reply in found.replies.items()},
        disproof=None if found.counterexample is None else _disproof(found.counterexample, relation),
    )


def _disproof(found: WordCounterexample, relation: Relation) -> Disproof:
    names = relation.answers.names
    return Disproof(
        tokens=found.word,
        text=relation.words.tokens.text(found.word),
        program=names[found.program],
        surrogate=tuple(names[answer] for answer in sorted(found.surrogate)),
        teacher=names[relation.answer(found.word)],
    )


def _closed(refutation: Refutation) -> Closed:
    meanings = None if refutation.meanings is None else len(refutation.meanings)
    return Closed(refutation.template.name, refutation.programs, meanings, refutation.leaves)
