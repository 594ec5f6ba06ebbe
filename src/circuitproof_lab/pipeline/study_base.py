"""The stages that all tasks of a study go through together: the base, whether it does them, and the gates."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import log

from circuitproof.errors import InputError
from circuitproof.files.canonical import digest_file, digest_together
from circuitproof.files.sealed import MANIFEST
from circuitproof.nn.checkpoint import load_model
from circuitproof.tasks.generator import Pool
from circuitproof.tasks.loading import load_listed_task
from circuitproof_lab.pipeline.construction_recipe import QualityBudget
from circuitproof_lab.pipeline.engine import RunStage, written
from circuitproof_lab.pipeline.ledger import Ledger
from circuitproof_lab.pipeline.localisation import LEDGER, declared_run
from circuitproof_lab.pipeline.norm_recipe import NormRecipe
from circuitproof_lab.pipeline.prompts import PromptSource, TaskPrompts
from circuitproof_lab.pipeline.protocol import Protocol, Templates
from circuitproof_lab.pipeline.recipe import Recipe
from circuitproof_lab.pipeline.splits import Development, Rounds, Split, deal_rounds
from circuitproof_lab.pipeline.stages.domain import narrowed, spare_rows
from circuitproof_lab.pipeline.stages.gate import GatedRun
from circuitproof_lab.pipeline.stages.remove_norms import remove_norms
from circuitproof_lab.pipeline.stages.train import CORPUS, MODEL, material_of, train_recipe
from circuitproof_lab.pipeline.stages.viability import viability_of
from circuitproof_lab.pipeline.study_recipe import ListedTask, Study
from circuitproof_lab.pipeline.study_work import StudySite, StudyWork, TaskReport, TaskStudy
from circuitproof_lab.records.audit import QUALITY, BaseQuality
from circuitproof_lab.records.viability import VIABILITY, Viability
from circuitproof_lab.train.corpus import DocumentUse
from circuitproof_lab.train.data import CorpusData
from circuitproof_lab.train.windows import Windows

_BASE = "base"


def remove_base_norms(recipe: NormRecipe, work: StudyWork) -> StudyWork:
    """Train the base and remove its norms, unless one was given."""
    if work.base is not None:
        return work
    run, folder = work.run, work.run.folder
    run.tell("training the base and removing its norms")
    remove_norms(recipe, None, folder / _BASE, work.watchers, folder / CORPUS, run.device)
    return replace(work, base=folder / _BASE / MODEL)


def train_base(recipe: Recipe, work: StudyWork) -> StudyWork:
    """Train the base, which stays as it is, unless one was given."""
    if work.base is not None:
        return work
    run, folder = work.run, work.run.folder
    run.tell("training the base")
    watcher = work.watchers.source
    train_recipe(recipe, folder / _BASE, watcher, corpus=folder / CORPUS, device=run.device)
    return replace(work, base=folder / _BASE / MODEL)


def read_base(work: StudyWork) -> StudyWork:
    """Measure the base on held-out text; that says what an artifact may lose there."""
    base, recipe = written(work.base, "base"), work.study.source
    stored, tokenizer = load_model(base, work.run.device), work.corpus.tokenizer
    if tokenizer is None or stored.alphabet != tokenizer.alphabet:
        raise InputError(
            f"{base} has other tokens than the study's corpus; give a model that was trained on it"
        )
    held_out = DocumentUse.HELD_OUT
    windows = Windows(work.corpus.part(held_out), recipe.architecture.context, held_out)
    text = QualityBudget(windows, work.study.corpus.batch, float("inf"))

    def measure() -> BaseQuality:
        loss = text.loss(stored.model)
        return BaseQuality(loss, loss + log(work.study.budget))

    quality = work.run.record(QUALITY, BaseQuality, measure)
    data = material_of(replace(recipe, plan=work.study.healing.plan), work.run.folder / CORPUS).data
    assert isinstance(data, CorpusData)  # noqa: S101  # a study has a corpus
    site = StudySite(base, stored, replace(text, budget=quality.budget), data)
    return replace(work, site=site, quality=quality)


def ask_base(work: StudyWork) -> StudyWork:
    """Deal out the gates, and ask whether the base does each task on the prompts that are in none of them.

    Which prompts are gates depends on the recipe alone; everything else of a pool enters the ledger as looked
    at, and development data is what of it is left by the rule of the recipe.
    """
    pools = [_pool(work, task) for task in work.study.tasks]
    declared = _protocol(work.study, written(work.site, "base"), pools)
    run = work.run.within("localisation")
    dealt = [deal_rounds(declared, pool) for pool in pools]
    job = declared_run(declared, dealt, run, Ledger(run.folder / LEDGER))
    tasks = tuple(_asked(work, job, rounds) for rounds in dealt)
    viable = tuple(task.rounds for task in tasks if task.report.viability.is_viable)
    return replace(work, tasks=tasks, gated=replace(job, rounds=viable))


def _asked(work: StudyWork, job: GatedRun, rounds: Rounds) -> TaskStudy:
    site, study, source = written(work.site, "base"), work.study, rounds.generator
    pool = Split(f"{source.task} pool without gates", source, spare_rows(rounds))
    job.ledger.view(job.protocol.digest, Development((pool,)))
    site.stored.declaration.refuse_unfit(source.make_task(pool.rows))
    rule, run = study.domain, work.run.within(source.task)
    measure = partial(viability_of, site.stored.model, pool, rule.narrow, rule.least, study.prompts)
    viable = run.record(VIABILITY, Viability, measure, f"{source.task}: does the model do it?")
    left = narrowed(rounds, viable.kept) if viable.is_viable else rounds
    report = TaskReport(task=viable.task, viability=viable)
    return TaskStudy(study=study, site=site, run=run, rounds=left, report=report, job=job)


def _pool(work: StudyWork, task: Templates | ListedTask) -> PromptSource:
    study, site = work.study, written(work.site, "base")
    if isinstance(task, Templates):
        encoder = written(work.corpus.tokenizer, "tokenizer")
        return task.generator(encoder, study.salt, Pool(study.domain.fillings, study.domain.strata))
    return TaskPrompts(load_listed_task(str(task.file), site.stored.alphabet), study.salt)


def _protocol(study: Study, site: StudySite, pools: Sequence[PromptSource]) -> Protocol:
    digests = (digest_file(site.base / MANIFEST), *(pool.digest for pool in pools))
    return Protocol(
        name=study.name,
        model=site.base,
        generators=tuple(pools),
        method=study.method,
        generations=study.generations,
        stop_when_exact=True,
        epsilon=study.epsilon,
        digest=digest_together(study.digest, *digests),
        programs=study.search,
    )


def in_gates(stage: RunStage[GatedRun]) -> RunStage[StudyWork]:
    """Return a stage of a localisation as one of a study, for all tasks that the base does."""

    def act(work: StudyWork) -> StudyWork:
        gated = written(work.gated, "gates")
        return replace(work, gated=stage.act(gated) if gated.rounds else gated)

    return RunStage(stage.name, act)
