"""The whole battery against a float forward over the same prompts, and against naive fractions, in one run.

The battery answers equivalence, invariance, necessity (every single-edge deletion) and robustness, loading
included. The forward is torch's, FP32, of the circuit alone, and answers none of them exactly. The naive
way evaluates the circuit and its deletions prompt by prompt in fractions; two prompts are timed and scaled.
"""

import resource
import shutil
import tempfile
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from circuitproof.declare.circuits.circuit import Circuit, circuit_of
from circuitproof.declare.circuits.graph import EMBED, LOGITS, Edge, Graph, Head, Mlp
from circuitproof.declare.tasks.quotes import toy_quotes
from circuitproof.declare.tasks.task import Task
from circuitproof.forward.frozen import open_model
from circuitproof.lab.model.checkpoint import StoredModel, load_model, save_model
from circuitproof.lab.model.decisions import task_logits
from circuitproof.lab.model.release import import_release
from circuitproof.lab.model.transformer import Transformer, initialise
from circuitproof.lab.runs.recipe import load_recipe
from circuitproof.prove.battery import prove
from circuitproof.prove.claim import Claim
from circuitproof.prove.properties import Equivalence, Invariance, Necessity, Robustness
from circuitproof.prove.verdict import Battery
from gpt2_width import CIRCUIT, quote_task, write_model
from timing import median_seconds, print_table
from twin import Twin, exact_tensors

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT.parent / "shared" / "reference"
NAIVE_PROMPTS = 2
TOY_CHAIN = circuit_of(Graph(2, 2), [Edge(EMBED, Head(0, 0)), Edge(Head(0, 0), Mlp(1)), Edge(Mlp(1), LOGITS)])


@dataclass(frozen=True, slots=True)
class Case:
    """A model directory, a circuit of it and a task."""

    name: str
    model: Path
    circuit: Circuit
    task: Task
    is_small: bool


def battery(case: Case) -> Battery:
    """Answer the four properties, from the files on."""
    properties = (Equivalence(), Invariance(), Necessity(), Robustness(Fraction(1, 100)))
    return prove(Claim(open_model(case.model), case.circuit, case.task, properties))


def naive_seconds(case: Case) -> float:
    """Return how long fractions would take for the circuit and its deletions on every prompt."""
    model = load_model(case.model).model
    twin = Twin(model.architecture, model.programs, exact_tensors(model.named_slices()))
    prompts = case.task.domain.prompts[:NAIVE_PROMPTS]
    start = time.perf_counter()
    for circuit in (case.circuit, *case.circuit.lesions()):
        for prompt in prompts:
            twin.logits(circuit, prompt, case.task.candidates)
    return (time.perf_counter() - start) * len(case.task.domain) / len(prompts)


def measure(case: Case) -> tuple[str, ...]:
    """Return a row of the table."""
    model = load_model(case.model).model
    found = battery(case)
    ours = median_seconds(lambda: battery(case), 3)
    floats = median_seconds(lambda: task_logits(model, case.task, [case.circuit]), 3)
    naive = naive_seconds(case) if case.is_small else None
    verdicts = " ".join(answer.verdict[0].upper() for answer in found.answers)
    return (
        case.name,
        f"{len(case.task.domain)}",
        f"{found.cells}",
        verdicts,
        f"{ours:.3f}",
        f"{floats:.3f}",
        f"{ours / floats:.2f}",
        "" if naive is None else f"{naive:.0f}",
        "" if naive is None else f"{naive / ours:.0f}",
    )


def cases(folder: Path) -> list[Case]:
    """Return the cases; the public models only where they are."""
    seeded = Transformer(load_recipe(ROOT / "recipes" / "toy-band.toml").architecture)
    initialise(seeded, seed=0, deviation=0.3)
    save_model(folder / "seeded", StoredModel(seeded, None))
    found = [Case("toy, BandNorm, seeded", folder / "seeded", TOY_CHAIN, toy_quotes(), is_small=True)]
    for name in ("norm_free", "band_norm_matched", "program_healed") if REFERENCE.exists() else ():
        release = import_release(REFERENCE / name, folder / name)
        circuit = release.circuits["quotes"]
        found.append(Case(f"public {name}", folder / name, circuit, toy_quotes(), is_small=True))
    task = quote_task()
    write_model(folder / "gpt2", task)
    return [*found, Case("GPT-2 width, seeded", folder / "gpt2", CIRCUIT, task, is_small=False)]


def main() -> None:
    """Print the table."""
    folder = Path(tempfile.mkdtemp())
    try:
        rows = [measure(case) for case in cases(folder)]
    finally:
        shutil.rmtree(folder)
    columns = ("circuit", "prompts", "cells", "E I N R", "battery s", "float s", "ratio", "naive s", "times")
    print_table("four properties: P proved, R refuted, U undecided", columns, rows)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"peak memory, torch and both models included: {peak:.2f} GB")


if __name__ == "__main__":
    main()
