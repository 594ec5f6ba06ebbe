"""Asking the stranger: the independent checker judges a bundle in a process of its own.

It is run with Python's isolated mode and without any installed package, so nothing of this process, its
folder or its environment has a part in the answer.
"""

import subprocess
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from circuitproof.api.arguments import PathLike
from circuitproof.api.declaring import AnyModel, Model
from circuitproof.bundle.checker import checker_command
from circuitproof.declare.tasks.task import Task
from circuitproof.errors import InputError, OverdueError
from circuitproof.lab.runs.minimality import Minimality
from circuitproof.lab.runs.verification import Verification
from circuitproof.prove.verdict import Verdict
from circuitproof.text.canonical import readable_json
from circuitproof.text.codec import Codec
from circuitproof.text.reading import Fields, parse_json
from circuitproof.view.elements import el
from circuitproof.view.telling import Said, Told

AnyBundle: TypeAlias = PathLike | Verification | Minimality
"""A bundle's directory, or answers that were written to one."""


class Outcome(StrEnum):
    """What the checker says of a bundle."""

    VALID = "valid"
    """Every property is proved, and the evidence holds."""
    REFUTED = "refuted"
    """A property is refuted, and the refutation holds."""
    INCOMPLETE = "incomplete"
    """Nothing is broken, but not every property is decided."""
    INVALID = "invalid"
    """It does not hold: do not rely on anything in it."""


@dataclass(frozen=True, slots=True)
class CheckedProperty:
    """A property and the verdict on it, as the checker read them."""

    kind: str
    verdict: Verdict
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Checked(Told):
    """The checker's answer: the outcome, its sentence, and each property that it judged."""

    outcome: Outcome
    reason: str
    properties: tuple[CheckedProperty, ...]

    def told(self) -> Iterator[Said]:
        sentence = el("p", el("strong", f"{self.outcome}: "), self.reason)
        yield el("div", sentence, class_=f"judgement {self.outcome}", role="status")


def check(  # noqa: PLR0913  # what a bundle can be compared with
    bundle: AnyBundle,
    *,
    against: AnyModel | None = None,
    base: AnyModel | None = None,
    task: Task | PathLike | None = None,
    operations: int | None = None,
    deadline: float | None = None,
) -> Checked:
    """Let the independent checker judge a bundle, compared with a model, a base and a task if they are given.

    A bundle that does not hold is an answer, `Outcome.INVALID`; what cannot be judged is an `InputError`.
    """
    with _declared(task) as file:
        beside = {"--against": _directory(against), "--base": _directory(base), "--task": file}
        words = [word for flag, path in beside.items() if path is not None for word in (flag, str(path))]
        limit = [] if operations is None else ["--operations", str(operations)]
        return _read(_run([str(bundle_path(bundle).absolute()), *words, *limit, "--json"], deadline))


def bundle_path(bundle: AnyBundle) -> Path:
    """Return the directory of a bundle, by its path or by the answers that are in it."""
    if isinstance(bundle, Verification | Minimality):
        if bundle.bundle is None:
            raise InputError("the answers were not written; give out=, a place for their bundle, to the call")
        return bundle.bundle
    return Path(bundle)


def _directory(model: AnyModel | None) -> Path | None:
    if model is None:
        return None
    return (model.path if isinstance(model, Model) else Path(model)).absolute()


@contextmanager
def _declared(task: Task | PathLike | None) -> Generator[Path | None, None, None]:
    """Give the declaration of a task as a file."""
    if not isinstance(task, Task):
        yield None if task is None else Path(task).absolute()
        return
    with TemporaryDirectory(prefix="circuitproof-") as folder:
        file = Path(folder) / "task.json"
        file.write_bytes(readable_json(task.to_json()))
        yield file


def _run(words: Sequence[str], deadline: float | None) -> str:
    command = [*checker_command(), *words]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=deadline)  # noqa: S603  # the checker
    except subprocess.TimeoutExpired as error:
        raise OverdueError(f"the checker was not done after {deadline} seconds; give it more time") from error
    if not ended.stdout:
        raise InputError(f"the checker gave no answer: {ended.stderr.strip() or f'exit {ended.returncode}'}")
    return ended.stdout


def _read(said: str) -> Checked:
    fields = Fields(parse_json(said.encode(), "the checker's answer"), "the checker's answer")
    reason = fields.text("reason")
    if fields.text("outcome") not in list(Outcome):
        raise InputError(reason)
    listed = fields.fields("claim").items("properties") if fields.has("claim") else ()
    found = tuple(Codec().record(CheckedProperty, Fields(one, fields.where)) for one in listed)
    return Checked(fields.choice("outcome", Outcome), reason, found)
