"""Recipes of studies: from text to a proof about an artifact of a trained language model."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from circuitproof.errors import InputError
from circuitproof.files.canonical import Digest, digest_file, digest_together
from circuitproof.files.codec import Codec, FolderName, Key, Positive, PositiveInt, PositiveRational, Range
from circuitproof.files.kinds import FileKind, of_kind
from circuitproof.files.reading import Fields, about, read_toml, reading, reading_part
from circuitproof.find.choices import SelectionRule
from circuitproof.find.extraction import ExtractionMethod
from circuitproof.models.declaration import NO_PROGRAMS, Declaration
from circuitproof.programs.candidates import Grammar
from circuitproof.proof.inexact import refuse_valueless
from circuitproof_lab.distill.calibrate import Calibration, Rung, refuse_aimless
from circuitproof_lab.distill.heal import TERMS, Draw, Treatment, Weighing
from circuitproof_lab.distill.migrate import LesionGates
from circuitproof_lab.pipeline.construction_recipe import RungChoice, read_rungs
from circuitproof_lab.pipeline.norm_recipe import NormRecipe, codec_with_removals
from circuitproof_lab.pipeline.protocol import Generation, ProgramBounds, Templates
from circuitproof_lab.pipeline.recipe import Recipe, refuse_names
from circuitproof_lab.records.viability import Narrowing
from circuitproof_lab.train.loop import TrainingPlan
from circuitproof_lab.train.tokenised import ByteTokens, CorpusSource


@dataclass(frozen=True, slots=True)
class ListedTask:
    """A task whose prompts a file lists; its strata are what may be taken away as a whole."""

    file: Path

    @property
    def name(self) -> str:
        """Return the name under which the task's part of a run stands: its file's."""
        return self.file.stem


@dataclass(frozen=True, slots=True)
class DomainRule:
    """Which prompts there are before the model is asked, and what becomes of those that it decides wrong."""

    fillings: PositiveInt
    """In how many ways each template is filled, each of them with every opener."""
    strata: tuple[str, ...]
    """The slots whose words part the prompts of a template into strata."""
    narrow: Narrowing
    least: PositiveInt
    """With fewer fillings left, a template goes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreHealing:
    """How a model with programs is healed as a whole, with its text beside the task."""

    plan: TrainingPlan
    draw: Draw
    weighing: Weighing
    text: Positive
    """The weight of the loss on text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder:
    """How programs are calibrated, and which rung becomes the model of record."""

    rungs: tuple[Rung, ...]
    calibration: Calibration
    choice: Annotated[RungChoice, Key("choose")]
    joint_necessity: PositiveInt
    """On how many prompts at least model and circuit must need all programs together: a gate of each rung."""
    text: Positive
    """The weight of the loss on text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """Everything that a study depends on, but for a base that is given instead of made."""

    name: FolderName
    salt: str
    base_recipe: NormRecipe | Recipe
    """How the base is made: a model is trained on text, and loses its norms or stays as it is."""
    domain: DomainRule
    tasks: tuple[Templates | ListedTask, ...]
    method: ExtractionMethod
    """How circuits are extracted; each generation has its own rule."""
    generations: tuple[Generation, ...]
    search: ProgramBounds
    """Within what programs are looked for, before each gate and on the whole domain."""
    healing: CoreHealing
    gates: LesionGates
    ladder: Ladder
    budget: Annotated[float, Range(least=1)]
    """What perplexity may become, times that of the base."""
    epsilon: PositiveRational
    anchors: PositiveInt
    longest: PositiveInt
    """Limits: how long the prompts of the pattern may be."""
    digest: Digest

    @property
    def prompts(self) -> int:
        """Return how many prompts the generations need together; they are the declared domain."""
        return sum(one.development + one.gate for one in self.generations)

    @property
    def source(self) -> Recipe:
        """Return how the base is trained before norms are removed, if they are."""
        return self.base_recipe.source if isinstance(self.base_recipe, NormRecipe) else self.base_recipe

    @property
    def training_steps(self) -> int:
        """Return how many steps it takes to make the base."""
        steps, recipe = self.source.plan.steps, self.base_recipe
        return steps + recipe.plan.steps if isinstance(recipe, NormRecipe) else steps

    @property
    def corpus(self) -> CorpusSource:
        source = self.source.source
        assert isinstance(source, CorpusSource)  # noqa: S101  # refused otherwise when it is read
        return source

    def refuse_unfit_base(self, declared: Declaration, where: str) -> None:
        """Refuse a base on which the last stages could only fail, after its gates are burned."""
        refuse_valueless(declared, "a study")
        with about(where):
            refuse_aimless(declared.architecture, self.ladder.calibration.aim)


