"""Recipes of norm removals: what to start from, how norms fade, and what the fold may cost."""

from dataclasses import dataclass
from pathlib import Path

from circuitproof.errors import DeclarationError, InputError
from circuitproof.lab.runs.recipe import Recipe, load_recipe, read_plan, read_seed
from circuitproof.lab.train.fold_norm import FoldLimits
from circuitproof.lab.train.loop import TrainingPlan
from circuitproof.lab.train.norm_schedule import NormReader, Schedule
from circuitproof.text.canonical import Digest, digest_bytes, digest_json
from circuitproof.text.reading import Fields, read_bytes, read_toml, reading, reading_part


@dataclass(frozen=True, slots=True)
class NormRecipe:
    """Everything that a norm removal depends on, but for a model that is given instead of trained."""

    name: str
    source: Recipe
    """How the model with norms is trained when none is given, and which data all training is on."""
    plan: TrainingPlan
    schedule: Schedule
    limits: FoldLimits
    digest: Digest
    """The digest of the recipe, of its source and of the files that this names."""


def load_norm_recipe(path: Path) -> NormRecipe:
    """Read the recipe of a removal; paths in it are relative to its own folder."""
    with reading(read_toml(path), path.name) as fields:
        source = load_recipe(path.parent / fields.text("source"))
        with reading_part(fields, "training") as part:
            plan = read_plan(part, read_seed(fields), is_fresh=False)
        with reading_part(fields, "schedule") as part:
            schedule = _read_schedule(part)
        with reading_part(fields, "fold") as part:
            limits = _read_limits(part)
        return NormRecipe(fields.text("name"), source, plan, schedule, limits, _digest(path, source))


def _digest(path: Path, source: Recipe) -> Digest:
    return digest_json([str(digest_bytes(read_bytes(path))), str(source.digest)])


def _read_schedule(fields: Fields) -> Schedule:
    try:
        return Schedule(
            order=tuple(_reader(name, fields) for name in fields.texts("order")),
            begin=fields.integer("begin"),
            fade=fields.integer("fade"),
            pause=fields.integer("pause"),
            window=fields.integer("window"),
        )
    except DeclarationError as error:
        raise InputError(f"{fields.where}: {error}") from error


def _reader(name: str, fields: Fields) -> NormReader:
    if name not in tuple(NormReader):
        raise InputError(
            f"{fields.path('order')} has {name!r}, want each of {', '.join(NormReader)} just once"
        )
    return NormReader(name)


def _read_limits(fields: Fields) -> FoldLimits:
    agreement = fields.number("agreement", above=0)
    if agreement > 1:
        raise InputError(f"{fields.path('agreement')} is {agreement}, want a share of at most 1")
    return FoldLimits(
        largest_error=fields.number("largest_error", above=0),
        relative_error=fields.number("relative_error", above=0),
        agreement=agreement,
        loss_change=fields.number("loss_change", above=0),
    )
