"""A study of a language model: from text to a proof about an artifact, with every gate on the way.

The base is trained and loses its norms; each task must be done by the base itself; circuits are extracted in
generations with gates that are opened once; on the declared domain, which is all that was looked at, programs
take the place of the circuit's heads; their readouts are calibrated under a budget of perplexity, audited and
proved; and the whole model is healed, to see whether an objective alone keeps programs in use. Whatever stops
a task is its result.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log
from pathlib import Path

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.readers import reads_prompt
from circuitproof.circuits.spelling import load_circuit
from circuitproof.errors import ExitCode, InputError
from circuitproof.files.canonical import digest_file, digest_together
from circuitproof.files.devices import CPU, Device
from circuitproof.files.run import Run, Tell, begin_run, silent
from circuitproof.files.sealed import MANIFEST
from circuitproof.find.choices import Objective
from circuitproof.forward.frozen import open_model
from circuitproof.models.declaration import ProgramHeads
from circuitproof.nn.checkpoint import StoredModel, load_model
from circuitproof.proof.properties.catalogue import four_properties
from circuitproof.proof.verdict import EXIT_CODES, Verdict, worst
from circuitproof.tasks.generator import Pool
from circuitproof.tasks.loading import load_listed_task
from circuitproof.tasks.task import Task
from circuitproof_lab.distill.heal import TextTerm
from circuitproof_lab.distill.install import install
from circuitproof_lab.distill.lesion import Behaviour
from circuitproof_lab.pipeline.construction import Artifact, construct
from circuitproof_lab.pipeline.construction_recipe import Blueprint, Construction, QualityBudget
from circuitproof_lab.pipeline.localisation import open_gates
from circuitproof_lab.pipeline.prompts import PromptSource, TaskPrompts
from circuitproof_lab.pipeline.protocol import Protocol, Templates
from circuitproof_lab.pipeline.sizes import model_size, training_size
from circuitproof_lab.pipeline.stages.check import check_bundle
from circuitproof_lab.pipeline.stages.extract import CircuitSearch, extract_circuit
from circuitproof_lab.pipeline.stages.gate import rounds_of
from circuitproof_lab.pipeline.stages.heal import HealingCourse, HealingGates, examine_healed, heal
from circuitproof_lab.pipeline.stages.limits import prove_beyond
from circuitproof_lab.pipeline.stages.remove_norms import Watchers, remove_norms
from circuitproof_lab.pipeline.stages.train import CORPUS, MODEL, material_of
from circuitproof_lab.pipeline.stages.viability import viability_of
from circuitproof_lab.pipeline.study_programs import Installed, extract_again, find_programs
from circuitproof_lab.pipeline.study_recipe import ListedTask, Study
from circuitproof_lab.records.audit import QUALITY, BaseQuality
from circuitproof_lab.records.checked import CheckedBundle
from circuitproof_lab.records.gate import GateOutcome
from circuitproof_lab.records.healing import Healed
from circuitproof_lab.records.limits import Beyond
from circuitproof_lab.records.viability import VIABILITY, Viability
from circuitproof_lab.train.corpus import DocumentUse
from circuitproof_lab.train.data import CorpusData
from circuitproof_lab.train.tokenised import TokenisedCorpus, open_corpus
from circuitproof_lab.train.windows import Windows


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReport:
    """How far a task came, and what was found on the way."""

    task: str
    viability: Viability
    outcomes: tuple[GateOutcome, ...] = ()
    """Of the gates that were opened."""
    circuit: Circuit | None = None
    """Extracted on the whole declared domain."""
    installed: Installed | None = None
    again: Circuit | None = None
    """Extracted again from the circuit of the programs."""
    artifact: Artifact | None = None
    checked: CheckedBundle | None = None
    beyond: Beyond | None = None
    healed: Healed | None = None
    stopped: str | None = None
    """Why the task ended early, in one sentence."""


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


def _verdict(report: TaskReport) -> Verdict:
    if report.artifact is None or report.checked is None or not report.checked.is_valid:
        return Verdict.UNDECIDED
    return report.artifact.proof.verdict


@dataclass(frozen=True, slots=True)
class _StudySite:
    """What all tasks of a study share."""

    study: Study
    run: Run
    base: Path
    stored: StoredModel
    quality: QualityBudget
    data: CorpusData


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
        open_model(base).declaration.refuse_inexact("a study")
    sizes = study.removal.source.architecture
    size = 4 * training_size(sizes) + 4 * len(study.tasks) * model_size(sizes)
    digest = study.digest if base is None else digest_together(study.digest, digest_file(base / MANIFEST))
    with begin_run(out, study.name, digest, size, tell, device) as run:
        tell("reading the corpus")
        corpus = open_corpus(study.corpus, out / CORPUS)
        made = base or _make_base(study, run, watchers or Watchers())
        site = _site(study, run, made, corpus)
        found = run.record(QUALITY, BaseQuality, lambda: _base_quality(site))
        site = replace(site, quality=replace(site.quality, budget=found.budget))
        return StudyReport(made, found, _tasks(site, corpus))


def _make_base(study: Study, run: Run, watchers: Watchers) -> Path:
    run.tell("training the base and removing its norms")
    remove_norms(study.removal, None, run.folder / "base", watchers, run.folder / CORPUS, run.device)
    return run.folder / "base" / MODEL


def _site(study: Study, run: Run, base: Path, corpus: TokenisedCorpus) -> _StudySite:
    stored, recipe = load_model(base, run.device), study.removal.source
    if corpus.tokenizer is None or stored.alphabet != corpus.tokenizer.alphabet:
        raise InputError(
            f"{base} has other tokens than the study's corpus; give a model that was trained on it"
        )
    windows = Windows(corpus.part(DocumentUse.HELD_OUT), recipe.architecture.context, DocumentUse.HELD_OUT)
    data = material_of(replace(recipe, plan=study.healing.plan), run.folder / CORPUS).data
    assert isinstance(data, CorpusData)  # noqa: S101  # a study has a corpus
    return _StudySite(
        study, run, base, stored, QualityBudget(windows, study.corpus.batch, float("inf")), data
    )


def _base_quality(site: _StudySite) -> BaseQuality:
    loss = site.quality.loss(site.stored.model)
    return BaseQuality(loss, loss + log(site.study.budget))


def _tasks(site: _StudySite, corpus: TokenisedCorpus) -> tuple[TaskReport, ...]:
    """Ask first whether the base does each task, then open the gates of those that it does, and go on."""
    pools = [_pool(site, task, corpus) for task in site.study.tasks]
    viable = [_viability(site, pool) for pool in pools]
    left = [pool.of_strata(one.kept) for pool, one in zip(pools, viable, strict=True) if one.is_viable]
    gates = site.run.folder / "localisation"
    outcomes = open_gates(_protocol(site, left), gates, site.run.tell, site.run.device) if left else ()
    return tuple(_task(site, one, pool, outcomes) for pool, one in zip(pools, viable, strict=True))


def _pool(site: _StudySite, task: Templates | ListedTask, corpus: TokenisedCorpus) -> PromptSource:
    salt = site.study.salt
    if isinstance(task, Templates):
        assert corpus.tokenizer is not None  # noqa: S101  # a study's corpus has one
        pool = Pool(site.study.domain.fillings, site.study.domain.strata)
        return task.generator(corpus.tokenizer, salt, pool)
    return TaskPrompts(load_listed_task(str(task.file), site.stored.alphabet), salt)


def _viability(site: _StudySite, pool: PromptSource) -> Viability:
    rule, run = site.study.domain, site.run.within(pool.task)
    measure = partial(viability_of, site.stored.model, pool, rule.narrow, rule.least, site.study.prompts)
    return run.record(VIABILITY, Viability, measure, f"{pool.task}: does the model do it?")


def _protocol(site: _StudySite, pools: Sequence[PromptSource]) -> Protocol:
    study = site.study
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


def _task(
    site: _StudySite, viable: Viability, pool: PromptSource, outcomes: Sequence[GateOutcome]
) -> TaskReport:
    """Build, prove and check the artifact of one task on its declared domain."""
    report = TaskReport(task=viable.task, viability=viable)
    if not viable.is_viable:
        return replace(report, stopped=f"not viable: {viable.sentence}")
    pool = pool.of_strata(viable.kept)
    rounds = rounds_of(_protocol(site, [pool]), pool)
    domain, run = rounds.everything(len(site.study.generations) - 1), site.run.within(pool.task)
    circuit = _extracted(site, run, domain)
    own = tuple(one for one in outcomes if one.task == pool.task)
    behaviour, study = Behaviour(domain, circuit), site.study
    installed = find_programs(run, site.stored.model, behaviour, study.grammar, study.deadline)
    report = replace(report, outcomes=own, circuit=circuit, installed=installed)
    if not installed.programs:
        return replace(report, stopped="no head of the circuit has a program in bounds")
    if not reads_prompt(installed.circuit_of(behaviour), installed.programs):
        return replace(report, stopped="without heads that have no program, the circuit reads no prompt")
    again = extract_again(run, site.stored.model, behaviour, installed)
    report, programs = replace(report, again=again), installed.programs_of(again)
    if not programs:
        return replace(report, stopped="extracted again, the circuit reads no program")
    return _build(site, run, report, Behaviour(domain, again), programs)


def _build(
    site: _StudySite, run: Run, report: TaskReport, behaviour: Behaviour, programs: ProgramHeads
) -> TaskReport:
    """Heal the model with the programs of a circuit; beside that calibrate, prove and check its artifact."""
    study = site.study
    report = replace(report, healed=_healed(site, run.within("healing"), behaviour, programs))
    try:
        artifact = _constructed(site, run, behaviour, programs)
    except InputError as error:  # no rung passes: that is a result
        return replace(report, stopped=str(error))
    telling = f"{artifact.task}: checking the bundle"
    checked = check_bundle(run, artifact.proof.bundle, artifact.model, site.base, telling)
    report = replace(report, artifact=artifact, checked=checked)
    claim = artifact.proof.battery.claim
    four = replace(claim, properties=four_properties(study.epsilon))
    return replace(report, beyond=prove_beyond(run.within("beyond"), four, study.longest, study.deadline))


def _extracted(site: _StudySite, run: Run, domain: Task) -> Circuit:
    """Return the circuit of the whole domain, by the right answers, at the largest threshold."""
    method = site.study.method
    method = replace(method, objective=Objective.PROGRAM, thresholds=(max(method.thresholds),))
    search, telling = (
        CircuitSearch(site.base, domain, method),
        f"{domain.name}: extracting on the whole domain",
    )
    return load_circuit(extract_circuit(run, search, telling=telling))


def _healed(site: _StudySite, run: Run, behaviour: Behaviour, programs: ProgramHeads) -> Healed:
    """Heal the whole model with its text beside the task, and audit it."""
    healing, steps = site.study.healing, site.study.healing.plan.steps
    plan = HealingCourse(healing.plan, healing.draw, healing.weighing, TextTerm(site.data, healing.text))

    def start() -> StoredModel:
        return replace(site.stored, model=install(site.stored.model, programs))

    model = heal(run, start, [behaviour], plan, f"{behaviour.task.name}: healing for {steps} steps")
    return examine_healed(run, model, behaviour, HealingGates(site.study.gates, site.quality), steps)


def _constructed(site: _StudySite, run: Run, behaviour: Behaviour, programs: ProgramHeads) -> Artifact:
    study = site.study
    construction = Construction(
        name=study.name,
        base=site.base,
        blueprints=(Blueprint(behaviour.task, programs, behaviour.circuit),),
        rungs=study.ladder.rungs,
        calibration=study.ladder.calibration,
        choice=study.ladder.choice,
        quality=site.quality,
        epsilon=study.epsilon,
        anchors=study.anchors,
        digest=digest_together(study.digest, behaviour.task.digest, behaviour.circuit.digest),
        text=TextTerm(site.data, study.ladder.text),
    )
    (artifact,) = construct(construction, run.folder / "artifact", run.tell, run.device)
    return artifact
