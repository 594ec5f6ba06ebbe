"""Recipes of surrogate studies: which teachers are tested, on which words, in which family of programs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, TypeAlias, assert_never

from circuitproof.errors import InputError
from circuitproof.files.canonical import Digest, digest_file, digest_together
from circuitproof.files.codec import Codec, FolderName, Key, Positive, PositiveInt
from circuitproof.files.kinds import FileKind, of_kind
from circuitproof.files.reading import Fields, read_toml, reading, reading_part
from circuitproof.files.sealed import MANIFEST
from circuitproof.models.architecture import Architecture
from circuitproof.solvers.choices import SolverName
from circuitproof.tasks.alphabet import Alphabet
from circuitproof_lab.pipeline.recipe import codec_in, read_seed
from circuitproof_lab.surrogate.fitting import Fitting
from circuitproof_lab.surrogate.machines import TEMPLATES, find_template, ladder, read_program
from circuitproof_lab.surrogate.study import StudyPlan
from circuitproof_lab.surrogate.teachers import Rendering, TeacherQuestion
from circuitproof_lab.surrogate.template import FilledTemplate, ProgramTemplate, Signature
from circuitproof_lab.surrogate.words import read_data, read_words
from circuitproof_lab.train.loop import TrainingPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedTeacher:
    """A small transformer, trained on the answers of a rule to every word; it teaches what it has learned."""

    tag: ClassVar[str] = "trained"
    files: ClassVar[tuple[Path, ...]] = ()
    """Those that say what is taught."""
    rule: FilledTemplate
    architecture: Architecture
    batch: PositiveInt
    plan: Annotated[TrainingPlan, Key("training")]
    threshold: Positive | None = None
    """If given, not the whole model teaches but a circuit of it, extracted at this many nats."""


@dataclass(frozen=True, slots=True)
class StoredTeacher:
    """A stored model, or a circuit of it."""

    tag: ClassVar[str] = "model"
    model: Annotated[Path, Key("path")]
    rendering: Rendering
    circuit: Path | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        manifest = self.model / MANIFEST
        return (manifest,) if self.circuit is None else (manifest, self.circuit)


@dataclass(frozen=True, slots=True)
class TableTeacher:
    """A JSON table, whoever made it."""

    tag: ClassVar[str] = "table"
    path: Path

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.path,)


Teacher: TypeAlias = TrainedTeacher | StoredTeacher | TableTeacher


@dataclass(frozen=True, slots=True)
class StudyRecipe:
    """One teacher, how its surrogate is fitted, and what is searched for an explanation."""

    question: TeacherQuestion
    teacher: Teacher
    fitting: Annotated[Fitting, Key("surrogate")]
    plan: StudyPlan


@dataclass(frozen=True, slots=True)
class SurrogateRecipe:
    """Everything that a run depends on."""

    name: FolderName
    solvers: tuple[SolverName, ...]
    seconds: Positive
    studies: tuple[StudyRecipe, ...]
    digest: Digest
    """The digest of the recipe and of the files it names."""


def load_surrogate_recipe(path: Path) -> SurrogateRecipe:
    """Read a recipe; paths in it are relative to its own folder."""
    with reading(of_kind(read_toml(path), path.name, FileKind.SURROGATE), path.name) as fields:
        seed = read_seed(fields)
        studies = fields.each("studies", lambda part: _read_study(part, path.parent, seed))
        names = [study.question.name for study in studies]
        if not names or len(set(names)) != len(names):
            raise InputError(
                f"{fields.path('studies')} are named {names}; want one or more of different names"
            )
        files = [file for study in studies for file in study.teacher.files]
        digest = digest_together(*map(digest_file, (path, *files)))
        return Codec().record(SurrogateRecipe, fields, studies=studies, digest=digest)


def _read_study(fields: Fields, folder: Path, seed: int) -> StudyRecipe:
    question = _read_question(fields)
    codec = _codec(question, folder, seed)
    fitting = codec.part(Fitting, fields, "surrogate", seed=seed)
    plan = _read_study_plan(codec, fields, question)
    study = codec.record(StudyRecipe, fields, question=question, fitting=fitting, plan=plan)
    _refuse_misfit(study, fields.path("teacher"))
    return study


def _codec(question: TeacherQuestion, folder: Path, seed: int) -> Codec:
    """Return what reads the parts of a study: programs over its tokens, models trained with its seed."""
    codec, signature = codec_in(folder), Signature(question.words, question.answers)

    def program(fields: Fields, key: str) -> FilledTemplate:
        with reading_part(fields, key) as part:
            return read_program(part, signature)

    return codec.knowing(
        {
            TrainingPlan: lambda fields, key: codec.part(TrainingPlan, fields, key, seed=seed),
            FilledTemplate: program,
        }
    )


def _read_question(fields: Fields) -> TeacherQuestion:
    name = Codec().value(FolderName, fields, "name")
    words = read_words(fields)
    words.refuse_unlistable()
    return TeacherQuestion(name, words, Alphabet(fields.texts("answers")))


def _read_study_plan(codec: Codec, fields: Fields, question: TeacherQuestion) -> StudyPlan:
    with reading_part(fields, "data") as part:
        data = read_data(part, question.words)
    templates = ladder(_read_templates(fields), Signature(question.words, question.answers))
    return codec.record(StudyPlan, fields, templates=templates, data=data)


def _read_templates(fields: Fields) -> tuple[ProgramTemplate, ...]:
    if not fields.has("templates"):
        return TEMPLATES
    names = fields.texts("templates")
    if not names or len(set(names)) != len(names):
        raise InputError(f"{fields.path('templates')} is {list(names)}, want one or more, each once")
    return tuple(find_template(name, fields.path("templates")) for name in names)


def _refuse_misfit(study: StudyRecipe, where: str) -> None:
    """Refuse a teacher that has not the tokens, answers or lengths of its study."""
    words, answers, teacher = study.question.words, study.question.answers, study.teacher
    match teacher:
        case TrainedTeacher():
            sizes, names = teacher.architecture, {*words.tokens.names, *answers.names}
            if sizes.context < words.longest or sizes.vocabulary < len(names):
                raise InputError(
                    f"{where}.architecture has context {sizes.context} and vocabulary "
                    f"{sizes.vocabulary}, the study needs {words.longest} and {len(names)}"
                )
        case StoredTeacher(rendering=rendering):
            for key, found, wanted in (
                ("tokens", len(rendering.members), len(words.tokens)),
                ("answers", len(rendering.answers), len(answers)),
            ):
                if found != wanted:
                    raise InputError(
                        f"{where}.rendering.{key} has {found} entries, the study has {wanted} {key}"
                    )
        case TableTeacher():
            pass  # what the table says is read, and compared, where the study is run
        case _:
            assert_never(teacher)
