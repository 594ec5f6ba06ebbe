"""Medians of repeated runs, and tables of ratios measured in one run."""

import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from rich.console import Console
from rich.markup import escape
from rich.table import Table

Result = TypeVar("Result")


def median_seconds(
    work: Callable[[], object], repeats: int = 5, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Return the median time of `work` over several runs, after one run to warm up."""
    work()
    times: list[float] = []
    for _ in range(repeats):
        start = clock()
        work()
        times.append(clock() - start)
    return statistics.median(times)


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """Return what some work gives, and how many seconds one run of it takes."""
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def shown(rows: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return rows, each of which is said as soon as it is there."""
    found: list[tuple[str, ...]] = []
    for row in rows:
        print(*row, sep=" | ", file=sys.stderr, flush=True)
        found.append(row)
    return found


def machine() -> str:
    """Return what numbers of a machine depend on: torch's kernels and threads, and Python's version."""
    from circuitproof_lab.pipeline.environment import environment

    return str(environment())


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, and the machine that it was measured on; the first column names, the others count."""
    table = Table(title=title, title_justify="left")
    for place, column in enumerate(columns):
        table.add_column(column, justify="right" if place else "left")
    for row in rows:
        table.add_row(*map(escape, row))
    Console(width=150).print(table)
    print(machine())
