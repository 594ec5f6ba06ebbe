"""A study of a language model: from text to a proof about an artifact, with every gate on the way.

The base is trained and loses its norms, or stays an ordinary model, of which decisions are enclosed where an
exact one has exact decisions; each task must be done by the base itself; circuits are extracted in
generations with gates that are opened once; on the declared domain, which is all that was looked at, programs
take the place of the circuit's heads; their readouts are calibrated under a budget of perplexity, audited and
proved; and the whole model is healed, to see whether an objective alone keeps programs in use. Whatever stops
a task is its result.
"""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from circuitproof.errors import ExitCode
from circuitproof.files.canonical import digest_file, digest_together
from circuitproof.files.devices import CPU, Device
from circuitproof.files.run import Tell, begin_run, silent
from circuitproof.files.sealed import MANIFEST
from circuitproof.forward.frozen import open_model
from circuitproof.proof.verdict import EXIT_CODES, Verdict, worst
from circuitproof_lab.pipeline import construction
from circuitproof_lab.pipeline.engine import RunStage, StageName, follow, written
from circuitproof_lab.pipeline.environment import environment
from circuitproof_lab.pipeline.localisation import generations
from circuitproof_lab.pipeline.norm_recipe import NormRecipe
from circuitproof_lab.pipeline.sizes import model_size, training_size
from circuitproof_lab.pipeline.stages.remove_norms import Watchers
from circuitproof_lab.pipeline.stages.train import CORPUS
from circuitproof_lab.pipeline.study_base import (
    ask_base,
    in_gates,
    read_base,
    remove_base_norms,
    train_base,
)
from circuitproof_lab.pipeline.study_end import end_of
from circuitproof_lab.pipeline.study_recipe import Study
from circuitproof_lab.pipeline.study_tasks import (
    begin_artifact,
    check,
    declare_domain,
    extract,
    heal_whole,
    in_artifact,
    install_again,
    limits,
    regress_blocks,
    synthesise,
)
from circuitproof_lab.pipeline.study_work import StudyWork, TaskReport, TaskStudy
from circuitproof_lab.records.audit import BaseQuality
from circuitproof_lab.records.environment import ENVIRONMENT, Environment
from circuitproof_lab.records.study import STUDY, EndedStudy
from circuitproof_lab.train.tokenised import open_corpus


def stages_of(study: Study) -> tuple[RunStage[StudyWork], ...]:
    """Return what all tasks of a study go through together."""
    return (
        _first_stage(study),
        RunStage(StageName.AUDIT, read_base),
        RunStage(StageName.VIABILITY, ask_base),
        *map(in_gates, generations(len(study.generations), selects=True)),
    )


def _first_stage(study: Study) -> RunStage[StudyWork]:
    """Return how the base is made: trained, and its norms removed unless it is to stay as it is."""
    recipe = study.base_recipe
    if isinstance(recipe, NormRecipe):
        return RunStage(StageName.REMOVE_NORMS, partial(remove_base_norms, recipe))
    return RunStage(StageName.TRAIN, partial(train_base, recipe))


OF_EACH_TASK: tuple[RunStage[TaskStudy], ...] = (
    RunStage(StageName.DOMAIN, declare_domain),
    RunStage(StageName.EXTRACT, extract),
    RunStage(StageName.REGRESS, regress_blocks),
    RunStage(StageName.SYNTHESISE, synthesise),
    RunStage(StageName.EXTRACT, install_again),
    RunStage(StageName.HEAL, heal_whole),
    RunStage(StageName.INSTALL, begin_artifact),
    *(in_artifact(stage) for stage in construction.STAGES),
    RunStage(StageName.CHECK, check),
    RunStage(StageName.LIMITS, limits),
)
"""What each task goes through after that, by itself."""


@dataclass(frozen=True, slots=True)
class StudyReport:
    """A finished study."""

    base: Path
    quality: BaseQuality
    tasks: tuple[TaskReport, ...]

    @property
    def exit_code(self) -> ExitCode:
        """Return how it ended: good only if every task has an artifact that is proved and checked."""
        return EXIT_CODES[worst([_verdict(report) for report in self.tasks])]

    @property
    def operations(self) -> int | None:
        """Return how much work the checker is to be allowed, where that is more than it allows by itself."""
        allowed = (report.checked.operations for report in self.tasks if report.checked is not None)
        return max((one for one in allowed if one is not None), default=None)


def _verdict(report: TaskReport) -> Verdict:
    if report.artifact is None or report.checked is None or not report.checked.is_valid:
        return Verdict.UNDECIDED
    return report.artifact.proof.verdict


def run_study(  # noqa: PLR0913, PLR0917  # what is studied, and what its run works with
    study: Study,
    out: Path,
    base: Path | None = None,
    tell: Tell = silent,
    watchers: Watchers | None = None,
    device: Device = CPU,
) -> StudyReport:
    """Run a study in `out`, on a given base or one that it makes; what is finished is not done again."""
    if base is not None:
        study.refuse_unfit_base(open_model(base).declaration, str(base))
    sizes = study.source.architecture
    size = 4 * training_size(sizes) + 4 * len(study.tasks) * model_size(sizes)
    digest = study.digest if base is None else digest_together(study.digest, digest_file(base / MANIFEST))
    with begin_run(out, study.name, digest, size, tell, device) as run:
        run.record(ENVIRONMENT, Environment, environment)
        tell("reading the corpus")
        corpus = open_corpus(study.corpus, out / CORPUS)
        begun = StudyWork(study=study, run=run, corpus=corpus, watchers=watchers or Watchers(), base=base)
        work, _ = follow(stages_of(study), begun)
        reports = tuple(_reported(work, task) for task in work.tasks)
        made = written(work.base, "base")
        run.record(STUDY, EndedStudy, lambda: end_of(made, reports, out))
        return StudyReport(made, written(work.quality, "quality"), reports)


def _reported(work: StudyWork, task: TaskStudy) -> TaskReport:
    outcomes = written(work.gated, "gates").outcomes_of(task.rounds)
    done, stopped = follow(OF_EACH_TASK, task.reporting(outcomes=outcomes))
    return replace(done.report, stopped=stopped)