def load_study(path: Path) -> Study:
    """Read a study; paths in it are relative to its own folder."""
    codec = codec_with_removals(path.parent)
    with reading(of_kind(read_toml(path), path.name, FileKind.STUDY), path.name) as fields:
        base = _read_base(codec, fields)
        tasks = fields.each("tasks", lambda part: _read_task(codec, part))
        with reading_part(fields, "localisation") as part:
            method = codec.whole(ExtractionMethod, part, rule=SelectionRule.SPARSITY)
        with reading_part(fields, "synthesis") as part:
            search = ProgramBounds(codec.record(Grammar, part), part.number("deadline", above=0))
        with reading_part(fields, "healing") as part:
            healing = _read_healing(codec, part, base.plan.seed)
        with reading_part(fields, "calibration") as part:
            rungs, calibration = read_rungs(codec, part), codec.record(Calibration, part)
            ladder = codec.record(Ladder, part, rungs=rungs, calibration=calibration)
        files = [digest_file(task.file) for task in tasks if isinstance(task, ListedTask)]
        digest = digest_together(digest_file(path), base.digest, *files)
        tables = {"method": method, "healing": healing, "ladder": ladder, "search": search}
        study = codec.record(Study, fields, base_recipe=base, tasks=tasks, digest=digest, **tables)
    _refuse_misfit(study, path.name)
    return study


def _read_base(codec: Codec, fields: Fields) -> NormRecipe | Recipe:
    """Read how the base is made: by a removal of norms, or by a training alone."""
    if fields.has("removal") == fields.has("base"):
        found = "both removal and base" if fields.has("base") else "neither removal nor base"
        raise InputError(
            f"{fields.where} has {found}; want the recipe of a norm removal as removal, or that of a "
            "training as base, whose model stays as it is"
        )
    if fields.has("removal"):
        return codec.value(NormRecipe, fields, "removal")
    return codec.value(Recipe, fields, "base")


def _read_task(codec: Codec, fields: Fields) -> Templates | ListedTask:
    if fields.has("task"):
        return ListedTask(codec.value(Path, fields, "task"))
    return codec.record(Templates, fields)


def _read_healing(codec: Codec, fields: Fields, seed: int) -> CoreHealing:
    treatment = Treatment.CORE_AWARE
    terms = codec.value(Mapping[str, Positive], fields, "terms")
    known = {str(term): term for term in TERMS[treatment]}
    if terms.keys() != known.keys():
        raise InputError(f"{fields.path('terms')} are {', '.join(terms)}, want {', '.join(known)}")
    plan = codec.record(TrainingPlan, fields, seed=seed, initial_deviation=0.0)
    draw = codec.record(Draw, fields, seed=seed)
    weighing = Weighing(treatment, {known[name]: weight for name, weight in terms.items()})
    return codec.record(CoreHealing, fields, plan=plan, draw=draw, weighing=weighing)


def _refuse_misfit(study: Study, where: str) -> None:
    source, base = study.source.source, study.base_recipe
    if not isinstance(source, CorpusSource) or isinstance(source.tokenizer, ByteTokens):
        raise InputError(f"{where}: the base is trained on something else than text in tokens; want a corpus")
    if isinstance(base, Recipe):
        study.refuse_unfit_base(Declaration(base.architecture, NO_PROGRAMS, None), f"{where}.calibration")
    refuse_names([task.name for task in study.tasks], f"{where}.tasks")
    for task in study.tasks:
        slots = task.slots if isinstance(task, Templates) else study.domain.strata
        if unknown := [name for name in study.domain.strata if name not in slots]:
            raise InputError(f"{where}.domain.strata names {unknown[0]!r}, which is no slot of {task.name}")
    if not study.generations or study.generations[0].development < 1:
        raise InputError(f"{where}.generations[0].development is 0; the first generation has nothing else")
