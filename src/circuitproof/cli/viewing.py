"""Commands that show what a bundle says: as a page, as text, and for a single prompt."""

from pathlib import Path
from typing import Annotated

import typer

from circuitproof.cli.options import AsJson, Deadline

_BUNDLE = typer.Argument(metavar="BUNDLE", help="A bundle directory.", show_default=False)
Against = Annotated[
    Path | None,
    typer.Option("--against", help="The model directory that it must be about.", show_default=False),
]
TaskFile = Annotated[
    Path | None, typer.Option("--task", help="The declaration of its task, as JSON.", show_default=False)
]


def report(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="A bundle directory or a run folder.", show_default=False)
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Where the page is written. [default: PATH.html]", show_default=False),
    ] = None,
    against: Against = None,
    task: TaskFile = None,
    as_json: AsJson = False,
) -> None:
    """Write one HTML page about a bundle or a run, which opens from disk and loads nothing."""
    from circuitproof.cli.show import show_json, show_line, show_told
    from circuitproof.text.canonical import refuse_unwritable, write_file
    from circuitproof.view.reporting import report_on
    from circuitproof_check.main import Beside

    place = out or path.resolve().with_name(f"{path.resolve().name}.html")
    refuse_unwritable(place)
    made = report_on(path, Beside(against, task=task))
    write_file(place, made.html.encode())
    if as_json:
        show_json({"page": str(place), "says": made.says})
    else:
        show_told([] if made.bundles is None else [made.bundles])
        show_line(f"{place} holds the page of {path}: {made.says}")
    raise typer.Exit(made.exit_code)


def show(
    bundle: Annotated[Path, _BUNDLE],
    against: Against = None,
    task: TaskFile = None,
    as_json: AsJson = False,
) -> None:
    """Print what the page of a bundle says, in 80 columns."""
    from circuitproof.cli.show import show_json
    from circuitproof.view.data import story_to_json
    from circuitproof.view.page import bundle_text
    from circuitproof.view.story import tell
    from circuitproof_check.main import Beside

    found = tell(bundle, Beside(against, task=task))
    if as_json:
        show_json(story_to_json(found))
    else:
        typer.echo(bundle_text(found), nl=False)
    raise typer.Exit(found.judgement.outcome)


def explain(
    prompt: Annotated[
        str, typer.Argument(metavar="PROMPT", help="Names or numbers of tokens, or #3 for the fourth prompt.")
    ],
    bundle: Annotated[Path, typer.Option("--bundle", help="A bundle directory.", show_default=False)],
    deadline: Deadline = 10.0,
    as_json: AsJson = False,
) -> None:
    """Tell what a circuit does on one prompt: its cell, what heads read, what edges bring, what flips it.

    After a norm, what flips it is searched for, 10 seconds unless a deadline is given.
    """
    from circuitproof.cli.pacing import paced
    from circuitproof.cli.show import show_json, show_line
    from circuitproof.view.explain import explain as explain_it
    from circuitproof.view.story import tell

    with paced(deadline, as_json=as_json) as pace:
        found = explain_it(tell(bundle), prompt, pace)
    if as_json:
        show_json(found.to_json())
    else:
        show_line(repr(found))
