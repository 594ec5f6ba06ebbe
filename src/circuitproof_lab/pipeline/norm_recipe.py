"""Recipes of norm removals: what to start from, how norms fade, and what the fold may cost."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from circuitproof.files.canonical import Digest, digest_file, digest_together
from circuitproof.files.codec import Codec, FolderName, Key
from circuitproof.files.kinds import FileKind, of_kind
from circuitproof.files.reading import read_toml, reading
from circuitproof_lab.pipeline.recipe import Recipe, codec_in, read_seed
from circuitproof_lab.train.loop import TrainingPlan
from circuitproof_lab.train.measures import FoldLimits
from circuitproof_lab.train.norm_schedule import Schedule


@dataclass(frozen=True, slots=True)
class NormRecipe:
    """Everything that a norm removal depends on, but for a model that is given instead of trained."""

    name: FolderName
    source: Recipe
    """How the model with norms is trained when none is given, and which data all training is on."""
    plan: Annotated[TrainingPlan, Key("training")]
    schedule: Schedule
    limits: Annotated[FoldLimits, Key("fold")]
    digest: Digest
    """The digest of the recipe, of its source and of the files that this names."""


def codec_with_removals(folder: Path) -> Codec:
    """Return what reads recipes that name a removal's; paths in them are relative to the folder."""
    return codec_in(folder).knowing(
        {NormRecipe: lambda fields, key: load_norm_recipe(folder / fields.text(key))}
    )


def load_norm_recipe(path: Path) -> NormRecipe:
    """Read the recipe of a removal; paths in it are relative to its own folder."""
    codec = codec_in(path.parent)
    with reading(of_kind(read_toml(path), path.name, FileKind.REMOVAL), path.name) as fields:
        source = codec.value(Recipe, fields, "source")
        plan = codec.part(TrainingPlan, fields, "training", seed=read_seed(fields), initial_deviation=0.0)
        digest = digest_together(digest_file(path), source.digest)
        return codec.record(NormRecipe, fields, source=source, plan=plan, digest=digest)
