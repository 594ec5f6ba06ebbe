"""One process at a time: locks that end with their process, so that a kill leaves nothing in the way."""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from circuitproof.errors import InputError
from circuitproof.files.canonical import digest_bytes, nearest_folder, refuse_existing

_LONGEST, _LONGEST_PATH = 255, 4000
"""The bytes of a file's name that usual disks take, and of a path, with room for the files beneath it."""


@contextmanager
def claimed(path: Path | None) -> Generator[None, None, None]:
    """Hold the place of a command's output while it works: what is there, or is being made, is refused.

    The lock stands in the nearest folder that is there, and is taken away at the end.
    """
    refuse_existing(path)
    if path is None:
        yield
        return
    _refuse_long(path)
    folder = nearest_folder(path)
    name = ".".join(path.absolute().relative_to(folder).parts)
    kept = name if len(os.fsencode(name)) <= _LONGEST // 2 else str(digest_bytes(os.fsencode(name)))
    lock = folder / f".{kept}.lock"
    with locked(lock, f"{path} is being written by another command; wait for it or choose another place"):
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def _refuse_long(path: Path) -> None:
    """Refuse a path that no disk takes before the work, not after it."""
    whole = os.fsencode(path.absolute())
    if max(map(len, whole.split(b"/"))) > _LONGEST or len(whole) > _LONGEST_PATH:
        raise InputError(
            f"{path}: File name too long; names have at most {_LONGEST} bytes, paths {_LONGEST_PATH}"
        )


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
