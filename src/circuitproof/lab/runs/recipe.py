"""Recipes: typed TOML that says what to train and how. Every mistake is one sentence with the key's path."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias, assert_never

from circuitproof.declare.architecture import Architecture, read_architecture
from circuitproof.declare.tasks.loading import is_task_file, load_listed_task, task_spec
from circuitproof.declare.tasks.task import Task
from circuitproof.errors import DeclarationError, InputError
from circuitproof.lab.train.loop import TrainingPlan
from circuitproof.text.canonical import Digest, digest_bytes, digest_json
from circuitproof.text.reading import Fields, read_bytes, read_toml, reading, reading_part


class _DataKind(StrEnum):
    TASKS = "tasks"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class TasksSource:
    """Train on the domains of these tasks together."""

    tasks: tuple[Task, ...]
    batch: int
    files: tuple[Path, ...] = ()
    """The files of those tasks that are not shipped."""


@dataclass(frozen=True, slots=True)
class TextSource:
    """Train on windows of a text, read as bytes or through a tokenizer."""

    path: Path
    tokenizer: Path | None
    batch: int


Source: TypeAlias = TasksSource | TextSource

_LARGEST_SEED = 2**32 - 1
"""Torch seeds its generator with 32 bits; a larger seed would be another spelling of a smaller one."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that a training run depends on."""

    name: str
    architecture: Architecture
    source: Source
    plan: TrainingPlan
    digest: Digest
    """The digest of the recipe and of the files it names: a run goes on only with what began it."""


def load_recipe(path: Path) -> Recipe:
    """Read a recipe; paths in it are relative to its own folder."""
    with reading(read_toml(path), path.name) as fields:
        with reading_part(fields, "architecture") as part:
            architecture = _read_architecture(part)
        with reading_part(fields, "data") as part:
            source = _read_source(part, path.parent)
        with reading_part(fields, "training") as part:
            plan = read_plan(part, read_seed(fields))
        recipe = Recipe(fields.text("name"), architecture, source, plan, _digest(path, source))
    _refuse_misfit(recipe, path.name)
    return recipe


def _digest(path: Path, source: Source) -> Digest:
    match source:
        case TasksSource():
            named = source.files
        case TextSource():
            named = (source.path,) if source.tokenizer is None else (source.path, source.tokenizer)
        case _:
            assert_never(source)
    return digest_json([str(digest_bytes(read_bytes(file))) for file in (path, *named)])


def _read_architecture(fields: Fields) -> Architecture:
    try:
        return read_architecture(fields)
    except DeclarationError as error:
        raise InputError(f"{fields.where}: {error}") from error


def read_seed(fields: Fields) -> int:
    """Read the seed of a run."""
    seed = fields.integer("seed")
    if seed > _LARGEST_SEED:
        raise InputError(f"{fields.path('seed')} is {seed}, want at most {_LARGEST_SEED}")
    return seed


def _read_source(fields: Fields, folder: Path) -> Source:
    batch = fields.integer("batch", least=1)
    match fields.choice("kind", _DataKind):
        case _DataKind.TASKS:
            names = fields.texts("tasks")
            if not names:
                raise InputError(f"{fields.path('tasks')} is empty; name at least one task")
            if len(set(names)) != len(names):
                raise InputError(f"{fields.path('tasks')} names a task twice; name each once")
            specs = [task_spec(name, folder) for name in names]
            files = tuple(Path(spec) for spec in specs if is_task_file(spec))
            return TasksSource(tuple(_load(spec, fields.path("tasks")) for spec in specs), batch, files)
        case _DataKind.TEXT:
            tokenizer = folder / fields.text("tokenizer") if fields.has("tokenizer") else None
            return TextSource(folder / fields.text("path"), tokenizer, batch)


def _load(spec: str, where: str) -> Task:
    try:
        return load_listed_task(spec)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


def read_plan(fields: Fields, seed: int, *, is_fresh: bool = True) -> TrainingPlan:
    """Read how to train; a run that starts from a given model declares no initial deviation."""
    return TrainingPlan(
        seed=seed,
        steps=fields.integer("steps", least=1),
        learning_rate=_read_learning_rate(fields),
        warmup=fields.integer("warmup"),
        weight_decay=_read_weight_decay(fields),
        gradient_limit=fields.number("gradient_limit", above=0),
        initial_deviation=fields.number("initial_deviation", above=0) if is_fresh else 0.0,
        evaluate_every=fields.integer("evaluate_every", least=1),
        checkpoint_every=fields.integer("checkpoint_every", least=1),
    )


def _read_learning_rate(fields: Fields) -> float:
    rate = fields.number("learning_rate", above=0)
    if rate > 1:
        raise InputError(f"{fields.path('learning_rate')} is {rate}, want at most 1")
    return rate


def _read_weight_decay(fields: Fields) -> float:
    decay = fields.number("weight_decay", above=float("-inf"))
    if decay < 0:
        raise InputError(f"{fields.path('weight_decay')} is {decay}, want at least 0")
    return decay


def _refuse_misfit(recipe: Recipe, where: str) -> None:
    sizes = recipe.architecture
    for task in recipe.source.tasks if isinstance(recipe.source, TasksSource) else ():
        if len(task.alphabet) > sizes.vocabulary:
            raise InputError(
                f"{where}.architecture.vocabulary is {sizes.vocabulary}, "
                f"task {task.name!r} needs at least {len(task.alphabet)}"
            )
        if task.domain.longest > sizes.context:
            raise InputError(
                f"{where}.architecture.context is {sizes.context}, "
                f"task {task.name!r} needs at least {task.domain.longest}"
            )
