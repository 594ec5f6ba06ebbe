"""Long lists: prover and checker, in seconds of a processor and in memory, each in a process of its own.

Exact rows claim equivalence, invariance, necessity and robustness (Pizza: faithfulness instead of necessity).
Enclosed rows claim that a model decides what it does in FP64, beside one forward of it by torch in FP64 over
the same prompts. All is proved, so that the checker looks at every prompt. Processes start from nothing:
their imports are in their seconds. Models of others have rows where their weights are. With names after it
(`python benchmarks/lists.py pizza`) it measures the rows that hold one of them.
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from pathlib import Path

import torch

import circuitproof as cp
from circuitproof.files.canonical import readable_json
from circuitproof.forward.frozen import open_model
from circuitproof.gallery.modular_addition import fill_row
from circuitproof.importers.release import import_release
from circuitproof.models.architecture import Architecture, inverse_root
from circuitproof.models.operators import Attention, Gelu, GeluForm, LayerNorm, LeakyRelu, NoNorm
from circuitproof.nn.checkpoint import StoredModel, load_model, save_model
from circuitproof.nn.transformer import Transformer, initialise
from circuitproof.proof.fold import fold
from circuitproof.tasks.domain import Prompt
from circuitproof.tasks.task import Task
from timing import median_seconds, print_table, shown

REFERENCE = Path(__file__).parents[2] / "shared" / "reference"
FOUR = ("equivalence", "invariance", "necessity", "robustness")
EDGES = ("embed -> head 0.0", "head 0.0 -> mlp 0", "mlp 0 -> mlp 1", "mlp 1 -> logits")
BEGIN, QUOTES, SECOND = 1, (9, 10), (2, 1)
CANDIDATES = 100
WAITING = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(child.pid, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
"""
"""What waits for a process: a small one, as a child has at least the memory of what starts it."""
ROWS = (
    *(f"seeded toy, {prompts}" for prompts in (1000, 10000)),
    "seeded GPT, 16",
    *(f"norm_free, {prompts}" for prompts in (1000, 10000, 100000)),
    "pizza_constant_attention, 3481",
    "modular_addition_4_errors, 12769",
    "shakespeare_gpt2, 128",
)


@dataclass(frozen=True, slots=True)
class ListCase:
    """A model directory, a task, a circuit's file if it is not the whole model, and what is claimed."""

    model: Path
    task: Task
    circuit: Path | None = None
    properties: tuple[str, ...] = FOUR
    epsilon: str = "1/100"

    @property
    def is_enclosed(self) -> bool:
        return self.circuit is None


def case(name: str, folder: Path) -> ListCase | None:
    """Return the case of a row; nothing if it needs weights that are not there."""
    kind, count = name.split(", ")
    if not kind.startswith("seeded") and not REFERENCE.exists():
        return None
    prompts, model = int(count), folder / "model"
    match kind:
        case "seeded toy":
            return _own_toy(folder, prompts)
        case "norm_free":
            import_release(REFERENCE / kind, model)
            listed = _openers(prompts)
            task = _task(model, listed, [prompt[3] for prompt in listed], QUOTES)
            return ListCase(model, task, model / "quotes.circuit.json")
        case "pizza_constant_attention":
            return _pizza(folder)
        case "modular_addition_4_errors":
            cp.import_tl(REFERENCE / kind, model)
            return ListCase(model, _decided(model, _sums()), None, ("equivalence",))
        case "shakespeare_gpt2":
            cp.import_hf(REFERENCE / kind, model)
            return ListCase(model, _decided(model, _random_prompts(prompts)), None, ("equivalence",))
        case _:
            save_model(model, StoredModel(_seeded(small_gpt()), None))
            return ListCase(model, _decided(model, _random_prompts(prompts)), None, ("equivalence",))


def _toy() -> Architecture:
    return Architecture(
        vocabulary=32,
        context=6,
        layers=2,
        heads=2,
        width=16,
        head_width=8,
        mlp_width=64,
        norm=NoNorm(),
        attention=Attention.SPARSEMAX,
        attention_scale=inverse_root(8),
        activation=LeakyRelu(Fraction(1, 100)),
        tied=False,
        biases=True,
        logit_bias=True,
    )


def small_gpt() -> Architecture:
    return Architecture(
        vocabulary=1000,
        context=16,
        layers=4,
        heads=4,
        width=128,
        head_width=32,
        mlp_width=512,
        norm=LayerNorm(Fraction(1, 100000)),
        attention=Attention.SOFTMAX,
        attention_scale=inverse_root(32),
        activation=Gelu(GeluForm.TANH),
        tied=True,
        biases=True,
        logit_bias=False,
    )


def _seeded(sizes: Architecture) -> Transformer:
    model = Transformer(sizes)
    initialise(model, seed=0, deviation=0.3 if isinstance(sizes.norm, NoNorm) else 0.1)
    return model


