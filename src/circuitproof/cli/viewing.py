"""Commands that show what bundles and runs say: as a page, as text, for a single prompt."""

from os.path import realpath
from pathlib import Path
from typing import Annotated, cast

from typer import Argument, Context, Exit, Option

from circuitproof.cli.options import Against, AsJson, Deadline, Operations
from circuitproof.cli.pacing import paced
from circuitproof.cli.show import show_json, show_line, show_result, show_said, show_text
from circuitproof.files.replacing import OneFile

ShownPath = Annotated[Path, Argument(metavar="PATH", help="A bundle directory or a run folder.")]
TaskFile = Annotated[Path | None, Option("--task", help="The declaration of its task, as JSON.")]


def _beside(context: Context, out: Path | None) -> Path:
    """Return where a page is written: as asked, or beside what it is about."""
    return out or Path(f"{realpath(context.params['path'])}.html")


def report(  # noqa: PLR0913, PLR0917  # what is shown, where, and what it is compared with
    path: ShownPath,
    out: Annotated[
        Path | None,
        Option("--out", help="Where the page is written. [default: PATH.html]", callback=_beside),
        OneFile(),
    ] = None,
    against: Against = None,
    task: TaskFile = None,
    operations: Operations = None,
    as_json: AsJson = False,
) -> None:
    """Write one HTML page about a bundle or a run, which opens from disk and loads nothing."""
    from circuitproof.files.canonical import write_file
    from circuitproof.reports.reporting import look_at
    from circuitproof_check.main import Beside

    place = cast("Path", out)  # _beside has chosen one
    shown = look_at(path, Beside(against, task=task, operations=operations))
    write_file(place, shown.page().encode())
    if as_json:
        show_json({"page": place, "says": shown.says})
    else:
        if shown.table is not None:
            show_said(shown.table)
        show_line(f"{place} holds the page of {path}: {shown.says}")
    raise Exit(shown.outcome)


def show(
    path: ShownPath,
    against: Against = None,
    task: TaskFile = None,
    operations: Operations = None,
    as_json: AsJson = False,
) -> None:
    """Print what the page of a bundle or a run says, in 80 columns."""
    from circuitproof.reports.reporting import look_at
    from circuitproof_check.main import Beside

    shown = look_at(path, Beside(against, task=task, operations=operations))
    if as_json:
        show_json(shown)
    else:
        show_text(shown.text())
    raise Exit(shown.outcome)


def explain(  # noqa: PLR0913, PLR0917  # what is asked, of what, and within which bounds
    prompt: Annotated[
        str,
        Argument(
            metavar="PROMPT",
            help="Names or numbers of tokens, #3 for the fourth prompt, or with --model text.",
        ),
    ],
    bundle: Annotated[Path, Option("--bundle", help="A bundle directory.")],
    model: Annotated[
        Path | None,
        Option(
            "--model",
            "--against",
            help="The bundle's model: its tokenizer reads PROMPT as text; a detached bundle has its weights.",
        ),
    ] = None,
    deadline: Deadline = 10.0,
    operations: Operations = None,
    as_json: AsJson = False,
) -> None:
    """Tell what a circuit does on one prompt: its cell, what heads read, what edges bring, what flips it.

    After a norm, what flips it is searched for, 10 seconds unless a deadline is given.
    """
    from circuitproof.models.declaration import read_declaration
    from circuitproof.reports.bundle_view import tell
    from circuitproof.reports.explain import explain as explain_it
    from circuitproof.reports.results import explanation_said
    from circuitproof.reports.said import text_of
    from circuitproof_check.main import Beside

    with paced(deadline, as_json=as_json) as pace:
        reader = None if model is None else read_declaration(model)
        found = explain_it(tell(bundle, Beside(model, operations=operations)), prompt, pace, reader)
    show_result(
        found, lambda explained: show_text(f"{text_of(explanation_said(explained))}\n"), as_json=as_json
    )
