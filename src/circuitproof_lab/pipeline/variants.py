"""Variants of a language model, trained alike and measured on the same windows: what each operator costs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import TypeAlias

from circuitproof.files.canonical import Json
from circuitproof.files.codec import record_to_json, to_json
from circuitproof.files.devices import CPU, Device
from circuitproof.files.records import write_record
from circuitproof.files.run import Run, begin_run
from circuitproof.nn.checkpoint import load_model
from circuitproof_lab.figures.changes import COMPARISON
from circuitproof_lab.pipeline.sizes import training_size
from circuitproof_lab.pipeline.stages.remove_norms import Watchers, remove_norms
from circuitproof_lab.pipeline.stages.train import CORPUS, MODEL, material_of, train_recipe
from circuitproof_lab.pipeline.variants_recipe import ModelVariant, RemovedNorms, Reported, VariantsRecipe
from circuitproof_lab.train.data import CorpusData
from circuitproof_lab.train.loop import Watcher

Watch: TypeAlias = Callable[[str, int], Watcher]
"""Who watches a training of so many steps under its title."""


@dataclass(frozen=True, slots=True)
class MeasuredModel:
    """One trained model on all that is held out, and on all of the second corpus."""

    seed: int
    parameters: int
    loss: float
    perplexity: float
    """On the second corpus."""


@dataclass(frozen=True, slots=True)
class SeedSpread:
    """A measure over seeds."""

    mean: float
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class VariantRow:
    """One variant: each seed of it, and how far it is from the first variant of the same seed."""

    name: str
    runs: tuple[MeasuredModel, ...]
    loss: SeedSpread
    loss_change: SeedSpread
    perplexity: SeedSpread
    perplexity_change: SeedSpread
    paper: Reported | None
    paper_change: tuple[float, float] | None
    """What the paper's loss and perplexity are above those of its own baseline."""


@dataclass(frozen=True, slots=True)
class NormGate:
    """The model without norms beside the one that it came from, and the one that it must be better than."""

    name: str
    source: str
    above_source: SeedSpread
    """Its loss minus that of its source."""
    against: str
    above_gate: SeedSpread
    """Its loss minus that of the variant at the gate."""

    @property
    def passes(self) -> bool:
        """Say whether it is better than the variant at the gate with every seed."""
        return self.above_gate.most < 0


@dataclass(frozen=True, slots=True)
class VariantComparison:
    """All variants of a recipe, as far as seeds were asked for."""

    rows: tuple[VariantRow, ...]
    gate: NormGate | None

    def to_json(self) -> Json:
        gate = None if self.gate is None else {**record_to_json(self.gate), "passes": self.gate.passes}
        return {"variants": to_json(self.rows), "gate": gate}


@dataclass(frozen=True, slots=True)
class _Job:
    recipe: VariantsRecipe
    run: Run
    watch: Watch
    data: CorpusData

    def place(self, name: str, seed: int) -> Path:
        return self.run.folder / name / f"seed-{seed}"


def compare_variants(
    recipe: VariantsRecipe, out: Path, watch: Watch, seeds: int | None = None, device: Device = CPU
) -> VariantComparison:
    """Train and measure every variant with each of the first `seeds` seeds, in the run folder `out`.

    What is finished is not repeated, so that a later call with more seeds adds to an earlier one. The
    comparison is written into the folder anew each time.
    """
    size = len(recipe.seeds[:seeds]) * (1 + len(recipe.names)) * training_size(recipe.base.architecture)
    with begin_run(out, recipe.name, recipe.digest, size, device=device) as run:
        data = material_of(recipe.base, out / CORPUS).data
        assert isinstance(data, CorpusData)  # noqa: S101  # a recipe of variants has a corpus
        found = _compare(_Job(recipe, run, watch, data), recipe.seeds[:seeds])
        write_record(out / COMPARISON, found)
        return found


def _compare(job: _Job, seeds: Sequence[int]) -> VariantComparison:
    measured: dict[str, list[MeasuredModel]] = {name: [] for name in job.recipe.names}
    for seed in seeds:
        for entry in job.recipe.entries:
            _train(job, entry, seed)
            measured[entry.name].append(_measured(job, entry.name, seed))
    return _comparison(job.recipe, measured)


def _train(job: _Job, entry: ModelVariant | RemovedNorms, seed: int) -> None:
    place, title, corpus = job.place(entry.name, seed), f"{entry.name}, seed {seed}", job.run.folder / CORPUS
    if isinstance(entry, ModelVariant):
        recipe = job.recipe.recipe_of(entry, seed)
        watcher = job.watch(title, recipe.plan.steps)
        train_recipe(recipe, place, watcher, corpus=corpus, device=job.run.device)
    else:
        recipe, source = job.recipe.removal_of(entry, seed), job.place(entry.source, seed) / MODEL
        watchers = Watchers(removal=job.watch(title, recipe.plan.steps))
        remove_norms(recipe, source, place, watchers, corpus, job.run.device)


def _measured(job: _Job, name: str, seed: int) -> MeasuredModel:
    place = job.place(name, seed)

    def measure() -> MeasuredModel:
        model = load_model(place / MODEL, job.run.device).model
        found = job.data.measure_whole(model)
        parameters = sum(parameter.numel() for parameter in model.parameters())
        return MeasuredModel(seed, parameters, found["held-out loss"], found["second perplexity"])

    return Run(place, job.run.tell).record("measured.json", MeasuredModel, measure)


def _comparison(recipe: VariantsRecipe, measured: dict[str, list[MeasuredModel]]) -> VariantComparison:
    losses = {name: [one.loss for one in runs] for name, runs in measured.items()}
    perplexities = {name: [one.perplexity for one in runs] for name, runs in measured.items()}
    first = recipe.variants[0]
    rows = [
        VariantRow(
            name=one.name,
            runs=tuple(measured[one.name]),
            loss=_range(losses[one.name]),
            loss_change=_above(losses[one.name], losses[first.name]),
            perplexity=_range(perplexities[one.name]),
            perplexity_change=_above(perplexities[one.name], perplexities[first.name]),
            paper=one.paper,
            paper_change=_paper_change(one.paper, first.paper),
        )
        for one in recipe.entries
    ]
    return VariantComparison(tuple(rows), None if recipe.removal is None else _gate(recipe.removal, losses))


def _gate(removal: RemovedNorms, losses: Mapping[str, Sequence[float]]) -> NormGate:
    return NormGate(
        name=removal.name,
        source=removal.source,
        above_source=_above(losses[removal.name], losses[removal.source]),
        against=removal.gate,
        above_gate=_above(losses[removal.name], losses[removal.gate]),
    )


def _above(values: Sequence[float], others: Sequence[float]) -> SeedSpread:
    return _range([value - other for value, other in zip(values, others, strict=True)])


def _paper_change(paper: Reported | None, base: Reported | None) -> tuple[float, float] | None:
    if paper is None or base is None:
        return None
    return paper.loss - base.loss, paper.perplexity - base.perplexity


def _range(values: Sequence[float]) -> SeedSpread:
    return SeedSpread(mean(values), min(values), max(values))
