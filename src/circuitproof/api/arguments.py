"""What callers give: paths, words and times, made into what runs take."""

import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from enum import StrEnum
from math import inf
from pathlib import Path
from typing import TypeAlias, TypeVar

from circuitproof.errors import InputError
from circuitproof.extras import missing
from circuitproof.prove.effort import UNHURRIED, Pace
from circuitproof.text.reading import Fields

PathLike: TypeAlias = str | os.PathLike[str]
Progress: TypeAlias = Callable[[str, int, int], None]
"""Is told what is counted, how many are done, and of how many."""
Choice = TypeVar("Choice", bound=StrEnum)


def choice(name: str, given: str, choices: type[Choice]) -> Choice:
    """Return the member that a word means; a member is its own word."""
    return Fields({name: str(given)}, "the call").choice(name, choices)


def place_of(path: PathLike | None) -> Path | None:
    """Return where something is to be written, if it is."""
    return None if path is None else Path(path)


def paced(deadline: float | None, progress: Progress | None) -> Pace:
    """Return the pace of work that has so many seconds from now, and that tells how far it has come."""
    if deadline is not None and not deadline > 0:
        raise InputError(f"deadline is {deadline}, want a number of seconds above 0")
    end = inf if deadline is None else time.monotonic() + deadline
    return Pace(end, time.monotonic, progress or UNHURRIED.hear)


@contextmanager
def needing_extras(what: str) -> Generator[None, None, None]:
    """Say in a sentence which extra brings a package that is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise InputError(missing(error.name or "", what)) from error
