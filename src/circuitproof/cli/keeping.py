"""What was found is told even where a file of it cannot be written."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

from typer import Exit

from circuitproof.cli.pacing import paced
from circuitproof.cli.show import show_json, show_note
from circuitproof.errors import ExitCode, UnwrittenError
from circuitproof.files.canonical import Json
from circuitproof.files.codec import to_json
from circuitproof.files.locked import claimed
from circuitproof.proof.effort import Pace

Found = TypeVar("Found")


def show_kept(
    work: Callable[[Pace], Found],
    show: Callable[[Found], None],
    out: Path | None,
    deadline: float | None,
    *,
    as_json: bool,
) -> Found:
    """Do work that writes to `out`, print what it found, as JSON or as `show` does, and return that.

    A file that cannot be written costs no answer: why it is not there is told after it and ends the command.
    """
    failure: dict[str, Json] = {}
    with claimed(out), paced(deadline, as_json=as_json) as pace:
        try:
            found = work(pace)
        except UnwrittenError as error:
            found = cast("Found", error.found)
            failure = {"error": str(error), "code": int(ExitCode.FAILURE)}
    if as_json:
        show_json({**cast("dict[str, Json]", to_json(found)), **failure} if failure else found)
    else:
        show(found)
    if failure:
        show_note(f"circuitproof: {failure['error']}")
        raise Exit(ExitCode.FAILURE)
    return found
