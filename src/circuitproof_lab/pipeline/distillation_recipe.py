"""Recipes of distillations: everything that is fixed before the first model is trained, gates among it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated

from circuitproof.errors import InputError, asked_for
from circuitproof.files.canonical import Digest, digest_file, digest_json, digest_together
from circuitproof.files.codec import Codec, FolderName, Key
from circuitproof.files.kinds import FileKind, of_kind
from circuitproof.files.reading import Fields, read_toml, reading, reading_part
from circuitproof.find.choices import Objective
from circuitproof.find.extraction import ExtractionMethod
from circuitproof.programs.candidates import Grammar
from circuitproof.tasks.task import Task
from circuitproof_lab.distill.heal import TERMS, Draw, Treatment, Weighing
from circuitproof_lab.distill.migrate import LesionGates
from circuitproof_lab.distill.synthesis import Bounds, Scope
from circuitproof_lab.pipeline.recipe import Recipe, TasksSource, codec_in
from circuitproof_lab.train.loop import Seed, TrainingPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class HealingRecipe:
    """How models with programs are healed, under every objective alike but for its terms."""

    plan: TrainingPlan
    draw: Draw
    weighings: Mapping[Treatment, Weighing]

    def seeded(self, seed: int) -> "HealingRecipe":
        """Return the same with another seed."""
        return replace(self, plan=replace(self.plan, seed=seed), draw=replace(self.draw, seed=seed))


@dataclass(frozen=True, slots=True, kw_only=True)
class DistillationRecipe:
    """Everything that a distillation depends on."""

    name: FolderName
    source: Recipe
    """How the neural models are trained, but for their seeds."""
    tasks: tuple[Task, ...]
    seeds: tuple[int, ...]
    method: Annotated[ExtractionMethod, Key("extraction")]
    """How circuits are extracted, before programs and after healing."""
    bounds: Annotated[Bounds, Key("synthesis")]
    """Within what a program is looked for, and what must agree with it installed."""
    healing: Annotated[HealingRecipe, Key("healing")]
    gates: LesionGates
    epsilon: Fraction
    """The perturbation that the final circuits must withstand."""
    digest: Digest
    """The digest of the recipe, of its source and of the files that this names."""

    def with_seeds(self, seeds: Sequence[int]) -> "DistillationRecipe":
        """Return the same recipe for other seeds, which makes its runs other runs."""
        with asked_for():
            chosen = _read_seeds(Fields({"seeds": list(seeds)}, "command line"))
        return replace(self, seeds=chosen, digest=digest_json([str(self.digest), list(chosen)]))

    def source_of(self, seed: int) -> Recipe:
        """Return the recipe of one neural model."""
        digest = digest_json([str(self.source.digest), seed])
        return replace(self.source, plan=replace(self.source.plan, seed=seed), digest=digest)


def load_distillation_recipe(path: Path) -> DistillationRecipe:
    """Read the recipe of a distillation; paths in it are relative to its own folder."""
    readers = {ExtractionMethod: _read_method, Bounds: _read_bounds, HealingRecipe: _read_healing}
    codec = codec_in(path.parent).knowing(readers)
    with reading(of_kind(read_toml(path), path.name, FileKind.DISTILLATION), path.name) as fields:
        source = codec.value(Recipe, fields, "source")
        with reading_part(fields, "gates") as part:
            gates, epsilon = codec.record(LesionGates, part), codec.positive(part, "epsilon")
        return codec.record(
            DistillationRecipe,
            fields,
            source=source,
            tasks=_tasks(source, fields.path("source")),
            seeds=_read_seeds(fields),
            gates=gates,
            epsilon=epsilon,
            digest=digest_together(digest_file(path), source.digest),
        )


def _tasks(source: Recipe, where: str) -> tuple[Task, ...]:
    if not isinstance(source.source, TasksSource):
        raise InputError(f"{where} is {source.name!r}, which trains on a text; want one that trains on tasks")
    return source.source.tasks


def _read_seeds(fields: Fields) -> tuple[int, ...]:
    seeds = Codec().value(tuple[Seed, ...], fields, "seeds")
    if not seeds or len(set(seeds)) != len(seeds):
        raise InputError(f"{fields.path('seeds')} are {list(seeds)}, want at least one, each once")
    return seeds


def _read_method(fields: Fields, key: str) -> ExtractionMethod:
    with reading_part(fields, key) as part:
        method = Codec().whole(ExtractionMethod, part)
    if method.objective is not Objective.MODEL:
        where = f"{part.path('objective')} is {method.objective}"
        raise InputError(f"{where}, want model: migration asks what a model does")
    return method


def _read_bounds(fields: Fields, key: str) -> Bounds:
    with reading_part(fields, key) as part:
        names = ("rules", "conditions", "members", "budget")
        rules, conditions, members, budget = (part.integer(name, least=1) for name in names)
        grammar = Grammar(rules=rules, conditions=conditions, members=members)
        return Bounds(grammar=grammar, scope=part.choice("scope", Scope), budget=budget)


def _read_healing(fields: Fields, key: str) -> HealingRecipe:
    with reading_part(fields, key) as part:
        return HealingRecipe(
            plan=Codec().record(TrainingPlan, part, seed=0, initial_deviation=0.0),
            draw=Codec().record(Draw, part, seed=0),
            weighings={treatment: _read_weighing(part, treatment) for treatment in Treatment},
        )


def _read_weighing(fields: Fields, treatment: Treatment) -> Weighing:
    with reading_part(fields, treatment) as part:
        return Weighing(treatment, {term: part.number(term, above=0) for term in TERMS[treatment]})
