"""Who decides what in how long: the exact engine, z3 and cvc5 on circuits of both tasks, in one run.

Equivalence and invariance keep every branch and every intermediate number symbolic; they are asked about
eight anchors where a head is neural and about all 128 prompts where programs attend. Necessity is asked for
every edge, robustness for all prompts at the paper's four radii. Model directories may be given as
arguments; without any, the public models are used where they are. Engines that contradict each other end
the run.
"""

import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Head
from circuitproof.circuits.spelling import load_circuit
from circuitproof.discover.choices import Granularity, Objective, Order, Rule, Search
from circuitproof.model.release import import_release
from circuitproof.pipeline.cross_check import Asking, Compared, compare
from circuitproof.pipeline.extraction import THRESHOLDS, Method, extract
from circuitproof.semantics.frozen import open_model
from circuitproof.tasks.catalogue import find_task
from circuitproof.verify.battery import prove
from circuitproof.verify.claim import Claim
from circuitproof.verify.properties import (
    Equivalence,
    Invariance,
    Necessity,
    Property,
    Robustness,
    kind_of,
)
from circuitproof.verify.solvers.choices import Engine
from timing import print_table

REFERENCE = Path(__file__).parents[2] / "shared" / "reference"
RADII = tuple(Fraction(number) for number in ("0.001", "0.0025", "0.005", "0.01"))
ANCHORS = 8
METHOD = Method(
    objective=Objective.PROGRAM,
    granularity=Granularity.HEAD,
    order=Order.ATTRIBUTION,
    search=Search.GREEDY,
    rule=Rule.SPARSITY,
    thresholds=THRESHOLDS,
)


@dataclass(frozen=True, slots=True)
class Case:
    """A model directory, a task and a circuit of it."""

    model: Path
    task: str
    circuit: Circuit

    def claim(self, prop: Property) -> Claim:
        """Return a claim of one property."""
        return Claim(open_model(self.model), self.circuit, find_task(self.task), (prop,))

    @property
    def is_neural(self) -> bool:
        """Say whether a kept head computes queries and keys."""
        programs = open_model(self.model).programs
        return any(isinstance(node, Head) and node not in programs for node in self.circuit.live().nodes())


def cases(folder: Path, models: list[Path]) -> list[Case]:
    """Return a circuit for each task of each model; those of the release where it has one."""
    if models:
        return [found(model, task, folder) for model in models for task in ("quotes", "brackets")]
    made: list[Case] = []
    for name in ("band_norm_matched", "norm_free", "program_healed") if REFERENCE.exists() else ():
        release = import_release(REFERENCE / name, folder / name)
        made.append(Case(folder / name, "quotes", release.circuits["quotes"]))
        made.append(found(folder / name, "brackets", folder))
    return made


def found(model: Path, task: str, folder: Path) -> Case:
    """Return a circuit that our own extraction finds."""
    out = folder / f"{model.name}-{task}.json"
    extract(model, task, METHOD, out, lambda _: None)
    return Case(model, task, load_circuit(out))


def measure(case: Case, prop: Property) -> tuple[str, ...]:
    """Return a row of the table."""
    claim = case.claim(prop)
    begin = time.perf_counter()
    battery = prove(claim)
    seconds = time.perf_counter() - begin
    is_sampled = case.is_neural and isinstance(prop, Equivalence | Invariance)
    asking = Asking(engine=Engine.ALL, anchors=ANCHORS if is_sampled else None, seconds=120)
    (one,) = compare(claim, battery, asking)
    name = f"{prop.epsilon}" if isinstance(prop, Robustness) else ""
    return (
        f"{case.model.name}, {case.task}, {len(case.circuit)} edges",
        f"{kind_of(prop)} {name}".strip(),
        f"{battery.answers[0].verdict} {seconds:.2f} s",
        *answers(one),
        f"{one.hearing.cost.total}",
        f"{one.hearing.cost.encode_seconds:.1f}",
    )


def answers(one: Compared) -> tuple[str, ...]:
    """Return what each solver says, and of how much."""
    return tuple(
        f"{ruling.verdict} {ruling.met}/{ruling.obligations} {ruling.seconds:.1f} s"
        for ruling in one.hearing.rulings
    )


def main() -> None:
    """Print the table."""
    folder = Path(tempfile.mkdtemp())
    properties = (Equivalence(), Invariance(), Necessity(), *map(Robustness, RADII))
    try:
        rows = [
            measure(case, prop)
            for case in cases(folder, list(map(Path, sys.argv[1:])))
            for prop in properties
        ]
    finally:
        shutil.rmtree(folder)
    columns = ("circuit", "property", "exact", "z3", "cvc5", "assertions", "encode s")
    print_table("who decided what, met of all obligations", columns, rows)


if __name__ == "__main__":
    main()
