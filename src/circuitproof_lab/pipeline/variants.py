"""Variants of a model, trained alike and measured on the same data: what each operator costs."""

from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import TypeVar

from circuitproof.errors import InputError
from circuitproof.files.devices import CPU, Device
from circuitproof.files.run import begin_run
from circuitproof_lab.pipeline.engine import RunStage, StageName, follow, written
from circuitproof_lab.pipeline.sizes import training_size
from circuitproof_lab.pipeline.stages.compare_variants import compare_measured
from circuitproof_lab.pipeline.stages.measure_variant import measure_variant
from circuitproof_lab.pipeline.stages.train_variant import SeededVariant, VariantsWork, Watch, training_of
from circuitproof_lab.pipeline.variants_recipe import VariantsRecipe
from circuitproof_lab.records.variants import VariantComparison

Named = TypeVar("Named", int, str)


def stages_of(
    recipe: VariantsRecipe, seeds: Sequence[int], names: Sequence[str]
) -> tuple[RunStage[VariantsWork], ...]:
    """Return how some variants are trained and measured with some seeds, and then compared."""
    chosen = (entry for entry in recipe.entries if entry.name in names)
    models = [SeededVariant(entry, seed) for seed, entry in product(seeds, chosen)]
    return (
        *(stage for one in models for stage in _measured(one)),
        RunStage(StageName.COMPARE, compare_measured),
    )


def _measured(one: SeededVariant) -> tuple[RunStage[VariantsWork], ...]:
    return (*training_of(one), RunStage(StageName.MEASURE, partial(measure_variant, one)))


def compare_variants(  # noqa: PLR0913, PLR0917  # what is compared, and where
    recipe: VariantsRecipe,
    out: Path,
    watch: Watch,
    seeds: Sequence[int] = (),
    names: Sequence[str] = (),
    device: Device = CPU,
) -> VariantComparison:
    """Train and measure variants in the run folder `out`; all of them with all seeds, unless some are named.

    What is measured is not repeated, so that a later call adds to an earlier one. The comparison is of all
    that the folder holds, and is written into it anew each time.
    """
    seeds = _asked("seed", seeds, recipe.seeds)
    names = _asked("variant", names, recipe.names)
    size = len(seeds) * (1 + len(names)) * training_size(recipe.base.architecture)
    with begin_run(out, recipe.name, recipe.digest, size, device=device) as run:
        begun = VariantsWork(recipe=recipe, run=run, watch=watch)
        done, _ = follow(stages_of(recipe, seeds, names), begun)
        return written(done.comparison, "comparison")


def _asked(what: str, asked: Sequence[Named], known: Sequence[Named]) -> Sequence[Named]:
    for one in asked:
        if one not in known:
            listed = ", ".join(map(str, known))
            raise InputError(
                f"{what} {one!r} is not in the recipe, whose {what}s are {listed}; name one of them"
            )
    return asked or known
