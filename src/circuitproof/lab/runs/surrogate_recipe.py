"""Recipes of surrogate studies: which teachers are tested, on which words, in which family of programs."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias, assert_never

from circuitproof.declare.architecture import Architecture, read_architecture
from circuitproof.declare.tasks.alphabet import Alphabet
from circuitproof.errors import DeclarationError, InputError
from circuitproof.lab.runs.recipe import read_plan, read_seed
from circuitproof.lab.surrogate.data import read_data
from circuitproof.lab.surrogate.fitting import Fitting
from circuitproof.lab.surrogate.machines import TEMPLATES, find_template, ladder
from circuitproof.lab.surrogate.program import FilledTemplate, read_program
from circuitproof.lab.surrogate.study import StudyPlan
from circuitproof.lab.surrogate.teachers import Question, Rendering
from circuitproof.lab.surrogate.template import Signature, Template
from circuitproof.lab.surrogate.words import read_words
from circuitproof.lab.train.loop import TrainingPlan
from circuitproof.solvers.choices import SolverName
from circuitproof.text.canonical import Digest, digest_bytes, digest_json
from circuitproof.text.reading import Fields, read_bytes, read_toml, reading, reading_part
from circuitproof.text.sealed import MANIFEST

_BUDGET = 100_000


class _TeacherKind(StrEnum):
    TRAINED = "trained"
    MODEL = "model"
    TABLE = "table"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedTeacher:
    """A small transformer, trained on the answers of a rule to every word; it teaches what it has learned."""

    rule: FilledTemplate
    architecture: Architecture
    batch: int
    plan: TrainingPlan
    threshold: float | None
    """If given, not the whole model teaches but a circuit of it, extracted at this many nats."""


@dataclass(frozen=True, slots=True)
class StoredTeacher:
    """A stored model, or a circuit of it."""

    model: Path
    circuit: Path | None
    rendering: Rendering


@dataclass(frozen=True, slots=True)
class TableTeacher:
    """A JSON table, whoever made it."""

    path: Path


Teacher: TypeAlias = TrainedTeacher | StoredTeacher | TableTeacher


@dataclass(frozen=True, slots=True)
class StudyRecipe:
    """One teacher, how its surrogate is fitted, and what is searched for an explanation."""

    question: Question
    teacher: Teacher
    fitting: Fitting
    plan: StudyPlan


@dataclass(frozen=True, slots=True)
class SurrogateRecipe:
    """Everything that a run depends on."""

    name: str
    solvers: tuple[SolverName, ...]
    seconds: float
    studies: tuple[StudyRecipe, ...]
    digest: Digest
    """The digest of the recipe and of the files it names."""


def load_surrogate_recipe(path: Path) -> SurrogateRecipe:
    """Read a recipe; paths in it are relative to its own folder."""
    with reading(read_toml(path), path.name) as fields:
        seed = read_seed(fields)
        studies = fields.each("studies", lambda part: _read_study(part, path.parent, seed))
        names = [study.question.name for study in studies]
        if not names or len(set(names)) != len(names):
            raise InputError(
                f"{fields.path('studies')} are named {names}; want one or more of different names"
            )
        digest = digest_json([str(digest_bytes(read_bytes(file))) for file in [path, *_files(studies)]])
        solvers = _read_solvers(fields)
        return SurrogateRecipe(
            fields.text("name"), solvers, fields.number("seconds", above=0), studies, digest
        )


def _files(studies: tuple[StudyRecipe, ...]) -> list[Path]:
    files: list[Path] = []
    for study in studies:
        match study.teacher:
            case TrainedTeacher():
                pass
            case StoredTeacher(model, circuit):
                files += [model / MANIFEST] if circuit is None else [model / MANIFEST, circuit]
            case TableTeacher(path):
                files.append(path)
            case _:
                assert_never(study.teacher)
    return files


def _read_solvers(fields: Fields) -> tuple[SolverName, ...]:
    names = fields.texts("solvers")
    if unknown := [name for name in names if name not in tuple(SolverName)]:
        known = ", ".join(map(str, SolverName))
        raise InputError(f"{fields.path('solvers')} has {unknown[0]!r}; known solvers: {known}")
    return tuple(map(SolverName, names))


def _read_study(fields: Fields, folder: Path, seed: int) -> StudyRecipe:
    try:
        question = _read_question(fields)
        with reading_part(fields, "teacher") as part:
            teacher = _read_teacher(part, folder, question, seed)
        with reading_part(fields, "surrogate") as part:
            fitting = _read_fitting(part, seed)
        return StudyRecipe(question, teacher, fitting, _read_study_plan(fields, question))
    except DeclarationError as error:
        raise InputError(f"{fields.where}: {error}") from error


def _read_question(fields: Fields) -> Question:
    name = fields.text("name")
    if Path(name).name != name or name.startswith("."):
        raise InputError(
            f"{fields.path('name')} is {name!r}, want a plain name: its results get a folder of it"
        )
    words = read_words(fields)
    words.refuse_unlistable()
    return Question(name, words, Alphabet(fields.texts("answers")))


def _read_study_plan(fields: Fields, question: Question) -> StudyPlan:
    signature = _signature(question)
    with reading_part(fields, "data") as part:
        data = read_data(part, question.words)
    hypothesis: FilledTemplate | None = None
    if fields.has("hypothesis"):
        with reading_part(fields, "hypothesis") as part:
            hypothesis = read_program(part, signature)
    return StudyPlan(
        templates=ladder(_read_templates(fields), signature),
        data=data,
        budget=fields.integer("budget", least=1) if fields.has("budget") else _BUDGET,
        hypothesis=hypothesis,
    )


def _read_templates(fields: Fields) -> tuple[Template, ...]:
    if not fields.has("templates"):
        return TEMPLATES
    names = fields.texts("templates")
    if not names or len(set(names)) != len(names):
        raise InputError(f"{fields.path('templates')} is {list(names)}, want one or more, each once")
    return tuple(find_template(name, fields.path("templates")) for name in names)


def _read_teacher(fields: Fields, folder: Path, question: Question, seed: int) -> Teacher:
    match fields.choice("kind", _TeacherKind):
        case _TeacherKind.TRAINED:
            return _read_trained(fields, question, seed)
        case _TeacherKind.MODEL:
            circuit = folder / fields.text("circuit") if fields.has("circuit") else None
            with reading_part(fields, "rendering") as part:
                rendering = _read_rendering(part, question)
            return StoredTeacher(folder / fields.text("path"), circuit, rendering)
        case _TeacherKind.TABLE:
            return TableTeacher(folder / fields.text("path"))
        case _ as kind:
            assert_never(kind)


def _read_trained(fields: Fields, question: Question, seed: int) -> TrainedTeacher:
    with reading_part(fields, "rule") as part:
        rule = read_program(part, _signature(question))
    with reading_part(fields, "architecture") as part:
        architecture = read_architecture(part)
    with reading_part(fields, "training") as part:
        plan = read_plan(part, seed)
    names = {*question.words.tokens.names, *question.answers.names}
    if architecture.context < question.words.longest or architecture.vocabulary < len(names):
        raise InputError(
            f"{fields.path('architecture')} has context {architecture.context} and vocabulary "
            f"{architecture.vocabulary}, the study needs {question.words.longest} and {len(names)}"
        )
    threshold = fields.number("threshold", above=0) if fields.has("threshold") else None
    batch = fields.integer("batch", least=1)
    return TrainedTeacher(rule=rule, architecture=architecture, batch=batch, plan=plan, threshold=threshold)


def _read_rendering(fields: Fields, question: Question) -> Rendering:
    members, answers = fields.integer_rows("tokens"), fields.integers("answers")
    for key, found, wanted in (
        ("tokens", len(members), len(question.words.tokens)),
        ("answers", len(answers), len(question.answers)),
    ):
        if found != wanted:
            raise InputError(f"{fields.path(key)} has {found} entries, the study has {wanted} {key}")
    return Rendering(fields.integers("before"), members, fields.integers("after"), answers)


def _read_fitting(fields: Fields, seed: int) -> Fitting:
    rate = fields.number("learning_rate", above=0)
    if rate > 1:
        raise InputError(f"{fields.path('learning_rate')} is {rate}, want at most 1")
    return Fitting(
        hidden=fields.integers("hidden"),
        steps=fields.integer("steps", least=1),
        learning_rate=rate,
        attempts=fields.integer("attempts", least=1),
        seed=seed,
    )


def _signature(question: Question) -> Signature:
    return Signature(question.words.tokens, question.answers, question.words.longest)