def _own_toy(folder: Path, count: int) -> ListCase:
    """Return a seeded model, and as the right answers what a chain of it decides, however narrowly."""
    model, kept = folder / "model", folder / "circuit.json"
    save_model(model, StoredModel(_seeded(_toy()), None))
    circuit, prompts = cp.circuit(model, EDGES), _openers(count)
    kept.write_bytes(readable_json(circuit.to_json()))
    found = fold(open_model(model), QUOTES, [circuit], prompts).of(circuit)
    task = _task(model, prompts, [QUOTES[one.leader] for one in found], QUOTES)
    return ListCase(model, task, kept, epsilon="1/1000000000000")


def _openers(count: int) -> list[Prompt]:
    """Return prompts of six tokens with a quotation mark at the fourth."""
    fillers = [token for token in range(32) if token not in QUOTES]
    filled = islice(product(SECOND, fillers, QUOTES, fillers, fillers), count)
    return [(BEGIN, one, two, mark, three, four) for one, two, mark, three, four in filled]


def _sums() -> list[Prompt]:
    return [(one, other, 113) for one, other in product(range(113), repeat=2)]


def _random_prompts(count: int) -> list[Prompt]:
    draw = random.Random(0)  # noqa: S311  # prompts, not secrets
    return [tuple(draw.randrange(1000) for _ in range(8)) for _ in range(count)]


def _decided(model: Path, prompts: list[Prompt]) -> Task:
    """Return a task whose right answers are what a model decides in FP64 among a hundred tokens."""
    with torch.no_grad():
        logits = load_model(model).model.double()(torch.tensor(prompts))[:, -1, :CANDIDATES]
    return _task(model, prompts, logits.argmax(dim=1).tolist(), range(CANDIDATES))


def _task(model: Path, prompts: Sequence[Prompt], answers: list[int], candidates: Sequence[int]) -> Task:
    listed = list(candidates)
    return cp.declare_task(
        "list", model=model, prompts=prompts, answers=answers, classes=answers, candidates=listed
    )


def _pizza(folder: Path) -> ListCase:
    from circuitproof.gallery.listed import GalleryModel, find_row
    from circuitproof.tasks.loading import load_task

    fill_row(REFERENCE / "pizza_constant_attention" / "model.safetensors", folder)
    found = find_row("pizza")
    assert isinstance(found, GalleryModel)  # noqa: S101  # it is
    (folder / "circuit.json").write_bytes(found.claims()["nine-edges.json"])
    properties = ("equivalence", "invariance", "faithfulness", "robustness")
    task = load_task(str(folder / "addition.json"))
    return ListCase(folder / "model", task, folder / "circuit.json", properties, "1")


def row(name: str) -> tuple[str, ...] | None:
    """Return a row of the table, if its model is there."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        if (asked := case(name, folder)) is None:
            return None
        task, proof = folder / "task.json", folder / "proof"
        task.write_bytes(readable_json(asked.task.to_json()))
        claimed = [word for one in asked.properties for word in ("--property", one)]
        claimed += (
            [] if asked.circuit is None else ["--circuit", str(asked.circuit), "--epsilon", asked.epsilon]
        )
        verify = ["-m", "circuitproof", "verify", "--model", str(asked.model), "--task", str(task)]
        ours = measured([*verify, *claimed, "--out", str(proof)])
        theirs = measured(["-I", "-m", "circuitproof_check", str(proof), "--operations", str(10**15)])
        floats = _forward_seconds(asked) if asked.is_enclosed else None
        size = sum(file.stat().st_size for file in proof.iterdir()) / 1e6
        ratio = "" if floats is None else f"{ours[0] / floats:.0f}"
        numbers = (*ours, *theirs, theirs[0] / ours[0], size)
        return (name, *(f"{number:.1f}" for number in numbers), ratio)


def measured(arguments: Sequence[str]) -> tuple[float, float]:
    """Run Python; return its seconds of a processor and the megabytes that it had at most."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-I", "-S", "-c", WAITING, sys.executable, *arguments]
    said = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True)  # noqa: S603  # our own
    code, seconds, kilobytes = said.stdout.split()
    if code != "0":
        raise SystemExit(f"{' '.join(arguments)} ended with {code}, want all of it proved")
    return float(seconds), float(kilobytes) / 1e3


def _forward_seconds(asked: ListCase) -> float:
    model, prompts = load_model(asked.model).model.double(), torch.tensor(asked.task.prompts)
    with torch.no_grad():
        return median_seconds(lambda: model(prompts), 5, time.process_time)


def rows(wanted: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Return the rows whose names hold one of some words, or all."""
    for name in ROWS:
        if not wanted or any(word in name for word in wanted):
            found = row(name)
            if found is not None:
                yield found


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    columns = (
        "model, prompts",
        "ours s",
        "MB",
        "checker s",
        "MB",
        "checker / ours",
        "bundle MB",
        "ours / FP64",
    )
    print_table("long lists, a process each", columns, shown(rows(sys.argv[1:])))


if __name__ == "__main__":
    main()
