"""The stages that each task of a study goes through by itself, from its declared domain to its limits."""

from dataclasses import replace

from circuitproof.circuits.readers import reads_prompt
from circuitproof.circuits.spelling import load_circuit
from circuitproof.files.canonical import digest_together
from circuitproof.find.choices import Objective
from circuitproof.nn.checkpoint import StoredModel
from circuitproof.proof.properties.catalogue import four_properties
from circuitproof_lab.distill.heal import TextTerm
from circuitproof_lab.distill.install import install
from circuitproof_lab.distill.lesion import Behaviour
from circuitproof_lab.pipeline.construction import artifact_of
from circuitproof_lab.pipeline.construction_recipe import Blueprint, Construction
from circuitproof_lab.pipeline.engine import RunStage, Stopped, written
from circuitproof_lab.pipeline.stages.blocks import regress
from circuitproof_lab.pipeline.stages.calibrate import ArtifactBuild
from circuitproof_lab.pipeline.stages.check import check_bundle
from circuitproof_lab.pipeline.stages.domain import declare_prompts
from circuitproof_lab.pipeline.stages.extract import CircuitSearch, extract_circuit
from circuitproof_lab.pipeline.stages.heal import HealingCourse, HealingGates, examine_healed, heal
from circuitproof_lab.pipeline.stages.limits import find_limits
from circuitproof_lab.pipeline.stages.synthesise import decide_exactly, extract_again, search_programs
from circuitproof_lab.pipeline.study_work import TaskStudy


def declare_domain(work: TaskStudy) -> TaskStudy:
    """Declare all prompts of all generations the domain, if the base does the task."""
    viable, model = work.report.viability, work.site.stored.model
    if not viable.is_viable:
        raise Stopped(f"not viable: {viable.sentence}")
    found, domain = declare_prompts(work.run, work.job, work.rounds, model, viable.kept)
    return replace(work, domain=domain).reporting(domain=found)


def extract(work: TaskStudy) -> TaskStudy:
    """Extract the circuit of the whole domain, by the right answers, at the largest threshold."""
    method, domain = work.study.method, written(work.domain, "domain")
    method = replace(method, objective=Objective.PROGRAM, thresholds=(max(method.thresholds),))
    search, telling = (
        CircuitSearch(work.site.base, domain, method),
        f"{domain.name}: extracting on the whole domain",
    )
    circuit = load_circuit(extract_circuit(work.run, search, telling=telling))
    return replace(work, behaviour=Behaviour(domain, circuit)).reporting(circuit=circuit)


def regress_blocks(work: TaskStudy) -> TaskStudy:
    """See whether the heads of the circuit decide together as their blocks do."""
    behaviour = written(work.behaviour, "circuit")
    return work.reporting(blocks=regress(work.run, work.site.stored.model, behaviour))


def synthesise(work: TaskStudy) -> TaskStudy:
    """Look for a program for each head of the circuit."""
    model, behaviour = work.site.stored.model, written(work.behaviour, "circuit")
    found = search_programs(work.run, model, behaviour, work.study.search)
    return work.reporting(installed=decide_exactly(work.run, model, behaviour, found))


def install_again(work: TaskStudy) -> TaskStudy:
    """Extract the circuit again among its programs; what it reads no more keeps none."""
    behaviour, installed = written(work.behaviour, "circuit"), written(work.report.installed, "programs")
    if not installed.programs:
        raise Stopped("no head of the circuit has a program in bounds")
    if not reads_prompt(installed.circuit_of(behaviour), installed.programs):
        raise Stopped("without heads that have no program, the circuit reads no prompt")
    again = extract_again(work.run, work.site.stored.model, behaviour, installed)
    programs = installed.programs_of(again)
    smaller = replace(behaviour, circuit=again)
    return replace(work, behaviour=smaller, programs=programs).reporting(again=again)


def heal_whole(work: TaskStudy) -> TaskStudy:
    """Heal the whole model with its text beside the task, and audit it."""
    behaviour, programs = written(work.behaviour, "circuit"), written(work.programs, "programs")
    if not programs:
        raise Stopped("extracted again, the circuit reads no program")
    site, healing, run = work.site, work.study.healing, work.run.within("healing")
    steps = healing.plan.steps
    plan = HealingCourse(healing.plan, healing.draw, healing.weighing, TextTerm(site.data, healing.text))

    def start() -> StoredModel:
        return replace(site.stored, model=install(site.stored.model, programs))

    model = heal(run, start, [behaviour], plan, f"{behaviour.task.name}: healing for {steps} steps")
    gates = HealingGates(work.study.gates, site.quality)
    return work.reporting(healed=examine_healed(run, model, behaviour, gates, steps))


def begin_artifact(work: TaskStudy) -> TaskStudy:
    """Begin the construction of the artifact, from the study's base and the circuit of the programs."""
    study, behaviour = work.study, written(work.behaviour, "circuit")
    blueprint = Blueprint(behaviour.task, written(work.programs, "programs"), behaviour.circuit)
    construction = Construction(
        name=study.name,
        base=work.site.base,
        blueprints=(blueprint,),
        rungs=study.ladder.rungs,
        calibration=study.ladder.calibration,
        choice=study.ladder.choice,
        joint_necessity=study.ladder.joint_necessity,
        quality=work.site.quality,
        epsilon=study.epsilon,
        anchors=study.anchors,
        digest=digest_together(study.digest, behaviour.task.digest, behaviour.circuit.digest),
        text=TextTerm(work.site.data, study.ladder.text),
    )
    run = work.run.within("artifact", behaviour.task.name)
    build = ArtifactBuild(construction=construction, blueprint=blueprint, base=work.site.base, run=run)
    return replace(work, build=build)


def in_artifact(stage: RunStage[ArtifactBuild]) -> RunStage[TaskStudy]:
    """Return a stage of constructions as one of a study, where it takes the task's artifact on."""

    def act(work: TaskStudy) -> TaskStudy:
        return replace(work, build=stage.act(written(work.build, "artifact")))

    return RunStage(stage.name, act)


def check(work: TaskStudy) -> TaskStudy:
    """Let the independent checker judge the bundle beside the artifact and the base."""
    artifact = artifact_of(written(work.build, "artifact"))
    telling = f"{artifact.task}: checking the bundle"
    checked = check_bundle(work.run, artifact.proof.bundle, artifact.model, work.site.base, telling)
    return work.reporting(artifact=artifact, checked=checked)


def limits(work: TaskStudy) -> TaskStudy:
    """Ask the four properties of every prompt of a pattern, where patterns are for the circuit."""
    study, claim = work.study, written(work.report.artifact, "artifact").proof.battery.claim
    four = replace(claim, properties=four_properties(study.epsilon))
    found = find_limits(work.run.within("limits"), four, study.longest, study.search.deadline)
    return work.reporting(limits=found)
