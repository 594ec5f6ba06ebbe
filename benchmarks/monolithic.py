"""One prompt of a circuit of GPT-2's shape through the solver's encoding, along its traced branches.

`python benchmarks/monolithic.py 96 192` builds the query of one prompt at each width, each number a variable,
and asks z3: first whether the traced branches fit the circuit, then the query itself. In processor seconds,
because a machine may be shared.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from circuitproof.declare.architecture import inverse_root
from circuitproof.forward.frozen import open_model
from circuitproof.prove.claim import Claim
from circuitproof.prove.properties import Equivalence
from circuitproof.solvers.choices import Branching
from circuitproof.solvers.obligations import Docket, QueryPlan
from circuitproof.solvers.queries import Query
from circuitproof.solvers.smtlib import certificate_text, query_text
from circuitproof.solvers.z3 import Z3
from gpt2_width import ARCHITECTURE, CIRCUIT, quote_task, write_model
from timing import print_table, shown

Result = TypeVar("Result")
_PATIENCE = 3600.0
_HEADS = ARCHITECTURE.heads


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """Return what some work gives and the processor seconds it took."""
    start = time.process_time()
    return work(), time.process_time() - start


def query_of(width: int, folder: Path) -> Query:
    """Return the query about the first prompt at a width."""
    task = quote_task()
    sizes = replace(
        ARCHITECTURE,
        width=width,
        mlp_width=4 * width,
        head_width=width // _HEADS,
        attention_scale=inverse_root(width // _HEADS),
    )
    write_model(folder, task, sizes)
    claim = Claim(open_model(folder), CIRCUIT, task, (Equivalence(),))
    first, *_ = Docket(claim, QueryPlan(Branching.TRACED, batch=1)).obligations(Equivalence())
    return next(first.queries())


def row(width: int) -> tuple[str, ...]:
    """Return what a width costs."""
    with tempfile.TemporaryDirectory() as folder:
        query, encoding = timed(lambda: query_of(width, Path(folder) / "model"))
    (certificate, text), writing = timed(lambda: (certificate_text(query), query_text(query)))
    before = _memory()
    fits, checking = timed(lambda: Z3().solve(certificate, (), _PATIENCE))
    answer, solving = timed(lambda: Z3().solve(text, (), _PATIENCE))
    return (
        f"{width}",
        f"{len(query.premises):,}",
        f"{sum(assertion.is_condition for assertion in query.premises):,}",
        f"{encoding:.1f}",
        f"{writing:.1f}",
        f"{len(text) / 2**20:.1f}",
        f"{type(fits).__name__.lower()} {checking:.1f}",
        f"{type(answer).__name__.lower()} {solving:.1f}",
        f"{(_memory() - before) / 2**20:.2f}",
    )


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    """Print the table."""
    columns = (
        "width",
        "assertions",
        "branches",
        "encoding, s",
        "writing, s",
        "MiB of text",
        "branches, s",
        "query, s",
        "z3's GiB",
    )
    print_table("one prompt, monolithic", columns, shown(map(row, map(int, sys.argv[1:]))))


if __name__ == "__main__":
    main()
