"""The commands of `circuitproof`: a table of names, of which only the one that runs is imported."""

import gc
import os
import re
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Annotated, NoReturn

import typer

from circuitproof.cli.helping import HELP
from circuitproof.cli.lazy import LazyGroup
from circuitproof.cli.output import INTERRUPTS, kept_exit_code, watched_output
from circuitproof.cli.table import commands, entry_of
from circuitproof.errors import CircuitproofError, ExitCode, InvalidError, OverdueError, UsageError
from circuitproof.extras import missing
from circuitproof.files.printing import printable
from circuitproof.version import __version__

app = typer.Typer(
    cls=LazyGroup,
    context_settings=HELP,
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Turn an explanation of a transformer circuit into a claim that can be proved or refuted.",
    epilog="Exit codes: 0 proved, valid or done; 1 refuted; 2 wrong usage; 3 bad input or failure; "
    "4 undecided or incomplete; 5 invalid.",
)

_FIRST = """\
circuitproof turns an explanation of a transformer circuit into a claim, and the claim into a proof that
anyone can check or a counterexample that anyone can replay. To begin:

  circuitproof train recipes/toy-band.toml --out run
  circuitproof extract --model run/model --task quotes --out quotes.json
  circuitproof verify --model run/model --task quotes --circuit quotes.json --epsilon 1/1000 --out bundle
  circuitproof-check bundle --against run/model

circuitproof --help lists all commands, circuitproof COMMAND --help what one of them takes."""


WAITING = {"OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": "1000", "OPENBLAS_THREAD_TIMEOUT": "18"}
"""How torch's and numpy's threads wait for each other: torch's look a thousand times and then sleep, numpy's
do so for 2 to the 18 ticks.

By default they look for milliseconds, and of several trainings on the same cores each then keeps the others
from what it waits for: `benchmarks/waiting.py` measures it. In a short proof, numpy's would look most of it.
"""
_ENDLESS = re.compile(r"\S{300,}(?<![:;,.])")


_ALLOCATED = 100_000
"""After so many new objects Python looks for cycles: evidence has millions of objects, and none."""


class _Interruption(BaseException):
    """An interrupt: no error of the work that goes on, and told once its progress bars are gone."""


@kept_exit_code()
def main() -> None:
    """Run the command line; what a user can mend is one sentence on standard error and an exit code."""
    for name, value in WAITING.items():
        os.environ.setdefault(name, value)
    gc.set_threshold(_ALLOCATED)
    try:
        with _interruptible(), watched_output():
            _run()
    except _Interruption:
        _fail(f"interrupted; {_kept()}")
    except CircuitproofError as error:
        _fail(f"{'invalid: ' * isinstance(error, InvalidError)}{error}", _code(error))
    except OSError as error:
        _fail(f"{error.filename or 'input or output'}: {error.strerror or error}")
    except ModuleNotFoundError as error:
        _fail(missing(error.name or "", _asked()))
    except MemoryError:
        _fail("there is not enough memory for this; ask for less, or use a larger machine")
    except Exception:  # noqa: BLE001  # a crash is a failure, exit code 3, and must not look like a refutation
        traceback.print_exc()
        _fail("this is a mistake in circuitproof, not an answer; please report it with the lines above")


def _run() -> None:
    """Run the command and write all of its output before the exit code is told."""
    try:
        app()
    except SystemExit:
        sys.stdout.flush()
        raise


def _code(error: CircuitproofError) -> ExitCode:
    match error:
        case InvalidError():
            return ExitCode.INVALID
        case UsageError():
            return ExitCode.USAGE
        case OverdueError():
            return ExitCode.UNDECIDED
        case _:
            return ExitCode.FAILURE


def _asked() -> str:
    """Return the command that was asked for, if any."""
    return next((one for one in sys.argv[1:] if one in commands()), "")


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let an interrupt end a command with our own exit code; once its answer is told, none changes that."""
    for number in INTERRUPTS:
        signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number in INTERRUPTS:
            signal.signal(number, signal.SIG_IGN)


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    raise _Interruption


def _kept() -> str:
    entry = entry_of(_asked())
    is_run = entry is not None and entry.resumes
    return "run the same command again to go on" if is_run else "what is written is whole, the rest is lost"


def _fail(sentence: str, code: ExitCode = ExitCode.FAILURE) -> NoReturn:
    from circuitproof.cli.show import INDENTED, show_json, show_note

    sentence = _cut(printable(sentence, keeps=INDENTED))
    if "--json" in sys.argv:
        with suppress(OSError):
            show_json({"error": sentence, "code": int(code)})
    with suppress(OSError):
        show_note(f"circuitproof: {sentence}")
    raise SystemExit(code)


def _cut(sentence: str) -> str:
    """Return a sentence in which no word is too long."""
    return _ENDLESS.sub(lambda found: f"{found[0][:60]}… ({len(found[0])} characters)", sentence)


def _version(asked: bool) -> None:  # noqa: FBT001  # typer's callback signature
    if asked:
        typer.echo(f"circuitproof {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001  # its callback has done the work
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(_FIRST)


if __name__ == "__main__":
    main()
