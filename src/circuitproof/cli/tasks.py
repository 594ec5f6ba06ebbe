"""The command that says what a task asks, and writes its declaration."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from circuitproof.cli.options import AsJson, known_tasks
from circuitproof.cli.show import show_line, show_result
from circuitproof.files.replacing import OneFile

if TYPE_CHECKING:
    from circuitproof.verbs.declared import DeclaredTask


def task(
    name: Annotated[
        str,
        Argument(
            metavar="NAME|FILE", help="A task by name, or its file (.toml or .json).", callback=known_tasks
        ),
    ],
    model: Annotated[
        Path | None,
        Option("--model", help="The model that names the tokens, where the file leaves that to it."),
    ] = None,
    out: Annotated[
        Path | None,
        Option("--out", help="Write the declaration here, for circuitproof-check --task."),
        OneFile(),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what a task asks: prompts, candidates, answers, classes, and the digest that claims carry."""
    from circuitproof.verbs.declared import find_declared, write_declaration

    found = find_declared(name, model)
    if out is not None:
        write_declaration(found, out)
    show_result(found, lambda task: _show(task, out), as_json=as_json)


def _show(found: "DeclaredTask", out: Path | None) -> None:
    from circuitproof.reports.tasks import task_lines

    for line in task_lines(found):
        show_line(line)
    if out is not None:
        show_line(f"{out} holds the declaration")
