"""What callers give: paths, words and times, made into what runs take."""

import os
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from math import inf
from pathlib import Path
from typing import Any, TypeAlias, TypeVar
from typing import cast as trust

from circuitproof.errors import InputError
from circuitproof.extras import missing
from circuitproof.files.reading import Fields
from circuitproof.proof.effort import UNHURRIED, Effort, Pace
from circuitproof.workers import Division, Serial, workers_of

PathLike: TypeAlias = str | os.PathLike[str]
Progress: TypeAlias = Callable[[str, int, int], None]
"""Is told what is counted, how many are done, and of how many."""
Choice = TypeVar("Choice", bound=StrEnum)
Given = TypeVar("Given")
_SHOWN = 60
"""A longer value is not shown in a sentence."""


def typed(name: str, given: object, kinds: type[Given] | tuple[type[Given], ...], wanted: str) -> Given:
    """Return what is given if it is of a type that is wanted, and say in a sentence what is wrong otherwise.

    >>> typed("most", 4, int, "a whole number")
    4
    """
    if not isinstance(given, kinds) or isinstance(given, bool):
        raise InputError(f"{name} is {_found(given)}, want {wanted}")
    return given


def path_of(name: str, given: object, wanted: str = "a path") -> Path:
    """Return the path that is given as a text or a path."""
    if not isinstance(given, str | os.PathLike):
        raise InputError(f"{name} is {_found(given)}, want {wanted}")
    return Path(os.fspath(trust("PathLike", given)))


def listed(name: str, given: object, wanted: str) -> Sequence[Any]:
    """Return the list that is given; a text is none."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InputError(f"{name} is {_found(given)}, want {wanted}")
    return given  # pyright: ignore[reportUnknownVariableType]  # its entries are read afterwards


def _found(given: object) -> str:
    """Return a short value with its type, or the type alone."""
    kind = "text" if isinstance(given, str) else type(given).__name__
    spelled = repr(given) if isinstance(given, str | int | float) else ""
    if given is None:
        return "None"
    return f"the {kind} {spelled}" if spelled and len(spelled) <= _SHOWN else f"of type {kind}"


def choice(name: str, given: str, choices: type[Choice]) -> Choice:
    """Return the member that a word means; a member is its own word."""
    return Fields({name: str(given)}, "the call").choice(name, choices)


def place_of(path: PathLike | None) -> Path | None:
    """Return where something is to be written, if it is."""
    return None if path is None else path_of("out", path)


def paced(deadline: float | None, progress: Progress | None) -> Pace:
    """Return the pace of work that has so many seconds from now, and that tells how far it has come."""
    if deadline is not None and not typed("deadline", deadline, (int, float), "a number of seconds") > 0:
        raise InputError(f"deadline is {deadline}, want a number of seconds above 0")
    if progress is not None and not callable(progress):
        raise InputError(f"progress is {_found(progress)}, want a function of what, done and total")
    end = inf if deadline is None else time.monotonic() + deadline
    return Pace(end, time.monotonic, progress or UNHURRIED.hear)


def workers_at(jobs: int, cluster: str | None) -> Division:
    """Return who does the work: this process, several of them, or a cluster."""
    count = typed("jobs", jobs, int, "a whole number")
    return workers_of(count, None if cluster is None else typed("cluster", cluster, str, "HOST:PORT"))


def divided(effort: Effort, jobs: int, cluster: str | None) -> Effort:
    """Return the effort with its work divided, where that is asked for."""
    asked = workers_at(jobs, cluster)
    return effort if isinstance(asked, Serial) else replace(effort, workers=asked)


@contextmanager
def needing_extras(what: str) -> Generator[None, None, None]:
    """Say in a sentence which extra brings a package that is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise InputError(missing(error.name or "", what)) from error
