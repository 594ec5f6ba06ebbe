"""Standard output that cannot be written is a failure with a sentence, never an answer."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EBADF
from io import StringIO
from typing import Any, TextIO

from circuitproof.errors import ExitCode, OutputError

INTERRUPTS = (signal.SIGINT, signal.SIGTERM)
"""The signals that end work with what is known so far: of a person at a terminal, and of a scheduler."""


class _ClosedOutput(StringIO):
    """What stands for a standard output that was closed before the program began."""

    def write(self, text: str, /) -> int:  # noqa: ARG002  # nothing is written
        raise OSError(EBADF, "it is closed")


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
    sys.stdout = _Watched(_ClosedOutput() if stream is None else stream)
    try:
        yield
        sys.stdout.flush()
    finally:
        sys.stdout = stream


@contextmanager
def kept_exit_code() -> Iterator[None]:
    """Let what a stream cannot write at the end of the program go nowhere: Python would exit with 120."""
    try:
        yield
    finally:
        for stream in (one for one in (sys.stdout, sys.stderr) if one is not None):
            try:
                stream.flush()
            except (OSError, ValueError):
                _discard(stream)


@contextmanager
def _telling() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise SystemExit(ExitCode.FAILURE) from error  # as after `| head`: nobody reads on, nothing is amiss
    except OSError as error:
        raise OutputError(f"standard output cannot be written: {error.strerror}") from error


def _discard(stream: TextIO) -> None:
    """Let what is still to be written go nowhere, so that the end of the program does not fail once more."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
