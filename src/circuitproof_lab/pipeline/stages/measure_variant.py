"""The stage that measures a variant: it is trained with a seed and measured once, and the measures are kept.

What is kept is small and stands apart from the weights: measures made in several folders, or on several
machines, can be put into one.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, assert_never

from circuitproof.files.canonical import digest_bytes
from circuitproof.files.run import Run
from circuitproof.nn.checkpoint import load_model
from circuitproof.nn.transformer import Transformer
from circuitproof_lab.pipeline.stages.remove_norms import Watchers, remove_norms
from circuitproof_lab.pipeline.stages.train import (
    CORPUS,
    MODEL,
    material_of,
    train_on,
    train_recipe,
    train_tried,
)
from circuitproof_lab.pipeline.variants_recipe import (
    ModelVariant,
    NormControl,
    RemovedNorms,
    VariantEntry,
    VariantsRecipe,
)
from circuitproof_lab.records.variants import MeasuredModel, measures_file
from circuitproof_lab.train.loop import Watcher
from circuitproof_lab.train.tokenised import CORPUS as PINS

Watch: TypeAlias = Callable[[str, int], Watcher]
"""Who watches a training of so many steps under its title."""


@dataclass(frozen=True, slots=True)
class VariantJob:
    """One variant of a recipe with one of its seeds, in a run of the recipe."""

    recipe: VariantsRecipe
    run: Run
    watch: Watch
    entry: VariantEntry
    seed: int

    @property
    def place(self) -> Path:
        """Return the folder in which it is trained."""
        return self.run.folder / self.entry.name / f"seed-{self.seed}"

    @property
    def corpus(self) -> Path:
        return self.run.folder / CORPUS

    def watcher(self, steps: int) -> Watcher:
        return self.watch(f"{self.entry.name}, seed {self.seed}", steps)


def measure_variant(job: VariantJob) -> MeasuredModel:
    """Return what is measured of a variant; it is trained unless that was measured before."""

    def measure() -> MeasuredModel:
        model = _trained(job)
        material = material_of(job.recipe.base, job.corpus)
        pins = material.files.get(PINS)
        return MeasuredModel(
            seed=job.seed,
            parameters=sum(parameter.numel() for parameter in model.parameters()),
            corpus=None if pins is None else digest_bytes(pins),
            measures=material.data.measure_whole(model),
        )

    return job.run.record(measures_file(job.entry.name, job.seed), MeasuredModel, measure)


def _trained(job: VariantJob) -> Transformer:
    entry, place, seed, device = job.entry, job.place, job.seed, job.run.device
    match entry:
        case ModelVariant():
            recipe = job.recipe.recipe_of(entry, seed)
            watcher = job.watcher(recipe.plan.steps)
            if entry.tried_norm is not None:
                return train_tried(recipe, entry.tried_norm, place, watcher, job.corpus, device)
            return train_recipe(recipe, place, watcher, corpus=job.corpus, device=device).model
        case NormControl():
            recipe, source = job.recipe.control_of(entry, seed), _source(job, entry.removal)
            watcher = job.watcher(recipe.plan.steps)
            return train_on(recipe, source, place, watcher, job.corpus, device).model
        case RemovedNorms():
            recipe, source = job.recipe.removal_of(entry, seed), _source(job, entry)
            watchers = Watchers(removal=job.watcher(recipe.plan.steps))
            remove_norms(recipe, source, place, watchers, job.corpus, device)
            return load_model(place / MODEL, device).model
        case _:
            assert_never(entry)


def _source(job: VariantJob, removal: RemovedNorms) -> Path:
    """Return the model whose norms are removed, trained unless it is there."""
    source = replace(job, entry=job.recipe.variant(removal.source))
    _trained(source)
    return source.place / MODEL
