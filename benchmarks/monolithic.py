"""Prompts of a circuit of GPT-2's shape through the solver's encoding, along their traced branches.

`python benchmarks/monolithic.py 96 192` builds the query of one prompt at each width, each number a variable,
and asks z3: first whether the traced branches fit the circuit, then the query itself. The folder of an
artifact that `circuitproof construct recipes/gpt2-openers.toml` built (`RUN/quotes`) stands for its anchors.
In processor seconds, because a machine may be shared, and a process for each prompt, which gives its memory
back.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

from circuitproof.circuits.spelling import load_circuit
from circuitproof.forward.frozen import open_model
from circuitproof.models.architecture import inverse_root
from circuitproof.proof.claim import Claim
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.solvers.choices import Branching
from circuitproof.solvers.obligations import QueryPlan, Questions
from circuitproof.solvers.queries import Query
from circuitproof.solvers.smtlib import certificate_text, query_text
from circuitproof.solvers.z3 import Z3
from circuitproof_lab.pipeline.construction_recipe import load_construction
from gpt2_width import ARCHITECTURE, CIRCUIT, quote_task, write_model
from timing import print_table, shown

Result = TypeVar("Result")
RECIPE = Path(__file__).parents[1] / "recipes" / "gpt2-openers.toml"
_PATIENCE = 3600.0
_HEADS = ARCHITECTURE.heads


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """Return what some work gives and the processor seconds it took."""
    start = time.process_time()
    return work(), time.process_time() - start


def seeded_claim(width: int, folder: Path) -> Claim:
    """Return the claim about a seeded model of a width."""
    task = quote_task()
    sizes = replace(
        ARCHITECTURE,
        width=width,
        mlp_width=4 * width,
        head_width=width // _HEADS,
        attention_scale=inverse_root(width // _HEADS),
    )
    write_model(folder, task, sizes)
    return Claim(open_model(folder), CIRCUIT, task, (Equivalence(),))


def artifact_claim(folder: Path) -> Claim:
    """Return the claim about an artifact of the recipe."""
    tasks = {blueprint.task.name: blueprint.task for blueprint in load_construction(RECIPE).blueprints}
    frozen = open_model(folder / "model")
    circuit = load_circuit(folder / "proof" / "circuit.json")
    return Claim(frozen, circuit, tasks[folder.name], (Equivalence(),))


def query_of(claim: Claim, number: int, anchors: int) -> Query:
    """Return the query about one of so many prompts, spread over the answers."""
    plan = QueryPlan(Branching.TRACED, batch=1, anchors=anchors)
    return next(Questions(claim, plan).obligations(Equivalence())[number].queries())


def row(asked: str, number: int, anchors: int) -> tuple[str, ...]:
    """Return what one prompt costs."""
    with tempfile.TemporaryDirectory() as place:
        claim = (
            seeded_claim(int(asked), Path(place) / "model")
            if asked.isdigit()
            else artifact_claim(Path(asked))
        )
        query, encoding = timed(lambda: query_of(claim, number, anchors))
    (certificate, text), writing = timed(lambda: (certificate_text(query), query_text(query)))
    fits, checking = timed(lambda: Z3().solve(certificate, (), _PATIENCE))
    answer, solving = timed(lambda: Z3().solve(text, (), _PATIENCE))
    return (
        asked if asked.isdigit() else f"{Path(asked).name}, {claim.frozen.architecture.width}",
        f"{len(query.premises):,}",
        f"{sum(assertion.is_condition for assertion in query.premises):,}",
        f"{encoding:.1f}",
        f"{writing:.1f}",
        f"{len(text) / 2**20:.1f}",
        f"{type(fits).__name__.lower()} {checking:.1f}",
        f"{type(answer).__name__.lower()} {solving:.1f}",
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f}",
    )


def rows(asked: str) -> Iterator[tuple[str, ...]]:
    """Return the row of a width, or one for each anchor of an artifact."""
    anchors = 1 if asked.isdigit() else load_construction(RECIPE).anchors
    for number in range(anchors):
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            yield process.submit(row, asked, number, anchors).result()


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
        "GiB",
    )
    print_table(
        "one prompt, monolithic", columns, shown(found for asked in sys.argv[1:] for found in rows(asked))
    )


if __name__ == "__main__":
    main()
