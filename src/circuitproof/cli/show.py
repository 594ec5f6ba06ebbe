"""How results look on a terminal: tables for people, JSON for programs."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from circuitproof.canonical import Json, readable_json

_OUTPUT = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
_NOTES = Console(stderr=True, highlight=False, soft_wrap=True, markup=False, emoji=False)


def show_json(value: Json) -> None:
    """Print JSON to standard output."""
    _OUTPUT.out(readable_json(value).decode(), end="")


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table to standard output; columns after the first two are numbers."""
    table = Table(title=title, title_justify="left", title_style="bold")
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place < 2 else "right", overflow="fold")  # noqa: PLR2004  # names first
    for row in rows:
        table.add_row(*row)
    _OUTPUT.print(table)


def show_line(text: str) -> None:
    """Print a sentence to standard output."""
    _OUTPUT.out(text)


def show_note(text: str) -> None:
    """Print a sentence to standard error, out of the way of results."""
    _NOTES.out(text)


@contextmanager
def progress(title: str, total: int) -> Iterator[Progress]:
    """Show a progress bar on standard error while work goes on; its only task is the first."""
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
        console=_NOTES,
    )
    bar.add_task(title, total=total, note="")
    with bar:
        yield bar
