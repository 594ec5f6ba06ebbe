"""The rule for whatever a command writes: nothing that is there is replaced unless that is asked for.

Even then only a whole product of the same kind is: a file by a file, a bundle by a bundle. Nothing is ever
written into a sealed folder.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TypeAlias, assert_never

from circuitproof.errors import InputError
from circuitproof.files.canonical import refuse_existing, refuse_sealed, refuse_unwritable
from circuitproof.files.sealed import MANIFEST, read_manifest


@dataclass(frozen=True, slots=True)
class OneFile:
    """A file, and those that the same command writes beside it, by their endings."""

    beside: tuple[str, ...] = ()

    def places(self, place: Path) -> tuple[Path, ...]:
        return (place, *(place.with_suffix(ending) for ending in self.beside if place.name))


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of files whose names fit one of some patterns."""

    what: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sealed:
    """A sealed folder, told from others by a file that its manifest lists."""

    what: str
    mark: str


@dataclass(frozen=True, slots=True)
class Continued:
    """A run's folder or a ledger, in which the command itself goes on: it refuses what it did not begin."""


Product: TypeAlias = OneFile | Folder | Sealed | Continued
"""What a command writes to the place that it is given."""


@contextmanager
def replacing(place: Path, product: Product, *, is_forced: bool) -> Generator[None, None, None]:
    """Refuse what is there; with force lay it aside during the work, and drop it once there is a new one.

    Where the work ends without one, the old is put back. A kill leaves it in a hidden folder beside.
    """
    if isinstance(product, Continued):
        refuse_sealed(place)
        if place.is_symlink() and not place.exists():
            raise InputError(f"{place} is a link that leads nowhere; remove it or choose another place")
        yield
        return
    places = product.places(place) if isinstance(product, OneFile) else (place,)
    old = [one for one in places if os.path.lexists(one)]
    if old and not is_forced:
        raise InputError(f"{old[0]} already exists; give --force to replace it, or choose another place")
    for one in old:
        _refuse_other(one, product)
    refuse_unwritable(place)
    if not old:
        refuse_existing(*places)  # where only a link leads
        yield
        return
    with _laid_aside(old, places):
        yield


def _refuse_other(place: Path, product: OneFile | Folder | Sealed) -> None:
    """Refuse to replace what is no such product, or holds more than one."""
    if place.is_symlink() or not (place.is_dir() or place.is_file()):
        raise InputError(f"{place} is neither a file nor a folder; remove it or choose another place")
    match product:
        case OneFile():
            is_same, what = place.is_file(), "file"
        case Folder(what, patterns):
            is_same = place.is_dir() and _holds_only(place, lambda name: _fits(name, patterns))
        case Sealed(what, mark):
            listed = {*read_manifest(place), MANIFEST} if (place / MANIFEST).is_file() else set[str]()
            is_same = mark in listed and _holds_only(place, listed.__contains__)
        case _:
            assert_never(product)
    if not is_same:
        raise InputError(
            f"{place} is no {what}, or holds more than one does, and is not replaced even with --force; "
            "remove it or choose another place"
        )


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return name != MANIFEST and any(fnmatch(name, pattern) for pattern in patterns)


def _holds_only(folder: Path, is_ours: Callable[[str], bool]) -> bool:
    return all(one.is_file() and not one.is_symlink() and is_ours(one.name) for one in folder.iterdir())


@contextmanager
def _laid_aside(old: Sequence[Path], new: Sequence[Path]) -> Generator[None, None, None]:
    """Keep what is old in a hidden folder, and put it back unless something new has come to its place."""
    aside = Path(tempfile.mkdtemp(dir=old[0].parent, prefix=f".{old[0].name}.before."))
    try:
        for one in old:
            one.rename(aside / one.name)
    except OSError:
        _put_back(aside)
        raise
    try:
        yield
    finally:
        if any(map(os.path.lexists, new)):
            shutil.rmtree(aside, ignore_errors=True)
        else:
            _put_back(aside)


def _put_back(aside: Path) -> None:
    for one in list(aside.iterdir()):
        one.rename(aside.parent / one.name)
    aside.rmdir()
