"""What a study teaches, in the words of a report: agreement on data and everywhere, verdict, outcome."""

from dataclasses import dataclass

from circuitproof.lab.surrogate.equivalence import Counterexample, describe
from circuitproof.lab.surrogate.refutation import Refutation
from circuitproof.lab.surrogate.relation import Basis, Relation
from circuitproof.lab.surrogate.study import Study, Tested
from circuitproof.prove.verdict import Verdict
from circuitproof.text.canonical import Json
from circuitproof.text.reading import Fields, reading_part


@dataclass(frozen=True, slots=True)
class Disproof:
    """A word that refutes a program, as tokens and as text, and what each side answers to it."""

    tokens: tuple[int, ...]
    text: str
    program: str
    surrogate: tuple[str, ...]
    """More than one is a tie."""
    teacher: str

    def to_json(self) -> Json:
        """Return the disproof as JSON that `_read_disproof` reads back."""
        return {
            "tokens": list(self.tokens),
            "text": self.text,
            "program": self.program,
            "surrogate": list(self.surrogate),
            "teacher": self.teacher,
        }


@dataclass(frozen=True, slots=True)
class Account:
    """A program that was tested, and how it came out."""

    template: str
    size: int
    lines: tuple[str, ...]
    agreed: int
    verdict: Verdict
    replies: tuple[tuple[str, str], ...]
    disproof: Disproof | None

    def to_json(self) -> Json:
        """Return the account as JSON that `_read_account` reads back."""
        return {
            "template": self.template,
            "size": self.size,
            "program": list(self.lines),
            "data_agreed": self.agreed,
            "verdict": str(self.verdict),
            "replies": dict(self.replies),
            "counterexample": None if self.disproof is None else self.disproof.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Closed:
    """A template of which no program agrees with the teacher, and what shows it."""

    template: str
    programs: int
    meanings: int | None
    leaves: int

    def to_json(self) -> Json:
        """Return the numbers as JSON that `_read_closed` reads back."""
        return {
            "template": self.template,
            "programs": self.programs,
            "meanings": self.meanings,
            "leaves": self.leaves,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """One row of the report, and what stands below it."""

    name: str
    basis: Basis
    words: int
    surrogate_agreed: int
    data: int
    explanation: Account | None
    repair: Account | None
    closed: tuple[Closed, ...]
    open_template: str | None
    """The template in which the search reached its budget."""
    verdict: Verdict

    @property
    def outcome(self) -> str:
        """Return in a few words what the study came to."""
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
        """Return the lesson as JSON that `read_lesson` reads back."""
        return {
            "name": self.name,
            "basis": str(self.basis),
            "words": self.words,
            "surrogate_agreed": self.surrogate_agreed,
            "data": self.data,
            "explanation": None if self.explanation is None else self.explanation.to_json(),
            "repair": None if self.repair is None else self.repair.to_json(),
            "closed": [one.to_json() for one in self.closed],
            "open_template": self.open_template,
            "verdict": str(self.verdict),
            "outcome": self.outcome,
        }


def lesson_of(study: Study, relation: Relation, data: int) -> Lesson:
    """Return what a study teaches about its teacher."""
    return Lesson(
        name=relation.name,
        basis=relation.basis,
        words=study.fidelity.words,
        surrogate_agreed=study.fidelity.agreed,
        data=data,
        explanation=None if study.explanation is None else _account(study.explanation, relation),
        repair=None if study.repair is None else _account(study.repair, relation),
        closed=tuple(map(_closed, study.refutations)),
        open_template=None if study.stopped is None else study.stopped.template.name,
        verdict=study.verdict,
    )


def read_lesson(fields: Fields) -> Lesson:
    """Read a lesson; its outcome follows from the rest."""
    fields.text("outcome")
    return Lesson(
        name=fields.text("name"),
        basis=fields.choice("basis", Basis),
        words=fields.integer("words", least=1),
        surrogate_agreed=fields.integer("surrogate_agreed"),
        data=fields.integer("data", least=1),
        explanation=_read_account(fields, "explanation"),
        repair=_read_account(fields, "repair"),
        closed=fields.each("closed", _read_closed),
        open_template=None if fields.value("open_template") is None else fields.text("open_template"),
        verdict=fields.choice("verdict", Verdict),
    )


def _account(tested: Tested, relation: Relation) -> Account:
    found = tested.counterexample
    return Account(
        template=tested.program.template.name,
        size=tested.program.size,
        lines=tested.program.lines,
        agreed=tested.agreed,
        verdict=tested.verdict,
        replies=tuple((name, describe(reply)) for name, reply in tested.equivalence.replies.items()),
        disproof=None if found is None else _disproof(found, relation),
    )


def _disproof(found: Counterexample, relation: Relation) -> Disproof:
    names = relation.answers.names
    return Disproof(
        tokens=found.word,
        text=relation.words.text(found.word),
        program=names[found.program],
        surrogate=tuple(names[answer] for answer in sorted(found.surrogate)),
        teacher=names[relation.answer(found.word)],
    )


def _closed(refutation: Refutation) -> Closed:
    meanings = None if refutation.meanings is None else len(refutation.meanings)
    return Closed(refutation.template.name, refutation.programs, meanings, refutation.leaves)


def _read_account(fields: Fields, key: str) -> Account | None:
    if fields.value(key) is None:
        return None
    with reading_part(fields, key) as part:
        with reading_part(part, "replies") as replies:
            said = tuple((name, replies.text(name)) for name in replies.keys())  # noqa: SIM118  # Fields is not a mapping
        return Account(
            template=part.text("template"),
            size=part.integer("size", least=1),
            lines=part.texts("program"),
            agreed=part.integer("data_agreed"),
            verdict=part.choice("verdict", Verdict),
            replies=said,
            disproof=_read_disproof(part),
        )


def _read_disproof(fields: Fields) -> Disproof | None:
    if fields.value("counterexample") is None:
        return None
    with reading_part(fields, "counterexample") as part:
        return Disproof(
            tokens=part.integers("tokens"),
            text=part.text("text"),
            program=part.text("program"),
            surrogate=part.texts("surrogate"),
            teacher=part.text("teacher"),
        )


def _read_closed(fields: Fields) -> Closed:
    meanings = None if fields.value("meanings") is None else fields.integer("meanings", least=1)
    return Closed(fields.text("template"), fields.integer("programs"), meanings, fields.integer("leaves"))
