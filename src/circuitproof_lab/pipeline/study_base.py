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
from circuitproof_lab.pipeline.engine import follow, written
from circuitproof_lab.pipeline.localisation import begin_gates, generations
from circuitproof_lab.pipeline.prompts import PromptSource, TaskPrompts
from circuitproof_lab.pipeline.protocol import Protocol, Templates
from circuitproof_lab.pipeline.stages.remove_norms import remove_norms
from circuitproof_lab.pipeline.stages.train import CORPUS, MODEL, material_of
from circuitproof_lab.pipeline.stages.viability import viability_of
from circuitproof_lab.pipeline.study_recipe import ListedTask, Study
from circuitproof_lab.pipeline.study_work import StudySite, StudyWork, TaskReport, TaskStudy
from circuitproof_lab.records.audit import QUALITY, BaseQuality
from circuitproof_lab.records.viability import VIABILITY, Viability
from circuitproof_lab.train.corpus import DocumentUse
from circuitproof_lab.train.data import CorpusData
from circuitproof_lab.train.windows import Windows


def make_base(work: StudyWork) -> StudyWork:
    """Train the base and remove its norms, unless one was given."""
    if work.base is not None:
        return work
    run, folder = work.run, work.run.folder
    run.tell("training the base and removing its norms")
    remove_norms(work.study.removal, None, folder / "base", work.watchers, folder / CORPUS)
    return replace(work, base=folder / "base" / MODEL)


def read_base(work: StudyWork) -> StudyWork:
    """Measure the base on held-out text; that says what an artifact may lose there."""
    base, recipe = written(work.base, "base"), work.study.removal.source
    stored, tokenizer = load_model(base), work.corpus.tokenizer
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
    """Ask whether the base does each task at all, and what of its pool is left."""
    return replace(work, tasks=tuple(_asked(work, task) for task in work.study.tasks))


def _asked(work: StudyWork, task: Templates | ListedTask) -> TaskStudy:
    site, study, pool = written(work.site, "base"), work.study, _pool(work, task)
    rule, run = study.domain, work.run.within(pool.task)
    measure = partial(viability_of, site.stored.model, pool, rule.narrow, rule.least, study.prompts)
    viable = run.record(VIABILITY, Viability, measure, f"{pool.task}: does the model do it?")
    left = pool.of_strata(viable.kept) if viable.is_viable else pool
    report = TaskReport(task=viable.task, viability=viable)
    return TaskStudy(study=study, site=site, run=run, pool=left, report=report)


def _pool(work: StudyWork, task: Templates | ListedTask) -> PromptSource:
    study, site = work.study, written(work.site, "base")
    if isinstance(task, Templates):
        encoder = written(work.corpus.tokenizer, "tokenizer")
        return task.generator(encoder, study.salt, Pool(study.domain.fillings, study.domain.strata))
    return TaskPrompts(load_listed_task(str(task.file), site.stored.alphabet), study.salt)


def open_gates(work: StudyWork) -> StudyWork:
    """Localise all tasks that the base does, generation by generation; nothing is proved yet."""
    viable = [task for task in work.tasks if task.report.viability.is_viable]
    if not viable:
        return work
    declared = protocol_of(work.study, written(work.site, "base"), [task.pool for task in viable])
    with begin_gates(declared, work.run.folder / "localisation", tell=work.run.tell) as job:
        done, _ = follow(generations(declared), job)
    return replace(
        work,
        tasks=tuple(
            task.reporting(outcomes=tuple(one for one in done.outcomes if one.task == task.pool.task))
            for task in work.tasks
        ),
    )


def protocol_of(study: Study, site: StudySite, pools: Sequence[PromptSource]) -> Protocol:
    """Return the protocol by which a study opens the gates of some tasks."""
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
    )
