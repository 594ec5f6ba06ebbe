"""Variants of a model, trained alike and measured on the same data: what each operator costs."""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from statistics import mean
from typing import TypeAlias, TypeVar

from circuitproof.errors import InputError
from circuitproof.files.devices import CPU, Device
from circuitproof.files.records import read_record, write_record
from circuitproof.files.run import begin_run
from circuitproof_lab.pipeline.sizes import training_size
from circuitproof_lab.pipeline.stages.measure_variant import VariantJob, Watch, measure_variant
from circuitproof_lab.pipeline.variants_recipe import RemovedNorms, VariantsRecipe
from circuitproof_lab.records.variants import (
    COMPARISON,
    LOSS,
    AboveVariant,
    MeasuredModel,
    NormGate,
    Reported,
    SeedSpread,
    UnfinishedSeed,
    VariantComparison,
    VariantRow,
    measures_file,
)

Named = TypeVar("Named", int, str)
_BySeed: TypeAlias = Mapping[int, Mapping[str, MeasuredModel]]
"""What was measured with each seed, by variant."""
_ByVariant: TypeAlias = Mapping[str, Sequence[MeasuredModel]]
"""What was measured of each variant, by the same seeds in the same order."""


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
        for seed, entry in product(seeds, recipe.entries):
            if entry.name in names:
                measure_variant(VariantJob(recipe, run, watch, entry, seed))
        found = _compared(recipe, _all_measured(recipe, out))
        write_record(out / COMPARISON, found)
        return found


def _asked(what: str, asked: Sequence[Named], known: Sequence[Named]) -> Sequence[Named]:
    for one in asked:
        if one not in known:
            listed = ", ".join(map(str, known))
            raise InputError(
                f"{what} {one!r} is not in the recipe, whose {what}s are {listed}; name one of them"
            )
    return asked or known


def _all_measured(recipe: VariantsRecipe, folder: Path) -> _BySeed:
    """Return what the folder holds."""
    found: dict[int, dict[str, MeasuredModel]] = {seed: {} for seed in recipe.seeds}
    for seed, name in product(recipe.seeds, recipe.names):
        if (path := folder / measures_file(name, seed)).exists():
            found[seed][name] = read_record(path, MeasuredModel)
            if (other := found[seed][name].seed) != seed:
                raise InputError(f"{path} is about seed {other}, want seed {seed}; put it in its place")
    _refuse_mixed([one for measured in found.values() for one in measured.values()], folder)
    return found


def _refuse_mixed(measured: Sequence[MeasuredModel], folder: Path) -> None:
    if len({one.corpus for one in measured}) > 1:
        raise InputError(
            f"{folder} holds measures on different corpora, as another Python's library is one; "
            "compare those of one corpus"
        )
    if len({tuple(sorted(one.measures)) for one in measured}) > 1:
        raise InputError(f"{folder} holds measures of different kinds; compare those of one version")


def _compared(recipe: VariantsRecipe, found: _BySeed) -> VariantComparison:
    missing = {
        seed: tuple(name for name in recipe.names if name not in measured)
        for seed, measured in found.items()
        if measured
    }
    finished = [seed for seed, names in missing.items() if not names]
    unfinished = tuple(UnfinishedSeed(seed, names) for seed, names in missing.items() if names)
    if not finished:
        return VariantComparison((), None, unfinished)
    measured = {name: [found[seed][name] for seed in finished] for name in recipe.names}
    gate = None if recipe.removal is None else _gate(recipe.removal, measured)
    return VariantComparison(_rows(recipe, measured), gate, unfinished)


def _rows(recipe: VariantsRecipe, measured: _ByVariant) -> tuple[VariantRow, ...]:
    first = recipe.variants[0]
    kinds = tuple(measured[first.name][0].measures)
    return tuple(
        VariantRow(
            name=one.name,
            runs=tuple(measured[one.name]),
            measures={kind: _range(_values(measured, one.name, kind)) for kind in kinds},
            changes={kind: _above(measured, kind, one.name, first.name) for kind in kinds},
            paper=one.paper,
            paper_changes=_paper_changes(one.paper, first.paper),
        )
        for one in recipe.entries
    )


def _gate(removal: RemovedNorms, measured: _ByVariant) -> NormGate:
    def above(name: str) -> AboveVariant:
        return AboveVariant(name, _above(measured, LOSS, removal.name, name))

    control = None if removal.control is None else above(removal.control)
    return NormGate(removal.name, above(removal.source), control, above(removal.gate))


def _above(measured: _ByVariant, kind: str, name: str, other: str) -> SeedSpread:
    """Return by how much a measure of a variant is larger than that of another of the same seed."""
    pairs = zip(_values(measured, name, kind), _values(measured, other, kind), strict=True)
    return _range([value - base for value, base in pairs])


def _values(measured: _ByVariant, name: str, kind: str) -> Sequence[float]:
    return [one.measures[kind] for one in measured[name]]


def _paper_changes(paper: Reported | None, base: Reported | None) -> Mapping[str, float]:
    if paper is None or base is None:
        return {}
    return {LOSS: paper.loss - base.loss, "perplexity": paper.perplexity - base.perplexity}


def _range(values: Sequence[float]) -> SeedSpread:
    return SeedSpread(mean(values), min(values), max(values))
