"""How results look on a terminal: tables for people, JSON for programs."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from shutil import get_terminal_size
from textwrap import fill
from typing import TYPE_CHECKING, TextIO, TypeVar

import typer

from circuitproof.files.canonical import readable_json
from circuitproof.files.codec import to_json
from circuitproof.files.columns import column_widths
from circuitproof.files.printing import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

    from circuitproof.reports.said import Said

Found = TypeVar("Found")
INDENTED = "\n  "
"""How a sentence goes on in a further line, which shows a place in a file."""


def show_json(value: object) -> None:
    """Print a value as JSON to standard output."""
    show_text(readable_json(to_json(value)).decode())


def show_text(text: str) -> None:
    """Print a text of several lines to standard output; what else does not print is spelled as in JSON."""
    typer.echo(printable(text, keeps="\n"), nl=False)


def show_result(found: Found, show: Callable[[Found], None], *, as_json: bool) -> None:
    """Print a result once: as JSON for programs, or as `show` tells it to people."""
    if as_json:
        show_json(found)
    else:
        show(found)


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table as wide as the terminal, elsewhere as COLUMNS says or 80; # marks columns of numbers."""
    console = _console()
    title, columns, rows = printable(title), _spelled(columns), list(map(_spelled, rows))
    console.print(fitting_table(console, title, columns, rows))


def fitting_table(
    console: "Console", title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]
) -> "Table":
    """Return a table; where a terminal is too narrow for its words, each row as a list of its own."""
    from rich.cells import cell_len
    from rich.table import Table

    titles = [column.removesuffix("#") for column in columns]
    room = console.width - 3 * len(columns) - 1
    widths = column_widths(list(zip(titles, *rows, strict=True)), room, cell_len)
    if widths is None:
        return _listed(title, titles, rows)
    table = Table(title=title, title_justify="left", title_style="bold")
    for place, column in enumerate(columns):
        justify = "right" if column.endswith("#") else "left"
        table.add_column(titles[place], justify=justify, width=widths[place])
    for row in rows:
        table.add_row(*row)
    return table


def _spelled(cells: Sequence[str]) -> Sequence[str]:
    return tuple(map(printable, cells))


def _listed(title: str, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> "Table":
    """Return a table as lists, one for each row, of the columns' titles and what stands there."""
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="bold", show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for row in rows:
        for name, cell in zip(titles, row, strict=True):
            table.add_row(name, cell)
        table.add_section()
    return table


def printing(said: "Callable[[Found], Iterable[Said]]") -> Callable[[Found], None]:
    """Return what prints a result: all that is said of it."""

    def show(found: Found) -> None:
        for one in said(found):
            show_said(one)

    return show


def show_said(one: "Said") -> None:
    """Print a sentence or a table; drawings are for pages."""
    from circuitproof.reports.said import Table

    if isinstance(one, str):
        show_line(one)
    elif isinstance(one, Table):
        show_table(one.title, one.columns, one.rows)


def show_line(text: str) -> None:
    """Print a sentence to standard output, in one line wherever names in it come from."""
    typer.echo(_fitted(printable(text), sys.stdout))


def show_note(text: str) -> None:
    """Print a sentence to standard error, out of the way of results; further lines of it are indented."""
    typer.echo(_fitted(printable(text, keeps=INDENTED), sys.stderr), err=True)


def _fitted(text: str, stream: TextIO | None) -> str:
    """Return a text whose lines break between words where a terminal would break them anywhere."""
    if stream is None or not stream.isatty():
        return text
    width = get_terminal_size().columns
    return "\n".join(line if len(line) <= width else _folded(line, width) for line in text.split("\n"))


def _folded(line: str, width: int) -> str:
    margin = line[: len(line) - len(line.lstrip())]
    return fill(
        line.strip(),
        width,
        initial_indent=margin,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )


@contextmanager
def progress(title: str, total: int) -> "Iterator[Progress]":
    """Show a progress bar on standard error while work goes on; its only task is the first."""
    with progress_bars() as bar:
        bar.add_task(printable(title), total=total, note="")
        yield bar


@contextmanager
def progress_bars(*, are_left: bool = True) -> "Iterator[Progress]":
    """Show on standard error, if that is a terminal, how far work has come and how long it may still take.

    `are_left` says whether they are still there when the work is done.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
        console=_console(stderr=True),
        disable=not sys.stderr.isatty(),
        transient=not are_left,
    ) as bar:
        yield bar


def steps_on(
    bar: "Progress", tokens: int | None, before: int = 0, what: str = ""
) -> Callable[[int, float], None]:
    """Return what shows the steps of a training: the loss, and how many tokens a second it learns from.

    The bar counts the steps `before` it too, and says `what` is trained.
    """

    def show_step(step: int, loss: float) -> None:
        speed = bar.tasks[0].speed
        rate = "" if tokens is None or speed is None else f", {speed * tokens:.0f} tokens/s"
        bar.update(bar.task_ids[0], completed=before + step, note=f"{what}loss {loss:.4f}{rate}")

    return show_step


def _console(*, stderr: bool = False) -> "Console":
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, soft_wrap=True, markup=False, emoji=False)
