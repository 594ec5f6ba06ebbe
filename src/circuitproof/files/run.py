"""One run: a folder that belongs to one recipe, made in stages of which none is ever repeated."""

import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, TypeVar

from circuitproof.errors import CircuitproofError, InputError
from circuitproof.files.canonical import Digest, nearest_folder, refuse_file, refuse_unwritable
from circuitproof.files.devices import CPU, Device, kind_of
from circuitproof.files.locked import locked
from circuitproof.files.records import read_record, write_record

Made = TypeVar("Made")
Tell: TypeAlias = Callable[[str], None]
"""Who is told which stage begins."""

MARK = "run.json"
_LOCK = f".{MARK}.lock"


@dataclass(frozen=True, slots=True)
class Mark:
    """Which recipe began a run, by name and by the digest of all that the run depends on, and where."""

    recipe: str
    recipe_digest: Digest
    device: str = CPU
    """The kind of device, such as `cuda`; kinds round otherwise, so that a run goes on where it was begun."""


def silent(_: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Run:
    """A folder of a run, whom it tells what it does, and where its stages compute with torch."""

    folder: Path
    tell: Tell = silent
    device: Device = CPU

    def within(self, *names: str) -> "Run":
        """Return the part of the run that has a folder of its own."""
        return replace(self, folder=self.folder.joinpath(*names))

    def stage(self, name: str, make: Callable[[Path], object], telling: str | None = None) -> Path:
        """Make what stands under a name unless it is there already, and return where it is.

        `make` must write it whole or not at all (`write_file`, `write_directory`, `write_sealed`): what a
        kill interrupts is then made again from its beginning, and what is there is finished.
        """
        place = self.folder / name
        if not place.exists():
            if telling is not None:
                self.tell(telling)
            make(place)
        return place

    def record(
        self, name: str, kind: type[Made], make: Callable[[], Made], telling: str | None = None
    ) -> Made:
        """Return a dataclass that is computed once and kept as JSON: it is what the file says."""
        place = self.stage(name, lambda path: write_record(path, make()), telling)
        return read_record(place, kind)


@contextmanager
def begin_run(  # noqa: PLR0913, PLR0917  # what a run is, and what its stages work with
    folder: Path, name: str, digest: Digest, size: int, tell: Tell = silent, device: Device = CPU
) -> Generator[Run, None, None]:
    """Mark a new folder with a recipe's name and digest, or go on in one that the same recipe began.

    `size` is what the whole run writes, in bytes. While it goes on, no other process can go on in its folder;
    where it is refused before anything was made, the folder is free again.
    """
    mark = folder / MARK
    _refuse_occupied(folder)
    refuse_unwritable(mark)
    if not mark.exists():
        _refuse_full_disk(folder, size)
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / _LOCK, f"another run goes on in {folder}; wait for it or choose another place"):
        if not mark.exists():
            write_record(mark, Mark(name, digest, kind_of(device)))
        _refuse_full_disk(folder, size - sum(file.lstat().st_size for file in folder.rglob("*")))
        begun = read_record(mark, Mark)
        if begun.recipe_digest != digest:
            raise InputError(
                f"{folder} was begun with recipe {begun.recipe!r} of another content; "
                "remove it or choose another place"
            )
        if begun.device != kind_of(device):
            raise InputError(
                f"{folder} was begun with --device {begun.device}, and {kind_of(device)} rounds otherwise; "
                f"go on with --device {begun.device} or choose another place"
            )
        try:
            yield Run(folder, tell, device)
        except CircuitproofError:
            _leave(folder)
            raise


def _refuse_occupied(folder: Path) -> None:
    """Refuse a place where no run may begin; a kill can have left there what comes before the mark."""
    refuse_file(folder)
    names = [path.name for path in folder.iterdir()] if folder.exists() else []
    if MARK not in names and not all(name.startswith(f".{MARK}.") for name in names):
        raise InputError(f"{folder} is not empty and no run of ours; choose another place")


def _leave(folder: Path) -> None:
    """Take the claim of a folder back in which nothing was made: a refused run is in nobody's way."""
    if {path.name for path in folder.iterdir()} <= {MARK, _LOCK}:
        shutil.rmtree(folder)


def _refuse_full_disk(folder: Path, size: int) -> None:
    """Refuse a run that its disk has no room for."""
    free = shutil.disk_usage(nearest_folder(folder / MARK)).free
    if size > free:
        raise InputError(
            f"{folder} would grow by about {size / 1e6:,.0f} MB, but {free / 1e6:,.0f} MB are free; "
            "make room or choose another place"
        )
