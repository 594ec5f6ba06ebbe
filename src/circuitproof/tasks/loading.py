"""The one entry point to a task: a name that is shipped, or a file that declares one."""

from pathlib import Path

from circuitproof.errors import InputError, UsageError, asked_for
from circuitproof.files.kinds import FileKind, of_kind
from circuitproof.files.reading import Fields, read_json, read_toml, reading
from circuitproof.tasks.alphabet import Alphabet
from circuitproof.tasks.catalogue import TASK_NAMES, find_task
from circuitproof.tasks.task import Task, read_task
from circuitproof.tasks.written import read_written, read_written_pattern

_FILES = (".toml", ".json")


def is_task_file(spec: str) -> bool:
    """Say whether a task is meant by its file rather than by its name."""
    return spec not in TASK_NAMES and Path(spec).suffix in _FILES


def refuse_unknown_task(spec: str) -> None:
    """Refuse what a caller calls a task and what is neither a shipped one nor a task's file."""
    if not is_task_file(spec):
        with asked_for():
            find_task(spec)


def task_spec(spec: str, folder: Path) -> str:
    """Return a spec that stands in a file of `folder`: a task's file is relative to that."""
    return str(folder / spec) if is_task_file(spec) else spec


def load_task(spec: str, alphabet: Alphabet | None = None, pattern: str | None = None) -> Task:
    """Return the task that `spec` names, or that a file declares: `.toml` by hand, `.json` canonically.

    `alphabet` are the names of the model's tokens, for files that leave the names to the model; `pattern`
    takes the place of that of a TOML file.
    """
    if pattern is not None and Path(spec).suffix != ".toml":
        raise UsageError(f"--pattern is given, but {spec} is no TOML file about a pattern; leave one out")
    if not is_task_file(spec):
        return find_task(spec)
    path = Path(spec)
    is_canonical = path.suffix == ".json"
    content = read_json(path) if is_canonical else read_toml(path)
    with reading(of_kind(content, str(path), FileKind.TASK), str(path)) as fields:
        return read_task(fields) if is_canonical else _read_written(fields, alphabet, pattern)


def load_listed_task(spec: str, alphabet: Alphabet | None = None) -> Task:
    """Return a task that lists its prompts and is decided at their ends, as what is trained is."""
    task = load_task(spec, alphabet)
    task.refuse_pattern()
    task.refuse_elsewhere()
    return task


def read_declared(content: object, where: str, alphabet: Alphabet | None = None) -> Task:
    """Return the task that the keys of a written file declare; `alphabet` names the tokens of a model."""
    with reading(content, where) as fields:
        return _read_written(fields, alphabet, None)


def _read_written(fields: Fields, alphabet: Alphabet | None, pattern: str | None) -> Task:
    match [key for key in ("prompts", "templates", "vocabulary") if fields.has(key)]:
        case ["vocabulary"]:
            return read_written_pattern(fields, pattern, alphabet)
        case ["prompts"] | ["templates"] if pattern is None:
            return read_written(fields, alphabet)
        case ["prompts"] | ["templates"]:
            raise UsageError(f"--pattern is given, but {fields.where} lists its prompts; leave one out")
        case forms:
            raise InputError(
                f"{fields.where} has {' and '.join(forms) or 'no prompts'}, want one of prompts, templates, "
                "or pattern with vocabulary"
            )
