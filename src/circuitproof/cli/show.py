"""How results look on a terminal: tables for people, JSON for programs."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from circuitproof.text.canonical import Json, readable_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

    from circuitproof.lab.runs.extraction import Extraction
    from circuitproof.lab.runs.minimality import Minimality
    from circuitproof.prove.claim import Claim
    from circuitproof.prove.findings import Survey
    from circuitproof.prove.verdict import Answer, Battery, Verdict


def show_json(value: Json) -> None:
    """Print JSON to standard output."""
    typer.echo(readable_json(value).decode(), nl=False)


def show_result(found: Json, show: Callable[[], None], *, as_json: bool) -> None:
    """Print a result once: as JSON for programs, or as `show` tells it to people."""
    if as_json:
        show_json(found)
    else:
        show()


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table to standard output; a column whose title ends in # holds numbers."""
    wide = None if sys.stdout.isatty() else 1000  # where nobody looks at a terminal, lines are not broken
    console = _console(width=wide)
    console.print(fitting_table(console, title, columns, rows))


def fitting_table(
    console: "Console", title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]
) -> "Table":
    """Return a table; where a terminal is too narrow for its words, each row as a list of its own."""
    from rich.table import Table

    titles = [column.removesuffix("#") for column in columns]
    widths = _widths(list(zip(titles, *rows, strict=True)), console.width - 3 * len(columns) - 1)
    if widths is None:
        return _listed(title, titles, rows)
    table = Table(title=title, title_justify="left", title_style="bold")
    for place, column in enumerate(columns):
        justify = "right" if column.endswith("#") else "left"
        table.add_column(titles[place], justify=justify, width=widths[place])
    for row in rows:
        table.add_row(*row)
    return table


def _widths(cells: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """Return how wide columns of cells are in some room: as their longest words, the rest shared out."""
    from rich.cells import cell_len

    widths = [max(cell_len(word) for cell in column for word in cell.split() or "-") for column in cells]
    wishes = [max(map(cell_len, column)) - width for column, width in zip(cells, widths, strict=True)]
    spare = room - sum(widths)
    if spare < 0:
        return None
    for done, place in enumerate(sorted(range(len(cells)), key=wishes.__getitem__)):
        share = min(wishes[place], spare // (len(cells) - done))
        widths[place] += share
        spare -= share
    return widths


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


def show_line(text: str) -> None:
    """Print a sentence to standard output."""
    typer.echo(text)


def show_note(text: str) -> None:
    """Print a sentence to standard error, out of the way of results."""
    typer.echo(text, err=True)


@contextmanager
def progress(title: str, total: int) -> "Iterator[Progress]":
    """Show a progress bar on standard error while work goes on; its only task is the first."""
    with progress_bars() as bar:
        bar.add_task(title, total=total, note="")
        yield bar


@contextmanager
def progress_bars() -> "Iterator[Progress]":
    """Show on standard error, if that is a terminal, how far work has come and how long it may still take."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
        console=_console(stderr=True),
        disable=not sys.stderr.isatty(),
    )
    with bar:
        yield bar


def step_note(bar: "Progress", loss: float, tokens: int | None) -> str:
    """Return what a bar says of a step of training: the loss, and how many tokens a second it learns from."""
    speed = bar.tasks[0].speed
    rate = "" if tokens is None or speed is None else f", {speed * tokens:.0f} tokens/s"
    return f"loss {loss:.4f}{rate}"


def _console(*, stderr: bool = False, width: int | None = None) -> "Console":
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, soft_wrap=True, markup=False, emoji=False, width=width)


def claim_title(claim: "Claim", verdict: "Verdict") -> str:
    """Return what an answered claim is about: the task and its digest, edges, ablation, verdict."""
    edges, task = len(claim.circuit), claim.task
    return f"{task.name} {str(task.digest)[:12]}: {edges} edges, ablation {claim.circuit.ablation}, {verdict}"


def show_answers(title: str, battery: "Battery") -> None:
    """Print the answers to a claim's properties as a table."""
    has_survey = any(answer.findings.survey is not None for answer in battery.answers)
    columns = ("property", "verdict", "regions#" if has_survey else "met#", "seen")
    show_table(title, columns, [answer_row(battery.claim, answer) for answer in battery.answers])


def show_minimality(found: "Minimality") -> None:
    """Print the minimum circuits, or how far the search came."""
    from circuitproof.prove.verdict import Verdict

    search, tried = found.search, len(found.search.trials)
    if not search.minimum:
        below = search.refuted_below
        show_line(f"undecided: {tried} circuits were tried, all of fewer than {below} edges are refuted")
        return
    size, count = len(search.minimum[0]), len(search.minimum)
    if found.battery is not None and found.battery.verdict is Verdict.UNDECIDED:
        show_line(f"undecided: {count} circuits of {size} edges suffice; the deadline came before the proof")
        return
    show_line(
        f"{found.verdict}: {size} edges are the fewest; of {tried} circuits up to there {count} suffice"
    )
    for circuit in search.minimum:
        show_line("  " + ", ".join(map(str, circuit)))


def show_candidates(title: str, found: "Extraction") -> None:
    """Print every candidate of an extraction; the selected one has a star."""
    rows = [
        (
            f"{candidate.threshold:g}{' *' if candidate == found.selected else ''}",
            f"{len(candidate.circuit)}",
            f"{len(candidate.circuit.nodes())}",
            f"{candidate.heads}",
            f"{candidate.measure.agreed}/{candidate.measure.prompts}",
            f"{candidate.measure.worst_margin:.4f}",
            f"{candidate.measure.kl:.2e}",
        )
        for candidate in found.candidates
    ]
    columns = ("threshold", "edges#", "nodes#", "heads#", "agreement#", "worst margin#", "KL#")
    show_table(title, columns, rows)


def answer_row(claim: "Claim", answer: "Answer") -> tuple[str, str, str, str]:
    """Return the cells of an answer's row: the property, the verdict, what was counted, what was seen."""
    from circuitproof.view.words import property_name

    survey = answer.findings.survey
    counted = f"{answer.met}/{answer.obligations}" if survey is None else f"{survey.regions}"
    seen = "; ".join([*map(str, answer.remarks), _seen(claim, answer)])
    return (property_name(answer.prop), answer.verdict, counted, seen)


def _seen(claim: "Claim", answer: "Answer") -> str:
    """Say in a few words what an answer rests on."""
    from circuitproof.prove.evidence import Open

    if isinstance(answer.evidence, Open):
        return answer.evidence.reason
    if answer.findings.survey is not None:
        return _surveyed(claim, answer, answer.findings.survey)
    return answer.findings.words() or "no counterexample"


def _surveyed(claim: "Claim", answer: "Answer", survey: "Survey") -> str:
    """Say what was seen of a pattern: an edge that is idle, the least margin, or prompts."""
    from circuitproof.prove.evidence import OneEdge
    from circuitproof.prove.findings import shown
    from circuitproof.prove.properties import Robustness

    if isinstance(answer.evidence, OneEdge):
        return f"no prompt needs {list(claim.circuit)[answer.evidence.edge]}"
    if survey.margin is None:
        return " and ".join(_cut(claim.task.alphabet.text(prompt)) for prompt in survey.prompts[:2])
    least = "least" if survey.is_attained else "lower bound of the"
    margin = f"{least} margin {shown(survey.margin)}"
    if survey.radius is None or not isinstance(answer.prop, Robustness):
        return margin
    return f"{margin}, {least} radius {shown(survey.radius)}"


def _cut(text: str) -> str:
    most = 160
    return text if len(text) <= most else f"{text[:most]}..."
