"""The commands of `circuitproof`: a table of names, of which only the one that runs is imported."""

import signal
import traceback
from types import FrameType
from typing import Annotated, NoReturn

import typer

from circuitproof import __version__
from circuitproof.cli.lazy import COMMANDS, LazyGroup, unloaded
from circuitproof.errors import CircuitproofError, ExitCode, InvalidError

app = typer.Typer(
    cls=LazyGroup,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Turn an explanation of a transformer circuit into a claim that can be proved or refuted.",
    epilog="Exit codes: 0 proved, valid or done; 1 refuted; 2 wrong usage; 3 bad input or failure; "
    "4 undecided or incomplete; 5 invalid.",
)


def main() -> None:
    """Run the command line; what a user can mend is one sentence on standard error and an exit code."""
    signal.signal(signal.SIGINT, _interrupt)
    try:
        app()
    except InvalidError as error:
        _fail(f"invalid: {error}", ExitCode.INVALID)
    except CircuitproofError as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}")
    except Exception:  # noqa: BLE001  # a crash is a failure, exit code 3, and must not look like a refutation
        traceback.print_exc()
        _fail("this is a mistake in circuitproof, not an answer; please report it with the lines above")


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    """Stop with our own exit code: typer has another one, which is not documented here."""
    _fail("interrupted; training goes on from the last checkpoint when the same command is run again")


def _fail(sentence: str, code: ExitCode = ExitCode.FAILURE) -> NoReturn:
    from circuitproof.cli.show import show_note

    show_note(f"circuitproof: {sentence}")
    raise SystemExit(code)


def _version(asked: bool) -> None:  # noqa: FBT001  # typer's callback signature
    if asked:
        typer.echo(f"circuitproof {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[  # the callback has done the work
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass


for _name in COMMANDS:
    app.command(_name)(unloaded)


if __name__ == "__main__":
    main()
