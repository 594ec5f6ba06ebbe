"""The ways work can fail, one class per decision a caller can take, and the exit codes of every command."""

from collections.abc import Generator
from contextlib import contextmanager
from enum import IntEnum


class ExitCode(IntEnum):
    """What a command's exit code says; the same everywhere."""

    GOOD = 0
    """Proved, valid, or simply done."""
    REFUTED = 1
    """Refuted: the answer is no."""
    USAGE = 2
    """The command line is wrong."""
    FAILURE = 3
    """The input is bad or the work failed; nothing was decided."""
    UNDECIDED = 4
    """Undecided or incomplete: there is no answer yet."""
    INVALID = 5
    """Invalid: a bundle, ledger or certificate does not hold."""


class CircuitproofError(Exception):
    """Something a user can mend; its text is one sentence that says how."""


class DeclarationError(CircuitproofError):
    """A task, domain, architecture or circuit contradicts itself: mend the declaration."""


class InputError(CircuitproofError):
    """A file or value from outside cannot be used: mend or replace it."""


class UsageError(InputError):
    """What is asked for contradicts itself or is misspelt: mend the options or arguments."""


class InvalidError(InputError):
    """Something written before does not hold, a ledger or a certificate: do not rely on it."""


class OutputError(CircuitproofError):
    """What was found cannot be told, because a pipe was closed or a disk is full: tell it elsewhere."""


class UnwrittenError(OutputError):
    """All is done and `found` is what was found, but no file can be written of it: write it elsewhere."""

    def __init__(self, sentence: str, found: object) -> None:
        super().__init__(sentence)
        self.found = found


class OverdueError(CircuitproofError):
    """The work was ended before there was anything to tell: give more time."""


class LostWorkerError(CircuitproofError):
    """A process or a machine was lost with its part of the work: ask again, with fewer of them."""


class NumericError(CircuitproofError):
    """A computation met a number that is not one (NaN or infinite): mend the weights or the training."""


class NotExactError(CircuitproofError):
    """The operator has no exact value in this arithmetic: remove it from the model or claim less."""


@contextmanager
def keeping(found: object) -> Generator[None, None, None]:
    """Let a file that cannot be written not cost what was found."""
    try:
        yield
    except CircuitproofError as error:
        raise UnwrittenError(str(error), found) from error


@contextmanager
def asked_for() -> Generator[None, None, None]:
    """Let what cannot be used be a mistake of who asks: it stands in the call, and not in a file."""
    try:
        yield
    except (InputError, DeclarationError) as error:
        raise UsageError(str(error)) from error
