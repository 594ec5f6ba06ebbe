"""The command that starts the independent checker, in a process of its own."""

import subprocess
from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

from circuitproof.bundle.checker import checker_command
from circuitproof.cli.options import Against, AsJson, Operations
from circuitproof.cli.show import show_text
from circuitproof.errors import InputError


def check(  # noqa: PLR0913, PLR0917  # what a bundle can be compared with
    bundle: Annotated[Path, Argument(metavar="BUNDLE", help="A bundle directory.")],
    against: Against = None,
    base: Annotated[Path | None, Option("--base", help="The model directory that it was built on.")] = None,
    task: Annotated[
        Path | None, Option("--task", help="The declaration of its task, as JSON or TOML.")
    ] = None,
    operations: Operations = None,
    as_json: AsJson = False,
) -> None:
    """Let the independent checker judge a bundle: the same as circuitproof-check.

    It runs in a process of its own that imports nothing of the prover.
    """
    beside = {"--against": against, "--base": base, "--task": task, "--operations": operations}
    words = [f"{flag}={value}" for flag, value in beside.items() if value is not None]
    command = [*checker_command(), *words, *(["--json"] if as_json else []), "--", str(bundle)]
    ended = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)  # noqa: S603  # the checker
    if ended.returncode < 0:
        raise InputError(
            f"the checker was ended by signal {-ended.returncode} and gave no answer; run it again"
        )
    show_text(ended.stdout)
    raise Exit(ended.returncode)
