"""Runs made of stages: a folder belongs to one recipe, and a finished stage is never repeated."""

from collections.abc import Callable
from pathlib import Path

from circuitproof.errors import InputError
from circuitproof.text.canonical import Digest, readable_json, write_file
from circuitproof.text.reading import read_json, reading

_RUN = "run.json"


def claim_folder(out: Path, name: str, digest: Digest) -> None:
    """Mark a new run folder with a recipe's digest, or refuse one that another recipe began."""
    mark = out / _RUN
    if not mark.exists():
        if out.exists() and not out.is_dir():
            raise InputError(f"{out} is a file, want a folder; choose another place")
        if not _is_free(out):
            raise InputError(f"{out} is not empty and no run of ours; choose another place")
        write_file(mark, readable_json({"recipe": name, "recipe_digest": str(digest)}))
    with reading(read_json(mark), str(mark)) as fields:
        begun, found = fields.text("recipe"), fields.text("recipe_digest")
    if found != str(digest):
        raise InputError(
            f"{out} was begun with recipe {begun!r} of another content; remove it or choose another place"
        )


def run_stage(result: Path, make: Callable[[Path], None]) -> Path:
    """Make `result` unless it is there already, and return it.

    `make` must write it whole or not at all (`write_file`, `write_directory`, `write_sealed`): what a kill
    interrupts is then made again from its beginning, and what is there is finished.
    """
    if not result.exists():
        make(result)
    return result


def _is_free(out: Path) -> bool:
    """Say whether a run may begin at `out`; a kill can have left the mark's temporary file there."""
    return not out.exists() or all(path.name.startswith(f".{_RUN}.") for path in out.iterdir())
