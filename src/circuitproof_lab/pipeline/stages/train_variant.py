"""The stages that train a variant with a seed: as its recipe says, on from its source, or without norms."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias, assert_never

from circuitproof.files.run import Run
from circuitproof.nn.checkpoint import load_model
from circuitproof.nn.transformer import Transformer
from circuitproof_lab.pipeline.engine import RunStage, StageName
from circuitproof_lab.pipeline.stages.remove_norms import Watchers, remove_norms
from circuitproof_lab.pipeline.stages.train import CORPUS, MODEL, train_on, train_recipe, train_tried
from circuitproof_lab.pipeline.variants_recipe import (
    ModelVariant,
    NormControl,
    RemovedNorms,
    VariantEntry,
    VariantsRecipe,
)
from circuitproof_lab.records.variants import VariantComparison, measures_file
from circuitproof_lab.train.loop import Watcher

Watch: TypeAlias = Callable[[str, int], Watcher]
"""Who watches a training of so many steps under its title."""


@dataclass(frozen=True, slots=True)
class SeededVariant:
    """One variant of a recipe with one of its seeds."""

    entry: VariantEntry
    seed: int

    @property
    def measures(self) -> str:
        """Return where in the run its measures are kept."""
        return measures_file(self.entry.name, self.seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantsWork:
    """A comparison of variants, its run, and how far it has come."""

    recipe: VariantsRecipe
    run: Run
    watch: Watch
    model: Transformer | None = None
    """What was trained last, to be measured."""
    comparison: VariantComparison | None = None

    @property
    def corpus(self) -> Path:
        return self.run.folder / CORPUS

    def place(self, one: SeededVariant) -> Path:
        """Return the folder in which a variant is trained."""
        return self.run.folder / one.entry.name / f"seed-{one.seed}"

    def watcher(self, one: SeededVariant, steps: int) -> Watcher:
        return self.watch(f"{one.entry.name}, seed {one.seed}", steps)


_Training: TypeAlias = Callable[[VariantsWork], Transformer | None]
"""Trains a variant, and returns it if it is the one to be measured."""


def training_of(one: SeededVariant) -> tuple[RunStage[VariantsWork], ...]:
    """Return the stages that train a variant; what was measured before is not trained again for it."""
    return tuple(RunStage(name, partial(_unless_measured, one, make)) for name, make in _trainings(one))


def _unless_measured(one: SeededVariant, make: _Training, work: VariantsWork) -> VariantsWork:
    return work if (work.run.folder / one.measures).exists() else replace(work, model=make(work))


def _trainings(one: SeededVariant) -> tuple[tuple[StageName, _Training], ...]:
    entry, seed = one.entry, one.seed
    match entry:
        case ModelVariant():
            return ((StageName.TRAIN, partial(_train, entry, seed)),)
        case NormControl(removal=removal):
            source = (StageName.TRAIN, partial(_train_source, removal, seed))
            return source, (StageName.TRAIN, partial(_train_on, entry, seed))
        case RemovedNorms():
            source = (StageName.TRAIN, partial(_train_source, entry, seed))
            return source, (StageName.REMOVE_NORMS, partial(_remove_norms, entry, seed))
        case _:
            assert_never(entry)


def _train(variant: ModelVariant, seed: int, work: VariantsWork) -> Transformer:
    recipe, one, device = work.recipe.recipe_of(variant, seed), SeededVariant(variant, seed), work.run.device
    place, watcher = work.place(one), work.watcher(one, recipe.plan.steps)
    if variant.tried_norm is not None:
        return train_tried(recipe, variant.tried_norm, place, watcher, work.corpus, device)
    return train_recipe(recipe, place, watcher, corpus=work.corpus, device=device).model


def _train_source(removal: RemovedNorms, seed: int, work: VariantsWork) -> None:
    """Train the variant whose norms are removed, unless it is there."""
    _train(work.recipe.variant(removal.source), seed, work)


def _source(removal: RemovedNorms, seed: int, work: VariantsWork) -> Path:
    return work.place(SeededVariant(work.recipe.variant(removal.source), seed)) / MODEL


def _train_on(control: NormControl, seed: int, work: VariantsWork) -> Transformer:
    recipe, one = work.recipe.control_of(control, seed), SeededVariant(control, seed)
    source, watcher = _source(control.removal, seed, work), work.watcher(one, recipe.plan.steps)
    return train_on(recipe, source, work.place(one), watcher, work.corpus, work.run.device).model


def _remove_norms(removal: RemovedNorms, seed: int, work: VariantsWork) -> Transformer:
    recipe, one = work.recipe.removal_of(removal, seed), SeededVariant(removal, seed)
    watchers = Watchers(removal=work.watcher(one, recipe.plan.steps))
    source, place, device = _source(removal, seed, work), work.place(one), work.run.device
    remove_norms(recipe, source, place, watchers, work.corpus, device)
    return load_model(place / MODEL, device).model
