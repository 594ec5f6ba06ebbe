"""Variants of a language model, trained alike and measured on the same windows: what each operator costs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import TypeAlias

from circuitproof.lab.model.checkpoint import load_model
from circuitproof.lab.reports.changes import COMPARISON
from circuitproof.lab.runs.norm_removal import Watchers, remove_norms
from circuitproof.lab.runs.run import Run, begin_run
from circuitproof.lab.runs.sizes import training_size
from circuitproof.lab.runs.training import CORPUS, MODEL, material_of, train_recipe
from circuitproof.lab.runs.variants_recipe import Removal, Reported, Variant, VariantsRecipe
from circuitproof.lab.train.data import CorpusData
from circuitproof.lab.train.loop import Watcher
from circuitproof.text.canonical import Json, readable_json, write_file
from circuitproof.text.codec import record_to_json, to_json

Watch: TypeAlias = Callable[[str, int], Watcher]
"""Who watches a training of so many steps under its title."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One trained model on all that is held out, and on all of the second corpus."""

    seed: int
    parameters: int
    loss: float
    perplexity: float
    """On the second corpus."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A measure over seeds."""

    mean: float
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class VariantRow:
    """One variant: each seed of it, and how far it is from the first variant of the same seed."""

    name: str
    runs: tuple[Measured, ...]
    loss: Spread
    loss_change: Spread
    perplexity: Spread
    perplexity_change: Spread
    paper: Reported | None
    paper_change: tuple[float, float] | None
    """What the paper's loss and perplexity are above those of its own baseline."""


@dataclass(frozen=True, slots=True)
class Gate:
    """The model without norms beside the one that it came from, and the one that it must be better than."""

    name: str
    source: str
    above_source: Spread
    """Its loss minus that of its source."""
    against: str
    above_gate: Spread
    """Its loss minus that of the variant at the gate."""

    @property
    def passes(self) -> bool:
        """Say whether it is better than the variant at the gate with every seed."""
        return self.above_gate.most < 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """All variants of a recipe, as far as seeds were asked for."""

    rows: tuple[VariantRow, ...]
    gate: Gate | None

    def to_json(self) -> Json:
        """Return it as JSON."""
        gate = None if self.gate is None else {**record_to_json(self.gate), "passes": self.gate.passes}
        return {"variants": to_json(self.rows), "gate": gate}


@dataclass(frozen=True, slots=True)
class _Job:
    recipe: VariantsRecipe
    run: Run
    watch: Watch
    data: CorpusData

    def place(self, name: str, seed: int) -> Path:
        """Return the folder of one run."""
        return self.run.folder / name / f"seed-{seed}"

    @property
    def corpus(self) -> Path:
        """Return where the tokens are that all share."""
        return self.run.folder / CORPUS


def compare_variants(recipe: VariantsRecipe, out: Path, watch: Watch, seeds: int | None = None) -> Comparison:
    """Train and measure every variant with each of the first `seeds` seeds, in the run folder `out`.

    What is finished is not repeated, so that a later call with more seeds adds to an earlier one. The
    comparison is written into the folder anew each time.
    """
    size = len(recipe.seeds[:seeds]) * (1 + len(recipe.names)) * training_size(recipe.base.architecture)
    with begin_run(out, recipe.name, recipe.digest, size) as run:
        data = material_of(recipe.base, out / CORPUS).data
        assert isinstance(data, CorpusData)  # noqa: S101  # a recipe of variants has a corpus
        found = _compare(_Job(recipe, run, watch, data), recipe.seeds[:seeds])
        write_file(out / COMPARISON, readable_json(found.to_json()))
        return found


def _compare(job: _Job, seeds: Sequence[int]) -> Comparison:
    recipe, measured = job.recipe, dict[str, list[Measured]]()
    for seed in seeds:
        for variant in recipe.variants:
            measured.setdefault(variant.name, []).append(_variant(job, variant, seed))
        if recipe.removal is not None:
            measured.setdefault(recipe.removal.name, []).append(_removal(job, recipe.removal, seed))
    return _comparison(recipe, measured)


def _variant(job: _Job, variant: Variant, seed: int) -> Measured:
    place, recipe = job.place(variant.name, seed), job.recipe.recipe_of(variant, seed)
    watcher = job.watch(f"{variant.name}, seed {seed}", recipe.plan.steps)
    train_recipe(recipe, place, watcher, corpus=job.corpus)
    return _measured(job, place, seed)


def _removal(job: _Job, removal: Removal, seed: int) -> Measured:
    place, recipe = job.place(removal.name, seed), job.recipe.removal_of(removal, seed)
    watcher = job.watch(f"{removal.name}, seed {seed}", recipe.plan.steps)
    source = job.place(removal.source, seed) / MODEL
    remove_norms(recipe, source, place, Watchers(removal=watcher), corpus=job.corpus)
    return _measured(job, place, seed)


def _measured(job: _Job, place: Path, seed: int) -> Measured:
    def measure() -> Measured:
        model = load_model(place / MODEL).model
        found = job.data.measure_whole(model)
        parameters = sum(parameter.numel() for parameter in model.parameters())
        return Measured(seed, parameters, found["held-out loss"], found["second perplexity"])

    return Run(place, job.run.tell).record("measured.json", Measured, measure)


def _comparison(recipe: VariantsRecipe, measured: dict[str, list[Measured]]) -> Comparison:
    papers = [one.paper for one in recipe.variants] + [recipe.removal.paper if recipe.removal else None]
    base = measured[recipe.names[0]]
    rows = [
        VariantRow(
            name=name,
            runs=tuple(measured[name]),
            loss=_range([one.loss for one in measured[name]]),
            loss_change=_range(_losses_above(measured[name], base)),
            perplexity=_range([one.perplexity for one in measured[name]]),
            perplexity_change=_range(
                [one.perplexity - first.perplexity for one, first in zip(measured[name], base, strict=True)]
            ),
            paper=paper,
            paper_change=_paper_change(paper, papers[0]),
        )
        for name, paper in zip(recipe.names, papers, strict=False)
    ]
    return Comparison(tuple(rows), None if recipe.removal is None else _gate(recipe.removal, measured))


def _gate(removal: Removal, measured: dict[str, list[Measured]]) -> Gate:
    found = measured[removal.name]
    return Gate(
        name=removal.name,
        source=removal.source,
        above_source=_range(_losses_above(found, measured[removal.source])),
        against=removal.gate,
        above_gate=_range(_losses_above(found, measured[removal.gate])),
    )


def _losses_above(runs: Sequence[Measured], others: Sequence[Measured]) -> list[float]:
    return [one.loss - other.loss for one, other in zip(runs, others, strict=True)]


def _paper_change(paper: Reported | None, base: Reported | None) -> tuple[float, float] | None:
    if paper is None or base is None:
        return None
    return paper.loss - base.loss, paper.perplexity - base.perplexity


def _range(values: Sequence[float]) -> Spread:
    return Spread(mean(values), min(values), max(values))
