"""The whole battery against float forwards, and against naive fractions, in one run.

The battery answers equivalence, invariance, necessity (every single-edge deletion) and robustness, loading
included. A forward is torch's, FP32, of the circuit alone, and answers none of them exactly: one over all
prompts, and one over the shortest prompt of each cell, because the prover computes cells only. The naive way
evaluates the circuit and its deletions prompt by prompt in fractions; two prompts are timed and scaled.
All are processor seconds, on one thread of torch, so that other work on the machine changes little.
"""

import resource
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import torch

from circuitproof.circuits.circuit import Circuit, circuit_of
from circuitproof.circuits.graph import EMBED, LOGITS, Edge, Graph, Head, Mlp
from circuitproof.forward.binding import PrefixBinding
from circuitproof.forward.cells import Cells
from circuitproof.forward.frozen import open_model
from circuitproof.importers.release import import_release
from circuitproof.nn.checkpoint import StoredModel, load_model, save_model
from circuitproof.nn.decisions import task_logits
from circuitproof.nn.transformer import Transformer, initialise
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.verdict import Battery
from circuitproof.tasks.domain import Domain
from circuitproof.tasks.quotes import toy_quotes
from circuitproof.tasks.task import Task
from circuitproof_lab.pipeline.recipe import load_recipe
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
    start = time.process_time()
    for circuit in (case.circuit, *case.circuit.lesions()):
        for prompt in prompts:
            twin.logits(circuit, prompt, case.task.candidates)
    return (time.process_time() - start) * len(case.task.domain) / len(prompts)


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the median processor time of some work."""
    return median_seconds(work, 3, time.process_time)


def one_per_cell(case: Case) -> Task:
    """Return the task on the shortest prompt of each cell of the circuit."""
    frozen, whole = open_model(case.model), case.task.listed
    cells = Cells(PrefixBinding(frozen.programs), biases=frozen.architecture.biases)
    _, rows = cells.cells(case.circuit, whole.prompts)
    longest_first = sorted(range(len(rows)), key=lambda place: -len(whole.prompts[place]))
    chosen = sorted({rows[place]: place for place in longest_first}.values())
    strata = tuple(whole.strata[place] for place in chosen)
    return replace(case.task, domain=Domain(tuple(whole.prompts[place] for place in chosen), strata))


def measure(case: Case) -> tuple[str, ...]:
    """Return a row of the table."""
    model, few = load_model(case.model).model, one_per_cell(case)
    found = battery(case)
    ours = cpu_seconds(lambda: battery(case))
    floats = cpu_seconds(lambda: task_logits(model, case.task, [case.circuit]))
    by_cell = cpu_seconds(lambda: task_logits(model, few, [case.circuit]))
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
        f"{by_cell:.3f}",
        f"{ours / by_cell:.2f}",
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
    torch.set_num_threads(1)
    folder = Path(tempfile.mkdtemp())
    try:
        rows = [measure(case) for case in cases(folder)]
    finally:
        shutil.rmtree(folder)
    compared = ("all prompts s", "ratio", "one per cell s", "ratio", "naive s", "times")
    columns = ("circuit", "prompts", "cells", "E I N R", "battery s", *compared)
    print_table("four properties: P proved, R refuted, U undecided", columns, rows)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"peak memory, torch and both models included: {peak:.2f} GB")


if __name__ == "__main__":
    main()
