"""One run: a folder that belongs to one recipe, made in stages of which none is ever repeated."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, TypeVar

from circuitproof.errors import InputError
from circuitproof.text.canonical import Digest, readable_json, write_file
from circuitproof.text.codec import Codec, record_to_json
from circuitproof.text.reading import read_json, reading

Made = TypeVar("Made")
Tell: TypeAlias = Callable[[str], None]
"""Who is told which stage begins."""

_MARK = "run.json"


@dataclass(frozen=True, slots=True)
class _Mark:
    """Which recipe began a run, by name and by the digest of all that the run depends on."""

    recipe: str
    recipe_digest: Digest


def silent(_: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Run:
    """A folder of a run, and whom it tells what it does."""

    folder: Path
    tell: Tell = silent

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


def begin_run(folder: Path, name: str, digest: Digest, tell: Tell = silent) -> Run:
    """Mark a new folder with a recipe's name and digest, or go on in one that the same recipe began."""
    mark = folder / _MARK
    if not mark.exists():
        _refuse_occupied(folder)
        write_record(mark, _Mark(name, digest))
    begun = read_record(mark, _Mark)
    if begun.recipe_digest != digest:
        raise InputError(
            f"{folder} was begun with recipe {begun.recipe!r} of another content; "
            "remove it or choose another place"
        )
    return Run(folder, tell)


def write_record(path: Path, record: object) -> None:
    """Write a dataclass as JSON for people and `read_record`."""
    write_file(path, readable_json(record_to_json(record)))


def read_record(path: Path, kind: type[Made]) -> Made:
    """Read a dataclass that `write_record` wrote."""
    with reading(read_json(path), str(path)) as fields:
        return Codec().record(kind, fields)


def _refuse_occupied(folder: Path) -> None:
    """Refuse a place where no run may begin; a kill can have left the mark's temporary file there."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file, want a folder; choose another place")
    if folder.exists() and not all(path.name.startswith(f".{_MARK}.") for path in folder.iterdir()):
        raise InputError(f"{folder} is not empty and no run of ours; choose another place")
