"""Localising a behaviour: extract, open a gate once, go on with what was burned, and prove what is left."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from circuitproof.circuits.spelling import load_circuit
from circuitproof.files.canonical import Digest, Json, refuse_unwritable
from circuitproof.files.codec import to_json
from circuitproof.files.devices import CPU, Device
from circuitproof.files.reading import about
from circuitproof.files.run import Tell, begin_run, silent
from circuitproof.forward.frozen import open_model
from circuitproof.proof.verdict import Verdict, worst
from circuitproof_lab.distill.lesion import Behaviour
from circuitproof_lab.pipeline.ledger import Ledger
from circuitproof_lab.pipeline.protocol import BUNDLES, TRAINING, TRIMMED, Protocol
from circuitproof_lab.pipeline.recipe import Recipe
from circuitproof_lab.pipeline.sizes import model_size, training_size
from circuitproof_lab.pipeline.stages.extract import CIRCUIT
from circuitproof_lab.pipeline.stages.gate import GatedRun, Rounds, rounds_of, run_generation
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


def localise(
    protocol: Protocol,
    out: Path,
    ledger: Path | None = None,
    tell: Tell = silent,
    device: Device = CPU,
) -> Localisation:
    """Run a protocol in `out` and prove its last circuits; what is finished there is not done again."""
    with _begun(protocol, out, ledger, tell, device) as job:
        outcomes = _generations(job)
        last = len(outcomes) // len(job.rounds) - 1
        proofs = tuple(_prove(job, last, task) for task in job.rounds)
        return Localisation(outcomes, proofs, job.ledger.last)


def open_gates(
    protocol: Protocol, out: Path, tell: Tell = silent, device: Device = CPU
) -> tuple[GateOutcome, ...]:
    """Run a protocol up to its last gate and prove nothing: what came of every gate that was opened."""
    with _begun(protocol, out, None, tell, device) as job:
        return _generations(job)


@contextmanager
def _begun(
    protocol: Protocol, out: Path, ledger: Path | None, tell: Tell, device: Device
) -> Generator[GatedRun, None, None]:
    with about(protocol.name):
        rounds = tuple(rounds_of(protocol, generator) for generator in protocol.generators)
    size = _refuse_unfit(protocol, rounds)
    opened = Ledger(ledger or out / LEDGER)
    refuse_unwritable(opened.path)
    opened.refuse_stale(protocol.digest, [gate for task in rounds for gate in task.gates])
    with begin_run(out, protocol.name, protocol.digest, size, tell, device) as run:
        yield GatedRun(protocol, rounds, run, opened)


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


def _generations(job: GatedRun) -> tuple[GateOutcome, ...]:
    protocol = job.protocol
    job.ledger.declare(protocol.name, protocol.digest)
    if isinstance(protocol.model, Recipe):
        folder = job.run.folder / TRAINING
        train_recipe(protocol.model, folder, Watcher(), job.run.tell, device=job.run.device)
    outcomes: list[GateOutcome] = []
    for place in range(len(protocol.generations)):
        found = [run_generation(job, place, task) for task in job.rounds]
        outcomes += found
        if protocol.stop_when_exact and all(outcome.is_exact for outcome in found):
            break
    return tuple(outcomes)


def _prove(job: GatedRun, generation: int, rounds: Rounds) -> CircuitProof:
    """Prove the four properties of the last circuit on all that was looked at, and write the bundle."""
    last, task = job.protocol.generations[generation], rounds.everything(generation)
    selected = load_circuit(job.run.folder / last.name / task.name / CIRCUIT)
    asked = CircuitClaim(
        model=job.model,
        behaviour=Behaviour(task, selected),
        epsilon=job.protocol.epsilon,
        circuit_file=f"{TRIMMED}/{task.name}.json",
        bundle_folder=f"{BUNDLES}/{task.name}",
    )
    return prove_circuit(job.run, asked)
