"""What was found is told even where a file of it cannot be written."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, cast

import typer

from circuitproof.cli.show import show_json, show_note
from circuitproof.errors import ExitCode, UnwrittenError
from circuitproof.text.canonical import Json


class _Result(Protocol):
    def to_json(self) -> Json: ...


Found = TypeVar("Found", bound=_Result)


@dataclass(frozen=True, slots=True)
class Kept(Generic[Found]):
    """What a command found, and why a file of it could not be written, if it could not."""

    found: Found
    failure: str | None = None

    def show(self, show: Callable[[Found], None], *, as_json: bool) -> None:
        """Print what was found, as JSON or as `show` does; a file that is not there ends the command."""
        if as_json:
            show_json(self._to_json())
        else:
            show(self.found)
        if self.failure is not None:
            show_note(f"circuitproof: {self.failure}")
            raise typer.Exit(ExitCode.FAILURE)

    def _to_json(self) -> Json:
        told = self.found.to_json()
        if self.failure is None or not isinstance(told, dict):
            return told
        return {**told, "error": self.failure, "code": int(ExitCode.FAILURE)}


def kept(work: Callable[[], Found]) -> Kept[Found]:
    """Do some work and return what it found, whether or not all of its files could be written."""
    try:
        return Kept(work())
    except UnwrittenError as error:
        return Kept(cast("Found", error.found), str(error))
