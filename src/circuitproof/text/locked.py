"""One process at a time: locks that end with their process, so that a kill leaves nothing in the way."""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from circuitproof.errors import InputError
from circuitproof.text.canonical import nearest_folder, refuse_existing


@contextmanager
def claimed(path: Path | None) -> Generator[None, None, None]:
    """Hold the place of a command's output while it works: what is there, or is being made, is refused.

    The lock stands in the nearest folder that is there, and is taken away at the end.
    """
    refuse_existing(path)
    if path is None:
        yield
        return
    folder = nearest_folder(path)
    name = ".".join(path.absolute().relative_to(folder).parts)
    lock = folder / f".{name}.lock"
    with locked(lock, f"{path} is being written by another command; wait for it or choose another place"):
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


@contextmanager
def locked(lock: Path, refusal: str | None = None) -> Generator[None, None, None]:
    """Hold a lock file; where another process holds it refuse with a sentence, or without one wait."""
    with lock.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX if refusal is None else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InputError(refusal) from error
        if refusal is not None and not _is_at(file.fileno(), lock):
            raise InputError(refusal)  # who held it has just taken it away: a third may hold a new one
        yield


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
