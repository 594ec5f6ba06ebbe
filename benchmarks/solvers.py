"""Who decides what in how long: the exact engine, z3 and cvc5 on circuits of both tasks, in one run.

Equivalence and invariance keep every branch and every intermediate number symbolic; they are asked about
eight anchors where a head is neural and about all 128 prompts where programs attend. Necessity is asked for
every edge of the trimmed circuit, robustness for all prompts at the paper's four radii. Model directories may
be given as arguments; without any, the public models are used where they are, and else a BandNorm model
trained here. Engines that contradict each other end the run.
"""

import shutil
import sys
import tempfile
from itertools import product
from pathlib import Path

from cases import RADII, TASKS, Case, found, public_cases, ruled, trained_cases
from circuitproof.proof.battery import prove
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.property import Property
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.solvers.choices import Asking, Engine
from circuitproof.verbs.cross_check import compare
from timing import print_table, shown, timed

ANCHORS = 8


def cases(folder: Path, models: list[Path]) -> list[Case]:
    """Return a circuit for each task of each model; those of the release where it has one."""
    if models:
        return [found(model, task, folder) for model in models for task in TASKS]
    names = ("band_norm_matched", "norm_free", "program_healed")
    public = [case for name in names for case in public_cases(name, folder)]
    return public or list(trained_cases("toy-band", folder))


def measure(case: Case, prop: Property) -> tuple[str, ...]:
    """Return a row of the table."""
    claim = case.claim(prop)
    battery, seconds = timed(lambda: prove(claim))
    is_sampled = case.is_neural and isinstance(prop, Equivalence | Invariance)
    asking = Asking(engine=Engine.ALL, anchors=ANCHORS if is_sampled else None, seconds=120)
    (one,) = compare(claim, battery, asking)
    name = f"{prop.epsilon}" if isinstance(prop, Robustness) else ""
    return (
        case.name,
        f"{prop.kind} {name}".strip(),
        f"{battery.answers[0].verdict} {seconds:.2f} s",
        *ruled(one),
        f"{one.solver_answers.cost.total}",
        f"{one.solver_answers.cost.encode_seconds:.1f}",
    )


def main() -> None:
    """Print the table."""
    folder = Path(tempfile.mkdtemp())
    properties = (Equivalence(), Invariance(), Necessity(), *map(Robustness, RADII))
    try:
        trimmed = [case.trimmed() for case in cases(folder, list(map(Path, sys.argv[1:])))]
        asked = product(trimmed, properties)
        rows = shown(measure(case, prop) for case, prop in asked)
    finally:
        shutil.rmtree(folder)
    columns = ("circuit", "property", "exact", "z3", "cvc5", "assertions", "encode s")
    print_table("who decided what, met of all obligations", columns, rows)


if __name__ == "__main__":
    main()
