"""Localising a behaviour: extract, open a gate once, go on with what was burned, and prove what is left."""

from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from circuitproof.declare.circuits.circuit import Circuit
from circuitproof.declare.circuits.spelling import load_circuit
from circuitproof.declare.tasks.generator import deal
from circuitproof.declare.tasks.task import Task
from circuitproof.forward.declaration import WEIGHTS
from circuitproof.forward.frozen import open_model
from circuitproof.lab.discover.attribute import arrange
from circuitproof.lab.discover.choices import Order, Removal
from circuitproof.lab.discover.objective import Meter
from circuitproof.lab.discover.parts import Part, nested, parts_of
from circuitproof.lab.distill.lesion import Behaviour
from circuitproof.lab.model.checkpoint import load_model
from circuitproof.lab.records.gate import GATE, Outcome, Point, load_outcome
from circuitproof.lab.runs.extraction import load_candidates, load_order
from circuitproof.lab.runs.ledger import Ledger
from circuitproof.lab.runs.manifest import Development, Gate, Split
from circuitproof.lab.runs.prompts import Prompts
from circuitproof.lab.runs.protocol import BUNDLES, TRAINING, TRIMMED, Protocol
from circuitproof.lab.runs.recipe import Recipe
from circuitproof.lab.runs.run import Run, Tell, begin_run, silent
from circuitproof.lab.runs.sizes import model_size, training_size
from circuitproof.lab.runs.stages.extract import CIRCUIT, CircuitSearch, extract_circuit
from circuitproof.lab.runs.stages.prove import CircuitClaim, Proof, prove_circuit
from circuitproof.lab.runs.training import MODEL, declared_by, train_recipe
from circuitproof.lab.train.loop import Watcher
from circuitproof.prove.verdict import Verdict, worst
from circuitproof.text.canonical import Digest, Json, readable_json, refuse_unwritable, write_file
from circuitproof.text.codec import to_json
from circuitproof.text.reading import about
from circuitproof.text.sealed import read_manifest

LEDGER = "ledger.jsonl"


@dataclass(frozen=True, slots=True)
class Rounds:
    """The prompts of one task: for each generation what becomes development data, and its gate."""

    generator: Prompts
    fresh: tuple[Split | None, ...]
    gates: tuple[Gate, ...]

    def development(self, generation: int) -> Development:
        """Return everything that was looked at before a generation's gate is opened."""
        fresh = [split for split in self.fresh[: generation + 1] if split is not None]
        return Development((*fresh, *(gate.split for gate in self.gates[:generation])))

    def everything(self, generation: int) -> Task:
        """Return the task on all that was looked at when a generation is over."""
        seen = self.development(generation)
        return Development((*seen.splits, self.gates[generation].split)).task()


@dataclass(frozen=True, slots=True)
class _Job:
    """A protocol, the prompts of its tasks, its run, and the ledger of what was looked at."""

    protocol: Protocol
    rounds: tuple[Rounds, ...]
    run: Run
    ledger: Ledger

    @property
    def model(self) -> Path:
        source = self.protocol.model
        return self.run.folder / TRAINING / MODEL if isinstance(source, Recipe) else source


@dataclass(frozen=True, slots=True)
class Localisation:
    """All generations that were run, and the proofs at their end."""

    outcomes: tuple[Outcome, ...]
    proofs: tuple[Proof, ...]
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


def _proof_to_json(proof: Proof) -> Json:
    claim = proof.battery.claim
    return {
        "task": claim.task.name,
        "prompts": claim.task.size,
        "edges": len(claim.circuit),
        "selected_edges": proof.declared_edges,
        "answers": [answer.to_json() for answer in proof.battery.answers],
        "bundle": str(proof.bundle),
    }


def localise(protocol: Protocol, out: Path, ledger: Path | None = None, tell: Tell = silent) -> Localisation:
    """Run a protocol in `out` and prove its last circuits; what is finished there is not done again."""
    with _begun(protocol, out, ledger, tell) as job:
        outcomes = _generations(job)
        last = len(outcomes) // len(job.rounds) - 1
        proofs = tuple(_prove(job, last, task) for task in job.rounds)
        return Localisation(outcomes, proofs, job.ledger.last)


def open_gates(protocol: Protocol, out: Path, tell: Tell = silent) -> tuple[Outcome, ...]:
    """Run a protocol up to its last gate and prove nothing: what came of every gate that was opened."""
    with _begun(protocol, out, None, tell) as job:
        return _generations(job)


@contextmanager
def _begun(protocol: Protocol, out: Path, ledger: Path | None, tell: Tell) -> Generator[_Job, None, None]:
    with about(protocol.name):
        rounds = tuple(rounds_of(protocol, generator) for generator in protocol.generators)
    size = _refuse_unfit(protocol, rounds)
    opened = Ledger(ledger or out / LEDGER)
    refuse_unwritable(opened.path)
    opened.refuse_stale(protocol.digest, [gate for task in rounds for gate in task.gates])
    with begin_run(out, protocol.name, protocol.digest, size, tell) as run:
        yield _Job(protocol, rounds, run, opened)


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


