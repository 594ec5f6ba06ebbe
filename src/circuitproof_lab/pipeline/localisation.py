"""Localising a behaviour: extract, open a gate once, go on with what was burned, and prove what is left."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from circuitproof.circuits.spelling import load_circuit
from circuitproof.files.canonical import Digest, Json, refuse_unwritable
from circuitproof.files.codec import to_json
from circuitproof.files.devices import CPU, Device
from circuitproof.files.reading import about
from circuitproof.files.run import Run, Tell, begin_run, silent
from circuitproof.forward.frozen import open_model
from circuitproof.proof.verdict import Verdict, worst
from circuitproof_lab.distill.lesion import Behaviour
from circuitproof_lab.pipeline.engine import RunStage, StageName, follow
from circuitproof_lab.pipeline.ledger import Ledger
from circuitproof_lab.pipeline.protocol import BUNDLES, TRAINING, TRIMMED, Protocol
from circuitproof_lab.pipeline.recipe import Recipe
from circuitproof_lab.pipeline.sizes import model_size, training_size
from circuitproof_lab.pipeline.splits import Rounds, deal_rounds
from circuitproof_lab.pipeline.stages.extract import CIRCUIT
from circuitproof_lab.pipeline.stages.gate import (
    GatedRun,
    extract_generation,
    open_generation,
    select_programs,
)
from circuitproof_lab.pipeline.stages.prove import CircuitClaim, CircuitProof, prove_circuit
from circuitproof_lab.pipeline.stages.train import declared_by, train_recipe
from circuitproof_lab.records.gate import GateOutcome
from circuitproof_lab.train.loop import Watcher

LEDGER = "ledger.jsonl"


@dataclass(frozen=True, slots=True)
class Localisation:
    """All generations that were run, and the proofs at their end."""

    outcomes: tuple[GateOutcome, ...]
    proofs: tuple[CircuitProof, ...]
    """Of each task's last circuit over everything that was looked at."""
    ledger_head: Digest

    @property
    def verdict(self) -> Verdict:
        """Return the verdict on all final circuits together."""
        return worst([proof.verdict for proof in self.proofs])

    def to_json(self) -> Json:
        return {
            "outcomes": to_json(self.outcomes),
            "verdict": str(self.verdict),
            "proofs": [_proof_to_json(proof) for proof in self.proofs],
            "ledger_head": str(self.ledger_head),
        }


def _proof_to_json(proof: CircuitProof) -> Json:
    claim = proof.battery.claim
    return {
        "task": claim.task.name,
        "prompts": claim.task.size,
        "edges": len(claim.circuit),
        "selected_edges": proof.declared_edges,
        "answers": [answer.to_json() for answer in proof.battery.answers],
        "bundle": str(proof.bundle),
    }


def generations(count: int, *, selects: bool) -> tuple[RunStage[GatedRun], ...]:
    """Return the stages of all generations; programs, where any are selected, come before the gate."""
    return tuple(
        stage
        for place in range(count)
        for stage in (
            RunStage(StageName.EXTRACT, partial(extract_generation, place)),
            *([RunStage(StageName.SYNTHESISE, partial(select_programs, place))] if selects else []),
            RunStage(StageName.GATE, partial(open_generation, place)),
        )
    )


def stages_of(protocol: Protocol) -> tuple[RunStage[GatedRun], ...]:
    """Return the stages of a localisation."""
    selects = protocol.programs is not None
    return (
        RunStage(StageName.TRAIN, _train),
        *generations(len(protocol.generations), selects=selects),
        RunStage(StageName.PROVE, _prove),
    )


def localise(
    protocol: Protocol,
    out: Path,
    ledger: Path | None = None,
    tell: Tell = silent,
    device: Device = CPU,
) -> Localisation:
    """Run a protocol in `out` and prove its last circuits; what is finished there is not done again."""
    with about(protocol.name):
        rounds = tuple(deal_rounds(protocol, generator) for generator in protocol.generators)
    size = _refuse_unfit(protocol, rounds)
    opened = Ledger(ledger or out / LEDGER)
    refuse_unwritable(opened.path)
    with begin_run(out, protocol.name, protocol.digest, size, tell, device) as run:
        done, _ = follow(stages_of(protocol), declared_run(protocol, rounds, run, opened))
        return Localisation(done.outcomes, done.proofs, done.ledger.last)


def declared_run(protocol: Protocol, rounds: Sequence[Rounds], run: Run, ledger: Ledger) -> GatedRun:
    """Return the run of a protocol whose gates nobody has seen, declared before anything is looked at."""
    ledger.refuse_stale(protocol.digest, [gate for task in rounds for gate in task.gates])
    ledger.declare(protocol.name, protocol.digest)
    return GatedRun(protocol, tuple(rounds), run, ledger)


def _refuse_unfit(protocol: Protocol, rounds: Sequence[Rounds]) -> int:
    """Refuse what could only fail after gates are burned, and return how much a run writes."""
    source = protocol.model
    is_trained = isinstance(source, Recipe)
    declared = declared_by(source) if is_trained else open_model(source).declaration
    declared.refuse_inexact("a localisation")
    for task in rounds:
        declared.refuse_unfit(task.everything(len(protocol.generations) - 1))
    sizes = declared.architecture
    return len(rounds) * model_size(sizes) + (training_size(sizes) if is_trained else 0)


def _train(job: GatedRun) -> GatedRun:
    if isinstance(job.protocol.model, Recipe):
        folder = job.run.folder / TRAINING
        train_recipe(job.protocol.model, folder, Watcher(), job.run.tell, device=job.run.device)
    return job


def _prove(job: GatedRun) -> GatedRun:
    """Prove the four properties of the last circuits on all that was looked at, and write the bundles."""
    return replace(job, proofs=tuple(_proof(job, job.opened - 1, rounds) for rounds in job.rounds))


def _proof(job: GatedRun, generation: int, rounds: Rounds) -> CircuitProof:
    task = rounds.everything(generation)
    asked = CircuitClaim(
        model=job.model,
        behaviour=Behaviour(task, load_circuit(job.within(generation, rounds).folder / CIRCUIT)),
        epsilon=job.protocol.epsilon,
        circuit_file=f"{TRIMMED}/{task.name}.json",
        bundle_folder=f"{BUNDLES}/{task.name}",
    )
    return prove_circuit(job.run, asked)
