"""Recipes: typed TOML that says what to train and how. Every mistake is one sentence with the key's path."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, TypeAlias, assert_never

from circuitproof.errors import InputError
from circuitproof.files.canonical import Digest, digest_file, digest_json, digest_together
from circuitproof.files.codec import Codec, FolderName, Key, PositiveInt
from circuitproof.files.kinds import FileKind, of_kind
from circuitproof.files.reading import Fields, about, read_toml, reading, reading_part
from circuitproof.models.architecture import Architecture, read_architecture
from circuitproof.tasks.loading import is_task_file, load_listed_task, task_spec
from circuitproof.tasks.spelling import Spelling
from circuitproof.tasks.task import Task
from circuitproof.tasks.written_rules import read_written_rule
from circuitproof_lab.train.loop import SEEDS, TrainingPlan
from circuitproof_lab.train.ruled import Draw, RuleSource
from circuitproof_lab.train.tokenised import BytePairs, CorpusSource


@dataclass(frozen=True, slots=True)
class TasksSource:
    """Train on the domains of these tasks together."""

    tag: ClassVar[str] = "tasks"
    tasks: tuple[Task, ...]
    batch: PositiveInt
    files: tuple[Path, ...] = ()
    """The files of those tasks that are not shipped."""


DataSource: TypeAlias = TasksSource | CorpusSource | RuleSource


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that a training run depends on."""

    name: FolderName
    architecture: Architecture
    source: Annotated[DataSource, Key("data")]
    plan: Annotated[TrainingPlan, Key("training")]
    digest: Digest
    """The digest of the recipe and of the files it names: a run goes on only with what began it."""
    keep_every: PositiveInt | None = None
    """After how many steps the model is kept each time, beside how it ends; that changes no bit of it."""

    def keeps(self, step: int) -> bool:
        """Say whether the model is kept after a step."""
        return self.keep_every is not None and (step % self.keep_every == 0 or step == self.plan.steps)

    @property
    def tokens_per_step(self) -> int | None:
        """Return how many tokens a step learns from; other prompts are not counted by tokens."""
        if not isinstance(self.source, CorpusSource):
            return None
        return self.source.batch * self.architecture.context


def load_recipe(path: Path) -> Recipe:
    """Read a recipe; paths in it are relative to its own folder."""
    codec = codec_in(path.parent)
    with reading(of_kind(read_toml(path), path.name, FileKind.TRAINING), path.name) as fields:
        architecture = codec.value(Architecture, fields, "architecture")
        plan = codec.part(TrainingPlan, fields, "training", seed=read_seed(fields))
        given = {"architecture": architecture, "plan": plan, "digest": digest_file(path)}
        recipe = codec.record(Recipe, fields, **given)
    _refuse_misfit(recipe, path.name)
    return replace(recipe, digest=digest_together(*map(digest_file, (path, *recipe.source.files))))


def with_seed(recipe: Recipe, seed: int) -> Recipe:
    """Return the same recipe with another seed, which makes another run of it."""
    digest = digest_together(recipe.digest, digest_json(seed))
    return replace(recipe, plan=replace(recipe.plan, seed=seed), digest=digest)


def with_tasks(recipe: Recipe, tasks: Sequence[Task]) -> Recipe:
    """Return the recipe of the same training on other tasks, with the sizes that their prompts need."""
    if not isinstance(recipe.source, TasksSource):
        raise InputError(f"{recipe.name} does not train on tasks, want a recipe whose data are tasks")
    _refuse_other_alphabets("tasks", tasks)
    for task in tasks:
        task.refuse_pattern()
    longest, digests = max(task.longest for task in tasks), [task.digest for task in tasks]
    return replace(
        recipe,
        architecture=replace(recipe.architecture, vocabulary=len(tasks[0].alphabet), context=longest),
        source=TasksSource(tuple(tasks), recipe.source.batch),
        digest=digest_together(recipe.digest, *digests),
    )


def refuse_names(
    names: Sequence[str], where: str, is_plain: Callable[[str], bool] = str.isidentifier
) -> None:
    """Refuse names of tasks that cannot name a folder each."""
    if not names or len(set(names)) != len(names) or not all(map(is_plain, names)):
        raise InputError(f"{where} are {list(names)}, want some, with distinct plain names")


def codec_in(folder: Path) -> Codec:
    """Return what reads recipes of a folder: paths, task files and other recipes are relative to it."""
    return Codec(
        {
            Path: lambda fields, key: folder / fields.text(key),
            Architecture: _read_architecture,
            Recipe: lambda fields, key: load_recipe(folder / fields.text(key)),
            TasksSource: partial(_read_tasks, folder),
            RuleSource: _read_rule,
        }
    )


def read_seed(fields: Fields) -> int:
    """Read the seed of a run."""
    seed = fields.integer("seed")
    SEEDS.refuse_outside(seed, fields.path("seed"))
    return seed


def _read_architecture(fields: Fields, key: str) -> Architecture:
    with reading_part(fields, key) as part:
        return read_architecture(part)


def _read_tasks(folder: Path, fields: Fields, _: str) -> TasksSource:
    where, specs = fields.path("tasks"), [task_spec(name, folder) for name in fields.texts("tasks")]
    if len(set(specs)) != len(specs):
        raise InputError(f"{where} names a task twice; name each once")
    files = tuple(Path(spec) for spec in specs if is_task_file(spec))
    tasks = tuple(_load(spec, where) for spec in specs)
    _refuse_other_alphabets(where, tasks)
    return TasksSource(tasks, fields.integer("batch", least=1), files)


def _read_rule(fields: Fields, _: str) -> RuleSource:
    tokens, length, batch = (fields.integer(key, least=1) for key in ("tokens", "length", "batch"))
    rule = read_written_rule((fields, "rule"), Spelling({}), tuple(range(tokens)))
    with about(fields.where):
        draw = fields.choice("draw", Draw) if fields.has("draw") else Draw.UNIFORM
        return RuleSource(rule, tokens, length, batch, draw)


def _refuse_other_alphabets(where: str, tasks: Sequence[Task]) -> None:
    if not tasks:
        raise InputError(f"{where} is empty; name at least one task")
    if other := [task.name for task in tasks if task.alphabet != tasks[0].alphabet]:
        raise InputError(
            f"{where}: {tasks[0].name!r} and {other[0]!r} have different alphabets; train on one"
        )


def _load(spec: str, where: str) -> Task:
    try:
        return load_listed_task(spec)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


def _refuse_misfit(recipe: Recipe, where: str) -> None:
    for key, found, wanted, who in _needs(recipe):
        if found < wanted:
            raise InputError(f"{where}.architecture.{key} is {found}, {who} needs at least {wanted}")


def _needs(recipe: Recipe) -> Iterator[tuple[str, int, int, str]]:
    """Return what sizes the data need of the architecture: the key, what it is, the least, and for whom."""
    sizes, source = recipe.architecture, recipe.source
    match source:
        case TasksSource(tasks):
            for task in tasks:
                yield "vocabulary", sizes.vocabulary, len(task.alphabet), f"task {task.name!r}"
                yield "context", sizes.context, task.longest, f"task {task.name!r}"
        case RuleSource():
            yield "vocabulary", sizes.vocabulary, source.tokens, "the rule's data"
            yield "context", sizes.context, source.length, "the rule's data"
        case CorpusSource(tokenizer=BytePairs(vocabulary)):
            yield "vocabulary", sizes.vocabulary, vocabulary, "the tokenizer"
        case CorpusSource():
            return
        case _:
            assert_never(source)