def _generations(job: _Job) -> tuple[Outcome, ...]:
    protocol = job.protocol
    job.ledger.declare(protocol.name, protocol.digest)
    if isinstance(protocol.model, Recipe):
        train_recipe(protocol.model, job.run.folder / TRAINING, Watcher(), job.run.tell)
    outcomes: list[Outcome] = []
    for place in range(len(protocol.generations)):
        found = [_generation(job, place, task) for task in job.rounds]
        outcomes += found
        if protocol.stop_when_exact and all(outcome.is_exact for outcome in found):
            break
    return tuple(outcomes)


def rounds_of(protocol: Protocol, generator: Prompts) -> Rounds:
    """Deal a generator's prompts out to all generations; nothing else is consulted."""
    sizes = [size for one in protocol.generations for size in (one.development, one.gate) if size]
    dealt = iter(deal(generator.order(), sizes, len(generator.answers)))
    fresh, gates = list[Split | None](), list[Gate]()
    for one in protocol.generations:
        name = f"{generator.task} {one.name}"
        fresh.append(Split(f"{name} development", generator, next(dealt)) if one.development else None)
        gates.append(Gate(Split(f"{name} gate", generator, next(dealt))))
    return Rounds(generator, tuple(fresh), tuple(gates))


def _generation(job: _Job, place: int, rounds: Rounds) -> Outcome:
    """Extract on everything seen so far, then open the gate; both are kept in files."""
    generation, task = job.protocol.generations[place], rounds.generator.task
    run, development = job.run.within(generation.name, task), rounds.development(place)
    write_file(run.folder / "development.json", readable_json(to_json(development.splits)))
    write_file(run.folder / "gate.json", readable_json(rounds.gates[place].split.to_json()))
    job.ledger.view(job.protocol.digest, development)

    def open_gate(path: Path) -> None:
        outcome = _open_gate(job, place, rounds, circuit)
        write_file(path, readable_json({**outcome.to_json(), "ledger_head": str(job.ledger.last)}))

    method = replace(job.protocol.method, rule=generation.rule)
    search = CircuitSearch(job.model, development.task(), method, reads_prompt=True)
    circuit = extract_circuit(run, search, telling=f"{generation.name}: extracting {task}")
    opened = run.stage(GATE, open_gate, f"{generation.name}: opening the gate of {task}")
    outcome, head = load_outcome(opened)
    job.ledger.require(head)
    return outcome


def _open_gate(job: _Job, generation: int, rounds: Rounds, circuit: Path) -> Outcome:
    """Burn a gate, then measure every circuit on it; only the selected one was the trial.

    What is measured is fixed before: candidates and nested circuits come from development data.
    """
    gate, seen = rounds.gates[generation], rounds.development(generation).task()
    model, objective = load_model(job.model).model, job.protocol.method.objective
    selected, candidates = load_circuit(circuit), load_candidates(circuit)
    before = Meter(model, seen, objective)
    others = nested(model.graph, _by_importance(job, before, circuit))
    recipe, weights = job.protocol.digest, read_manifest(job.model)[WEIGHTS]
    burned = job.ledger.burn(gate, recipe=recipe, circuit=selected.digest, weights=weights)
    after = Meter(model, burned, objective)

    def points(names: Sequence[str], circuits: Sequence[Circuit]) -> tuple[Point, ...]:
        lost = [[gate.split.rows[place] for place in places] for places in after.lost(circuits)]
        missed = [Counter(f"{row.template} {row.opener}" for row in rows) for rows in lost]
        return tuple(map(Point, names, circuits, before.measure(circuits), after.measure(circuits), missed))

    outcome = Outcome(
        generation=job.protocol.generations[generation].name,
        task=seen.name,
        points=points(
            [f"threshold {one.threshold:g}" for one in candidates], [c.circuit for c in candidates]
        ),
        nested=points([f"{len(one)} most important" for one in others], others),
        selected=selected,
    )
    job.ledger.record(gate, outcome.trial.gate.agreed)
    return outcome


def _by_importance(job: _Job, meter: Meter, circuit: Path) -> tuple[Part, ...]:
    """Return single edges, the most important last: as extraction tried them, if that was its order."""
    method, graph = job.protocol.method, meter.model.graph
    if (method.granularity, method.order) == (Removal.HEAD, Order.ATTRIBUTION):
        return load_order(circuit)
    parts = parts_of(graph, Removal.HEAD)
    return arrange(meter, parts, Order.ATTRIBUTION)


def _prove(job: _Job, generation: int, rounds: Rounds) -> Proof:
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
