"""Recipes of distillations: everything that is fixed before the first model is trained, gates among it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from circuitproof.declare.programs.candidates import Grammar
from circuitproof.declare.tasks.task import Task
from circuitproof.errors import InputError
from circuitproof.lab.discover.choices import Objective, Rule
from circuitproof.lab.distill.heal import TERMS, Draw, Treatment, Weighing
from circuitproof.lab.distill.migrate import LesionGates
from circuitproof.lab.distill.synthesis import Bounds, Scope
from circuitproof.lab.runs.extraction import Method
from circuitproof.lab.runs.protocol import read_method
from circuitproof.lab.runs.recipe import Recipe, TasksSource, load_recipe, read_plan, read_seed
from circuitproof.lab.train.loop import TrainingPlan
from circuitproof.text.canonical import Digest, digest_bytes, digest_json
from circuitproof.text.reading import Fields, read_bytes, read_toml, reading, reading_part


@dataclass(frozen=True, slots=True, kw_only=True)
class Therapy:
    """How models with programs are healed, under every objective alike but for its terms."""

    plan: TrainingPlan
    draw: Draw
    weighings: Mapping[Treatment, Weighing]

    def seeded(self, seed: int) -> "Therapy":
        """Return the same with another seed."""
        return replace(self, plan=replace(self.plan, seed=seed), draw=replace(self.draw, seed=seed))


@dataclass(frozen=True, slots=True, kw_only=True)
class DistillationRecipe:
    """Everything that a distillation depends on."""

    name: str
    source: Recipe
    """How the neural models are trained, but for their seeds."""
    tasks: tuple[Task, ...]
    seeds: tuple[int, ...]
    method: Method
    """How circuits are extracted, before programs and after healing."""
    bounds: Bounds
    """Within what a program is looked for, and what must agree with it installed."""
    therapy: Therapy
    gates: LesionGates
    epsilon: Fraction
    """The perturbation that the final circuits must withstand."""
    digest: Digest
    """The digest of the recipe, of its source and of the files that this names."""

    def with_seeds(self, seeds: Sequence[int]) -> "DistillationRecipe":
        """Return the same recipe for other seeds, which makes its runs other runs."""
        chosen = _seeds(list(seeds), "seeds")
        digest = digest_json([str(self.digest), list(chosen)])
        return replace(self, seeds=chosen, digest=digest)

    def source_of(self, seed: int) -> Recipe:
        """Return the recipe of one neural model."""
        digest = digest_json([str(self.source.digest), seed])
        return replace(self.source, plan=replace(self.source.plan, seed=seed), digest=digest)


def load_distillation_recipe(path: Path) -> DistillationRecipe:
    """Read the recipe of a distillation; paths in it are relative to its own folder."""
    with reading(read_toml(path), path.name) as fields:
        source = load_recipe(path.parent / fields.text("source"))
        with reading_part(fields, "extraction") as part:
            method = _read_method(part)
        with reading_part(fields, "synthesis") as part:
            bounds = _read_bounds(part)
        with reading_part(fields, "healing") as part:
            therapy = _read_therapy(part)
        with reading_part(fields, "gates") as part:
            gates = LesionGates(part.number("lesion_kl", above=0), part.rational("lesion_right"))
            epsilon = _read_epsilon(part)
        return DistillationRecipe(
            name=fields.text("name"),
            source=source,
            tasks=_tasks(source, fields.path("source")),
            seeds=_seeds(fields.items("seeds"), fields.path("seeds")),
            method=method,
            bounds=bounds,
            therapy=therapy,
            gates=gates,
            epsilon=epsilon,
            digest=digest_json([str(digest_bytes(read_bytes(path))), str(source.digest)]),
        )


def _tasks(source: Recipe, where: str) -> tuple[Task, ...]:
    if not isinstance(source.source, TasksSource):
        raise InputError(f"{where} is {source.name!r}, which trains on a text; want one that trains on tasks")
    return source.source.tasks


def _seeds(entries: Sequence[object], where: str) -> tuple[int, ...]:
    seeds = tuple(
        read_seed(Fields({"seed": entry}, f"{where}[{place}]")) for place, entry in enumerate(entries)
    )
    if not seeds or len(set(seeds)) != len(seeds):
        raise InputError(f"{where} are {list(seeds)}, want at least one, each once")
    return seeds


def _read_method(fields: Fields) -> Method:
    method = replace(read_method(fields), rule=fields.choice("rule", Rule))
    if method.objective is not Objective.MODEL:
        raise InputError(
            f"{fields.path('objective')} is {method.objective}, want model: migration asks what a model does"
        )
    return method


def _read_bounds(fields: Fields) -> Bounds:
    grammar = Grammar(
        rules=fields.integer("rules", least=1),
        conditions=fields.integer("conditions", least=1),
        members=fields.integer("members", least=1),
    )
    return Bounds(
        grammar=grammar,
        scope=fields.choice("scope", Scope),
        budget=fields.integer("budget", least=1),
    )


def _read_therapy(fields: Fields) -> Therapy:
    weighings: dict[Treatment, Weighing] = {}
    for treatment in Treatment:
        with reading_part(fields, treatment) as part:
            weights = {term: part.number(term, above=0) for term in TERMS[treatment]}
        weighings[treatment] = Weighing(treatment, weights)
    keep = fields.number("keep", above=0)
    if keep >= 1:
        raise InputError(f"{fields.path('keep')} is {keep}, want a probability below 1")
    return Therapy(
        plan=read_plan(fields, 0, is_fresh=False),
        draw=Draw(seed=0, batch=fields.integer("batch", least=1), keep=keep),
        weighings=weighings,
    )


def _read_epsilon(fields: Fields) -> Fraction:
    epsilon = fields.rational("epsilon")
    if epsilon <= 0:
        raise InputError(f"{fields.path('epsilon')} is {epsilon}, want a positive rational such as 1/100")
    return epsilon
