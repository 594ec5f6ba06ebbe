"""Distilling neural heads into programs: from a trained model to proofs about circuits without neural heads.

Each seed is a run of its own: train, extract, synthesise, install, heal under every objective, look whether
the mechanism moved, chase it once if it did, and prove what the circuits do in the end.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from circuitproof.circuits.spelling import load_circuit
from circuitproof.errors import NumericError
from circuitproof.files.devices import CPU, Device
from circuitproof.files.records import write_record
from circuitproof.files.run import Run, begin_run
from circuitproof.nn.checkpoint import load_model
from circuitproof.nn.decisions import score_circuits
from circuitproof.tasks.task import Task
from circuitproof.workers import mapped, workers_of
from circuitproof_lab.distill.heal import Treatment
from circuitproof_lab.distill.install import scoring_parameters
from circuitproof_lab.distill.lesion import Behaviour
from circuitproof_lab.distill.migrate import Fate, migration_of
from circuitproof_lab.pipeline.distillation_recipe import DistillationRecipe
from circuitproof_lab.pipeline.distillation_report import DistillationProof, Round, SeedReport, check_final
from circuitproof_lab.pipeline.engine import RunStage, StageName, Stopped, follow, written
from circuitproof_lab.pipeline.sizes import model_size, training_size
from circuitproof_lab.pipeline.stages.blocks import regress
from circuitproof_lab.pipeline.stages.extract import CircuitSearch, extract_circuit
from circuitproof_lab.pipeline.stages.heal import HealingCourse, heal
from circuitproof_lab.pipeline.stages.install import install_programs, new_heads
from circuitproof_lab.pipeline.stages.prove import CircuitClaim, FinishedProof, prove_once
from circuitproof_lab.pipeline.stages.train import MODEL, declared_by, train_recipe
from circuitproof_lab.records.blocks import BLOCKS
from circuitproof_lab.records.migration import MIGRATION
from circuitproof_lab.train.loop import Watcher

UNHEALED, CHASE = "unhealed", "chase"

OnStage = Callable[[int, str], None]
"""Who is told which stage of which seed begins."""


@dataclass(frozen=True, slots=True)
class _SeededJob:
    """One seed of a recipe, its part of the run, and how far it has come."""

    recipe: DistillationRecipe
    seed: int
    run: Run
    source: Path | None = None
    """The neural model."""
    declared: tuple[Behaviour, ...] = ()
    """Each task with the circuit of the neural model."""
    installed: Path | None = None
    """The same model with programs for the heads of those circuits."""
    rounds: tuple[Round, ...] = ()
    proved: tuple[FinishedProof, ...] = ()
    """What is proved of the final circuits."""
    proofs: tuple[DistillationProof, ...] = ()
    """The same, once it is checked."""

    def proof_run(self, claim: CircuitClaim) -> Run:
        """Return the part of the run that holds a proof."""
        return self.run.within("proofs", claim.behaviour.task.name)


def distill(
    recipe: DistillationRecipe,
    out: Path,
    jobs: int = 1,
    on_stage: OnStage = lambda _seed, _stage: None,
    device: Device = CPU,
) -> tuple[SeedReport, ...]:
    """Distil as the recipe says into `out`, and return what every seed came to.

    A finished stage is not repeated; an interrupted one goes on from its newest checkpoint. With several
    jobs, seeds run in processes of their own, and `on_stage` is called there: it must be importable.
    """
    workers = workers_of(jobs)
    declared_by(recipe.source).refuse_inexact("a distillation")
    seeds = [
        _SeededJob(recipe, seed, Run(out / f"seed-{seed}", partial(on_stage, seed), device))
        for seed in recipe.seeds
    ]
    with begin_run(out, recipe.name, recipe.digest, _size(recipe), device=device):
        return tuple(mapped(distill_seed, None, seeds, workers))


def _size(recipe: DistillationRecipe) -> int:
    """Return what all seeds write: trainings of the source, by every treatment and once more, and proofs."""
    sizes, trainings = recipe.source.architecture, 2 + len(Treatment)
    proofs = 2 + len(recipe.tasks)
    return len(recipe.seeds) * (trainings * training_size(sizes) + proofs * model_size(sizes))


def distill_seed(_nothing: None, job: _SeededJob) -> SeedReport:
    """Take one seed through all stages."""
    done, stopped = follow(STAGES, job, (Stopped, NumericError))
    return SeedReport(seed=job.seed, stopped=stopped, rounds=done.rounds, proofs=done.proofs)


def _train(job: _SeededJob) -> _SeededJob:
    """Train the neural model, which must decide every prompt right."""
    folder = job.run.folder / "source"
    source, device = job.recipe.source_of(job.seed), job.run.device
    stored = train_recipe(source, folder, Watcher(), job.run.tell, device=device)
    for task in job.recipe.tasks:
        (score,) = score_circuits(stored.model, task)
        if score.right != score.prompts:
            raise Stopped(f"the source decides {score.right} of {score.prompts} prompts of {task.name} right")
    return replace(job, source=folder / MODEL)


def _declare(job: _SeededJob) -> _SeededJob:
    return replace(job, declared=_extract(job, written(job.source, "source"), "declared"))


def _regress(job: _SeededJob) -> _SeededJob:
    """See whether the heads of each declared circuit decide together as their blocks do."""
    model = load_model(written(job.source, "source"), job.run.device).model
    for one in job.declared:
        regress(job.run.within("declared"), model, one, f"{one.task.name}.{BLOCKS}")
    return job


def _install(job: _SeededJob) -> _SeededJob:
    source = written(job.source, "source")
    return replace(job, installed=install_programs(job.run, source, job.declared, job.recipe.bounds))


def _unhealed(job: _SeededJob) -> _SeededJob:
    model = written(job.installed, "installed model")
    return replace(job, rounds=(_examine(job, UNHEALED, model, job.declared),))


def _heal(treatment: Treatment, job: _SeededJob) -> _SeededJob:
    model = written(job.installed, "installed model")
    return replace(job, rounds=(*job.rounds, _round(job, treatment, model, job.declared, treatment)))


def _extract(job: _SeededJob, model: Path, place: str) -> tuple[Behaviour, ...]:
    """Return each task with the circuit that extraction finds for it."""
    run = job.run.within(place)

    def extract(task: Task) -> Behaviour:
        search = CircuitSearch(model, task, job.recipe.method)
        name, telling = f"{task.name}.circuit.json", f"{place}: extracting {task.name}"
        return Behaviour(task, load_circuit(extract_circuit(run, search, name, telling)))

    return tuple(map(extract, job.recipe.tasks))


def _round(
    job: _SeededJob, name: str, start: Path, behaviours: tuple[Behaviour, ...], treatment: Treatment
) -> Round:
    """Heal a model under an objective and see what became of its behaviours."""
    healing = job.recipe.healing.seeded(job.seed)
    plan = HealingCourse(healing.plan, healing.draw, healing.weighings[treatment])
    run, source = job.run.within(name), partial(load_model, start, job.run.device)
    model = heal(run, source, behaviours, plan, f"{name}: healing")
    return _examine(job, name, model, behaviours)


def _examine(job: _SeededJob, name: str, path: Path, behaviours: tuple[Behaviour, ...]) -> Round:
    """Extract again, silence programs, and write down what became of the behaviours."""
    found, model = _extract(job, path, name), load_model(path, job.run.device).model
    migrations = tuple(
        migration_of(model, behaviour, now.circuit, job.recipe.gates)
        for behaviour, now in zip(behaviours, found, strict=True)
    )
    done = Round(name, path, model.programs, scoring_parameters(model), migrations)
    job.run.within(name).stage(MIGRATION, lambda file: write_record(file, done.record()))
    return done


def _chase(job: _SeededJob) -> _SeededJob:
    """Program the heads that the mechanism moved to, and heal once more with what was found declared."""
    last = job.rounds[-1]
    declared = _found(last)
    if last.fate is Fate.FAILED or not new_heads(last.programs, declared):
        return job
    installed = install_programs(job.run.within(CHASE), last.model, declared, job.recipe.bounds)
    return replace(job, rounds=(*job.rounds, _round(job, CHASE, installed, declared, Treatment.CORE_AWARE)))


def _found(done: Round) -> tuple[Behaviour, ...]:
    return tuple(Behaviour(one.behaviour.task, one.found) for one in done.migrations)


def _prove(job: _SeededJob) -> _SeededJob:
    """Prove the four properties of the final circuits, unless the model does not even decide right."""
    last, epsilon = job.rounds[-1], job.recipe.epsilon
    found = () if last.fate is Fate.FAILED else _found(last)
    claims = [CircuitClaim(model=last.model, behaviour=one, epsilon=epsilon) for one in found]
    return replace(job, proved=tuple(prove_once(job.proof_run(one), one) for one in claims))


def _check(job: _SeededJob) -> _SeededJob:
    return replace(job, proofs=tuple(check_final(job.proof_run(one.claim), one) for one in job.proved))


STAGES: tuple[RunStage[_SeededJob], ...] = (
    RunStage(StageName.TRAIN, _train),
    RunStage(StageName.EXTRACT, _declare),
    RunStage(StageName.REGRESS, _regress),
    RunStage(StageName.INSTALL, _install),
    RunStage(StageName.AUDIT, _unhealed),
    *(RunStage(StageName.HEAL, partial(_heal, treatment)) for treatment in Treatment),
    RunStage(StageName.HEAL, _chase),
    RunStage(StageName.PROVE, _prove),
    RunStage(StageName.CHECK, _check),
)
"""How each seed is distilled; each round of healing ends with an audit."""
