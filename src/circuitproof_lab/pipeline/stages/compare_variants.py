"""The stage that compares variants: all that was measured of them, with every seed, beside the first."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import mean
from typing import TypeAlias

from circuitproof.errors import InputError
from circuitproof.files.records import read_record, write_record
from circuitproof_lab.pipeline.stages.train_variant import VariantsWork
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

_BySeed: TypeAlias = Mapping[int, Mapping[str, MeasuredModel]]
"""What was measured with each seed, by variant."""
_ByVariant: TypeAlias = Mapping[str, Sequence[MeasuredModel]]
"""What was measured of each variant, by the same seeds in the same order."""


def compare_measured(work: VariantsWork) -> VariantsWork:
    """Compare all that the run's folder holds, and write it down anew: a later run may add to it."""
    recipe, folder = work.recipe, work.run.folder
    found = _compared(recipe, _all_measured(recipe, folder))
    write_record(folder / COMPARISON, found)
    return replace(work, comparison=found)


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
