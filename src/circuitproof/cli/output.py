"""Standard output that cannot be written is a failure with a sentence, never an answer."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from circuitproof.errors import OutputError


class _Watched:
    """A stream that tells of what it cannot write in a way that no library takes for its own business."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with _telling():
            return self._stream.write(text)

    def flush(self) -> None:
        with _telling():
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # whatever else the stream can do
        return getattr(self._stream, name)


@contextmanager
def watched_output() -> Iterator[None]:
    """Watch standard output while a command runs, its last line too."""
    stream = sys.stdout
    sys.stdout = _Watched(stream)
    try:
        yield
        sys.stdout.flush()
    except OutputError:
        _discard(stream)
        raise
    finally:
        sys.stdout = stream


@contextmanager
def _telling() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(f"standard output cannot be written: {error.strerror}") from error


def _discard(stream: TextIO) -> None:
    """Let what is still to be written go nowhere, so that the end of the program does not fail once more."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
