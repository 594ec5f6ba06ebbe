"""Recipes of variants: one training with other operators, and the removal of norms from one of them."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, TypeAlias

from circuitproof.errors import InputError
from circuitproof.files.canonical import Digest, digest_file, digest_json, digest_together
from circuitproof.files.codec import FolderName
from circuitproof.files.kinds import FileKind, of_kind
from circuitproof.files.reading import read_toml, reading
from circuitproof.models.operators import Activation, Attention, LayerNorm, Norm
from circuitproof_lab.pipeline.norm_recipe import NormRecipe, codec_with_removals
from circuitproof_lab.pipeline.recipe import Recipe
from circuitproof_lab.records.variants import Reported
from circuitproof_lab.train.loop import Seed
from circuitproof_lab.train.tokenised import CorpusSource
from circuitproof_lab.train.tried_norms import TriedNorm


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelVariant:
    """The base with some of its operators changed; what is not said stays as it is."""

    name: FolderName
    norm: Norm | TriedNorm | None = None
    attention: Attention | None = None
    activation: Activation | None = None
    paper: Reported | None = None

    @property
    def tried_norm(self) -> TriedNorm | None:
        """Return the norm that takes the place of the base's in training, where no architecture has it."""
        return self.norm if isinstance(self.norm, TriedNorm) else None

    @property
    def declared_norm(self) -> Norm | None:
        return None if isinstance(self.norm, TriedNorm) else self.norm


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedNorms:
    """One more variant: another without its norms."""

    name: FolderName
    recipe: NormRecipe
    source: FolderName
    """The variant whose norms are removed."""
    gate: FolderName
    """The variant that the result must be better than."""
    control: FolderName | None = None
    """If given, the name of one more variant: the source, trained on likewise with its norms kept."""
    paper: Reported | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NormControl:
    """What the steps of a removal do to its source without the removal."""

    name: FolderName
    removal: RemovedNorms
    paper: ClassVar[None] = None


VariantEntry: TypeAlias = ModelVariant | NormControl | RemovedNorms


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantsRecipe:
    """Everything that a comparison of variants depends on; others are compared with the first."""

    name: FolderName
    base: Recipe
    seeds: tuple[Seed, ...]
    variants: tuple[ModelVariant, ...]
    removal: RemovedNorms | None = None
    digest: Digest

    @property
    def entries(self) -> tuple[VariantEntry, ...]:
        """Return all variants in the order of the table, the removal last and its control before it."""
        if self.removal is None:
            return self.variants
        name = self.removal.control
        control = () if name is None else (NormControl(name=name, removal=self.removal),)
        return (*self.variants, *control, self.removal)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.entries)

    def variant(self, name: str) -> ModelVariant:
        return next(one for one in self.variants if one.name == name)

    def recipe_of(self, variant: ModelVariant, seed: int) -> Recipe:
        sizes = self.base.architecture
        changed = replace(
            sizes,
            norm=variant.declared_norm or sizes.norm,
            attention=variant.attention or sizes.attention,
            activation=variant.activation or sizes.activation,
        )
        plan, digest = replace(self.base.plan, seed=seed), self._digest(variant.name, seed)
        return replace(self.base, name=variant.name, architecture=changed, plan=plan, digest=digest)

    def removal_of(self, removal: RemovedNorms, seed: int) -> NormRecipe:
        plan = replace(removal.recipe.plan, seed=seed)
        return replace(removal.recipe, plan=plan, digest=self._digest(removal.name, seed))

    def control_of(self, control: NormControl, seed: int) -> Recipe:
        """Return how a source is trained on: with the plan of the removal, on the same batches."""
        source = self.recipe_of(self.variant(control.removal.source), seed)
        plan = replace(control.removal.recipe.plan, seed=seed)
        return replace(source, name=control.name, plan=plan, digest=self._digest(control.name, seed))

    def _digest(self, name: str, seed: int) -> Digest:
        return digest_json([str(self.digest), name, seed])


def load_variants_recipe(path: Path) -> VariantsRecipe:
    """Read a recipe of variants; paths in it are relative to its own folder."""
    codec = codec_with_removals(path.parent)
    with reading(of_kind(read_toml(path), path.name, FileKind.VARIANTS), path.name) as fields:
        recipe = codec.record(VariantsRecipe, fields, digest=digest_file(path))
    _refuse_misfit(recipe, path.name)
    removed = () if recipe.removal is None else (recipe.removal.recipe.digest,)
    return replace(recipe, digest=digest_together(recipe.digest, recipe.base.digest, *removed))


def _refuse_misfit(recipe: VariantsRecipe, where: str) -> None:
    if not isinstance(recipe.base.source, CorpusSource):
        _refuse_of_corpora(recipe, where)
    for key, entries in (("variants", recipe.variants), ("seeds", recipe.seeds)):
        if not entries:
            raise InputError(f"{where}.{key} is empty; name at least one")
    for key, entries in (("name", recipe.names), ("seeds", recipe.seeds)):
        if len(set(entries)) != len(entries):
            raise InputError(f"{where}: {key} has an entry twice; give each once")
    for one in recipe.variants:
        if one.tried_norm is not None and not isinstance(recipe.base.architecture.norm, LayerNorm):
            raise InputError(
                f"{where}: {one.name!r} puts a norm in the place of LayerNorm, which base has not; "
                "name a base with LayerNorm"
            )
    if recipe.removal is not None:
        _refuse_unfit_removal(recipe, recipe.removal, f"{where}.removal")


def _refuse_of_corpora(recipe: VariantsRecipe, where: str) -> None:
    """Refuse what has a meaning for language models only, where variants are trained on tasks."""
    of_corpora = {"removal": recipe.removal, **{f"{one.name}: paper": one.paper for one in recipe.variants}}
    for key, found in of_corpora.items():
        if found is not None:
            raise InputError(
                f"{where}.{key} is about the loss on a corpus, but base trains on tasks; leave it out"
            )


def _refuse_unfit_removal(recipe: VariantsRecipe, removal: RemovedNorms, where: str) -> None:
    for key, name in (("source", removal.source), ("gate", removal.gate)):
        if name not in (names := [one.name for one in recipe.variants]):
            raise InputError(f"{where}.{key} is {name!r}, want one of {', '.join(names)}")
    if removal.recipe.source.source != recipe.base.source:
        raise InputError(f"{where}.recipe fades norms on other data than base; name the same corpus in both")
