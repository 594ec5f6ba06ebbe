"""The independent checker judges a bundle in a process of its own."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from circuitproof.api.arguments import PathLike, path_of
from circuitproof.api.declaring import AnyModel, Model
from circuitproof.api.showing import show_as
from circuitproof.errors import InputError
from circuitproof.files.codec import Codec
from circuitproof.files.reading import Fields, parse_json
from circuitproof.proof.verdict import Verdict
from circuitproof.reports.elements import el
from circuitproof.reports.said import Said
from circuitproof.tasks.task import Task
from circuitproof.verbs.checker import declared, run_checker
from circuitproof.verbs.minimality import Minimality
from circuitproof.verbs.verification import Verification

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


@dataclass(frozen=True, slots=True)
class Checked:
    """The checker's answer: the outcome, its sentence, and each property that it judged."""

    outcome: Outcome
    reason: str
    properties: tuple[CheckedProperty, ...]


def _said(checked: Checked) -> Iterator[Said]:
    sentence = el("p", el("strong", f"{checked.outcome}: "), checked.reason)
    yield el("div", sentence, class_=f"judgement {checked.outcome}", role="status")


show_as(Checked, _said)


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
        return _read(run_checker([str(bundle_path(bundle).absolute()), *words, *limit, "--json"], deadline))


def bundle_path(bundle: AnyBundle) -> Path:
    """Return the directory of a bundle, by its path or by the answers that are in it."""
    if isinstance(bundle, Verification | Minimality):
        if bundle.bundle is None:
            raise InputError("the answers were not written; give out=, a place for their bundle, to the call")
        return bundle.bundle
    return path_of("bundle", bundle, "a bundle's directory, or answers that were written to one")


def _directory(model: AnyModel | None) -> Path | None:
    if model is None:
        return None
    return (model.path if isinstance(model, Model) else path_of("model", model)).absolute()


@contextmanager
def _declared(task: Task | PathLike | None) -> Generator[Path | None, None, None]:
    """Give the declaration of a task as a file."""
    if not isinstance(task, Task):
        yield None if task is None else path_of("task", task, "a task or its declaration").absolute()
        return
    with declared(task) as file:
        yield file


def _read(said: str) -> Checked:
    fields = Fields(parse_json(said.encode(), "the checker's answer"), "the checker's answer")
    reason = fields.text("reason")
    if fields.text("outcome") not in list(Outcome):
        raise InputError(reason)
    listed = fields.fields("claim").items("properties") if fields.has("claim") else ()
    found = tuple(Codec().record(CheckedProperty, Fields(one, fields.where)) for one in listed)
    return Checked(fields.choice("outcome", Outcome), reason, found)
