"""Medians of repeated runs, and tables of ratios measured in one run."""

import statistics
import time
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.table import Table


def median_seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """Return the median time of `work` over several runs, after one run to warm up."""
    work()
    times: list[float] = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; the first column names, the others count."""
    table = Table(title=title, title_justify="left")
    for place, column in enumerate(columns):
        table.add_column(column, justify="right" if place else "left")
    for row in rows:
        table.add_row(*row)
    Console(width=120).print(table)
