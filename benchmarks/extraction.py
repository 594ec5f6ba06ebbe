"""Extraction of the quotes circuit against the obvious loop of one edge at a time, in one run.

Both walk the same edges in the same order at the same five thresholds and must find the same circuits. So
many prompts that circuits are tried one by one are asked about at one threshold. The last rows bisect the
attribution order of a graph as large as GPT-2's: random weights of width 64, in which one head copies
the opener. All on one thread, because a shared machine makes two of them wait.
"""

import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import torch

from circuitproof.circuits.circuit import Circuit, whole
from circuitproof.circuits.graph import Graph
from circuitproof.find.attribute import arrange
from circuitproof.find.choices import Granularity, Objective, Order, Search
from circuitproof.find.objective import Measure, Meter, Tolerance
from circuitproof.find.parts import EdgeGroup, parts_of
from circuitproof.find.sweep import sweep
from circuitproof.models.architecture import inverse_root
from circuitproof.nn.transformer import Transformer, initialise
from circuitproof.tasks.domain import Domain
from circuitproof.tasks.quotes import toy_quotes
from circuitproof.tasks.task import Task
from circuitproof_lab.pipeline.recipe import load_recipe
from circuitproof_lab.pipeline.stages.train import train_recipe
from circuitproof_lab.train.loop import Watcher
from timing import print_table

RECIPES = Path(__file__).parents[1] / "recipes"
TOLERANCES = tuple(Tolerance(threshold) for threshold in (0.0001, 0.001, 0.01, 0.1, 1.0))


class ForgetfulMeter(Meter):
    """A meter that runs what it is asked, known or not, from the embedding on."""

    def measure(self, circuits: Sequence[Circuit]) -> tuple[Measure, ...]:
        """Return the measure of each circuit, run now."""
        self._known.clear()
        self._levels = None
        return super().measure(circuits)


def order_of(meter: Meter) -> tuple[EdgeGroup, ...]:
    """Return the edges, least important first."""
    parts = parts_of(meter.model.graph, Granularity.HEAD)
    return arrange(meter, parts, Order.ATTRIBUTION)


def one_edge_at_a_time(meter: Meter, tolerances: Sequence[Tolerance] = TOLERANCES) -> list[Circuit]:
    """Return what the textbook's loop leaves at each threshold."""
    order = order_of(meter)
    return [_loop(meter, order, tolerance) for tolerance in tolerances]


def _loop(meter: Meter, order: Sequence[EdgeGroup], tolerance: Tolerance) -> Circuit:
    kept = whole(meter.model.graph)
    (measure,) = meter.measure([kept])
    for part in order:
        smaller = kept.without(*part)
        (found,) = meter.measure([smaller])
        if tolerance.allows(measure, found):
            kept, measure = smaller, found
    return kept.live()


def ours(
    meter: Meter, search: Search = Search.GREEDY, tolerances: Sequence[Tolerance] = TOLERANCES
) -> list[Circuit]:
    """Return what the sweep leaves at each threshold."""
    return [candidate.circuit for candidate in sweep(meter, order_of(meter), tolerances, search)]


def timed(work: Callable[[Meter], list[Circuit]], meter: Meter) -> tuple[list[Circuit], float]:
    """Return the circuits and the processor seconds it took to find them."""
    start = time.process_time()
    return work(meter), time.process_time() - start


def toy_rows(name: str, folder: Path) -> list[tuple[str, ...]]:
    """Return the rows of a trained toy model."""
    quiet = Watcher(on_step=lambda _step, _loss: None, on_evaluation=lambda _: None)
    model = train_recipe(load_recipe(RECIPES / f"{name}.toml"), folder / name, quiet).model
    timed(ours, Meter(model, toy_quotes(), Objective.MODEL))
    return compared(name, model, toy_quotes(), TOLERANCES)


def many_rows() -> list[tuple[str, ...]]:
    """Return the rows of a random model with four layers on more prompts than are tried at once."""
    letters, (opener, other) = (*range(5, 9), *range(15, 20)), toy_quotes().candidates
    prompts = tuple((1, 2, a, q, b, c) for q in (opener, other) for a, b, c in product(letters, repeat=3))
    task = replace(toy_quotes(), domain=Domain(prompts, ("all",) * len(prompts)))
    model = copying_model(layers=4, heads=4, width=64, place=(2, 3))
    return compared(f"4 x 4 heads, {len(prompts)} prompts", model, task, TOLERANCES[-2:-1])


def compared(
    name: str, model: Transformer, task: Task, tolerances: Sequence[Tolerance]
) -> list[tuple[str, ...]]:
    """Return the rows of the loop and of the sweep."""
    slow, fast = (kind(model, task, Objective.MODEL) for kind in (ForgetfulMeter, Meter))
    wanted, slow_seconds = timed(lambda meter: one_edge_at_a_time(meter, tolerances), slow)
    found, seconds = timed(lambda meter: ours(meter, tolerances=tolerances), fast)
    if found != wanted:
        raise SystemExit(f"{name}: the sweep and the loop found different circuits")
    return [
        _row(f"{name}, one edge at a time", slow.batches, slow.batches, wanted, slow_seconds),
        (
            *_row(f"{name}, sweep", fast.circuits, fast.batches, found, seconds),
            f"{slow_seconds / seconds:.1f}",
        ),
    ]


def _row(
    name: str, circuits: int, forwards: int, found: Sequence[Circuit], seconds: float
) -> tuple[str, ...]:
    edges = " ".join(str(len(circuit)) for circuit in found)
    return (name, edges, f"{circuits}", f"{forwards}", f"{seconds:.2f}")


def copying_model(layers: int, heads: int, width: int, place: tuple[int, int]) -> Transformer:
    """Return a random model with a head that copies the opener's type to the logits."""
    sizes = load_recipe(RECIPES / "toy.toml").architecture
    sizes = replace(
        sizes,
        layers=layers,
        heads=heads,
        width=width,
        head_width=16,
        mlp_width=4 * width,
        attention_scale=inverse_root(16),
    )
    model = Transformer(sizes)
    initialise(model, seed=0, deviation=0.02)
    single, double = toy_quotes().candidates
    with torch.no_grad():
        layer, head = model.attentions[place[0]], place[1]
        layer.value[head, 0] = 50 * (model.token[single] - model.token[double])
        layer.output[head, :, 0] = 50 * (model.unembed[single] - model.unembed[double])
    return model


def short_task() -> Task:
    """Return quote closing on 64 prompts of six tokens."""
    task = toy_quotes()
    return replace(task, domain=Domain(task.domain.prompts[::2], task.domain.strata[::2]))


def deep_row(search: Search) -> tuple[str, ...]:
    """Return a row of the large graph."""
    model = copying_model(layers=12, heads=12, width=64, place=(5, 3))
    meter = Meter(model, short_task(), Objective.MODEL)
    found, seconds = timed(lambda meter: ours(meter, search), meter)
    edges = len(Graph(12, 12).edges())
    return _row(f"12 x 12 heads, {edges} edges, {search}", meter.circuits, meter.batches, found, seconds)


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    folder = Path(tempfile.mkdtemp())
    try:
        rows = [row for name in ("toy", "toy-band") for row in toy_rows(name, folder)]
    finally:
        shutil.rmtree(folder)
    columns = (
        "extraction at five thresholds",
        "edges found",
        "circuits",
        "forwards",
        "CPU seconds",
        "times faster",
    )
    print_table(
        "quotes, 128 prompts; the large graph 64",
        columns,
        [*rows, *many_rows(), *map(deep_row, (Search.BISECTION, Search.RUNS))],
    )


if __name__ == "__main__":
    main()
