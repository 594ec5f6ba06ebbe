"""The stages of a gate: select on all that was seen, burn a gate that nobody has seen, and measure once.

Gates are dealt before the model is asked for anything, so it decides some of their prompts wrong. Those are
counted apart: no circuit is asked there, and no later generation selects on them.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.readers import reads_prompt
from circuitproof.circuits.spelling import load_circuit
from circuitproof.errors import InputError
from circuitproof.files.canonical import readable_json, write_file
from circuitproof.files.codec import to_json
from circuitproof.files.run import Run
from circuitproof.files.sealed import read_manifest
from circuitproof.find.attribute import arrange
from circuitproof.find.choices import Order, RemovalUnit
from circuitproof.find.extraction import load_candidates, load_order
from circuitproof.find.objective import Meter
from circuitproof.find.parts import EdgeGroup, nested, parts_of
from circuitproof.models.declaration import WEIGHTS
from circuitproof.nn.checkpoint import load_model
from circuitproof.nn.transformer import Transformer
from circuitproof.tasks.task import Task
from circuitproof_lab.distill.install import install
from circuitproof_lab.distill.lesion import Behaviour
from circuitproof_lab.pipeline.ledger import Ledger
from circuitproof_lab.pipeline.protocol import TRAINING, Protocol
from circuitproof_lab.pipeline.recipe import Recipe
from circuitproof_lab.pipeline.splits import Development, Rounds
from circuitproof_lab.pipeline.stages.extract import CIRCUIT, CircuitSearch, extract_circuit
from circuitproof_lab.pipeline.stages.prove import CircuitProof
from circuitproof_lab.pipeline.stages.synthesise import Installed, search_programs
from circuitproof_lab.pipeline.stages.train import MODEL
from circuitproof_lab.pipeline.stages.viability import places_right
from circuitproof_lab.records.gate import GATE, FrontierPoint, GatedPrograms, GateOutcome, load_outcome


@dataclass(frozen=True, slots=True)
class GatedRun:
    """A protocol, the prompts of its tasks, its run and ledger, and what came of it."""

    protocol: Protocol
    rounds: tuple[Rounds, ...]
    run: Run
    ledger: Ledger
    outcomes: tuple[GateOutcome, ...] = ()
    """Of the gates that were opened, generation by generation and task by task."""
    proofs: tuple[CircuitProof, ...] = ()
    """Of each task's last circuit over everything that was looked at."""

    @property
    def model(self) -> Path:
        source = self.protocol.model
        return self.run.folder / TRAINING / MODEL if isinstance(source, Recipe) else source

    @property
    def opened(self) -> int:
        """Return of how many generations the gates were opened."""
        return len(self.outcomes) // len(self.rounds)

    @property
    def is_over(self) -> bool:
        """Say whether no later gate is to be opened: all of the last generation's were exact."""
        last = self.outcomes[-len(self.rounds) :]
        return self.protocol.stop_when_exact and bool(last) and all(one.is_exact for one in last)

    def outcomes_of(self, rounds: Rounds) -> tuple[GateOutcome, ...]:
        """Return what came of a task's gates, generation by generation."""
        return tuple(one for one in self.outcomes if one.task == rounds.generator.task)

    def development(self, place: int, rounds: Rounds) -> Development:
        """Return what a generation selects on, without what the model itself misses of earlier gates."""
        return rounds.development(place, [one.apart for one in self.outcomes_of(rounds)])

    def within(self, place: int, rounds: Rounds) -> Run:
        """Return the part of the run that a task has in a generation."""
        return self.run.within(self.protocol.generations[place].name, rounds.generator.task)


def extract_generation(place: int, job: GatedRun) -> GatedRun:
    """Extract a circuit of each task on everything seen so far, unless no gate is to be opened any more."""
    for rounds in () if job.is_over else job.rounds:
        run, development = job.within(place, rounds), job.development(place, rounds)
        write_file(run.folder / "development.json", readable_json(to_json(development.splits)))
        write_file(run.folder / "gate.json", readable_json(rounds.gates[place].split.to_json()))
        job.ledger.view(job.protocol.digest, development)
        one = job.protocol.generations[place]
        method = replace(job.protocol.method, rule=one.rule)
        search = CircuitSearch(job.model, development.task(), method, reads_prompt=True)
        extract_circuit(run, search, telling=f"{one.name}: extracting {rounds.generator.task}")
    return job


def select_programs(place: int, job: GatedRun) -> GatedRun:
    """Look for programs for the heads of each selected circuit, on what it was selected on."""
    for rounds in () if job.is_over else job.rounds:
        _searched(job, place, rounds, _selected(job, place, rounds))
    return job


def open_generation(place: int, job: GatedRun) -> GatedRun:
    """Open each task's gate of a generation for the circuit that was selected before."""
    if job.is_over:
        return job
    return replace(job, outcomes=(*job.outcomes, *(_opened(job, place, rounds) for rounds in job.rounds)))


def _opened(job: GatedRun, place: int, rounds: Rounds) -> GateOutcome:
    """Return what came of a gate, opened once and kept in a file."""
    run = job.within(place, rounds)

    def open_gate(path: Path) -> None:
        outcome = _open_gate(job, place, rounds, run.folder / CIRCUIT)
        write_file(path, readable_json({**outcome.to_json(), "ledger_head": str(job.ledger.last)}))

    generation = job.protocol.generations[place].name
    opened = run.stage(GATE, open_gate, f"{generation}: opening the gate of {rounds.generator.task}")
    outcome, head = load_outcome(opened)
    job.ledger.require(head)
    return outcome


def _selected(job: GatedRun, place: int, rounds: Rounds) -> Behaviour:
    """Return what was selected before a gate is opened: the task on development data, and its circuit."""
    circuit = load_circuit(job.within(place, rounds).folder / CIRCUIT)
    return Behaviour(job.development(place, rounds).task(), circuit)


def _searched(job: GatedRun, place: int, rounds: Rounds, behaviour: Behaviour) -> Installed | None:
    """Return the programs of the selected circuit, where the protocol says within which bounds to look."""
    if (bounds := job.protocol.programs) is None:
        return None
    model = load_model(job.model, job.run.device).model
    return search_programs(job.within(place, rounds), model, behaviour, bounds)


def _open_gate(job: GatedRun, place: int, rounds: Rounds, circuit: Path) -> GateOutcome:
    """Burn a gate, then measure every circuit on it; only the selected one was the trial."""
    gate, behaviour = rounds.gates[place], _selected(job, place, rounds)
    model, objective = load_model(job.model, job.run.device).model, job.protocol.method.objective
    installed = _searched(job, place, rounds, behaviour)
    before = Meter(model, behaviour.task, objective)
    others, candidates = nested(model.graph, _by_importance(job, before, circuit)), load_candidates(circuit)
    burned = job.ledger.burn(
        gate,
        recipe=job.protocol.digest,
        circuit=behaviour.circuit.digest,
        weights=read_manifest(job.model)[WEIGHTS],
        programs=None if installed is None else installed.digest,
    )
    asked, apart = _parted(model, burned)
    after, rows = Meter(model, burned.only(asked), objective), [gate.split.rows[one] for one in asked]

    def points(names: Sequence[str], circuits: Sequence[Circuit]) -> tuple[FrontierPoint, ...]:
        lost = [[rows[one] for one in places] for places in after.lost(circuits)]
        missed = [Counter(f"{row.template} {row.opener}" for row in some) for some in lost]
        return tuple(
            map(FrontierPoint, names, circuits, before.measure(circuits), after.measure(circuits), missed)
        )

    outcome = GateOutcome(
        generation=job.protocol.generations[place].name,
        task=burned.name,
        points=points(
            [f"threshold {one.threshold:g}" for one in candidates], [c.circuit for c in candidates]
        ),
        nested=points([f"{len(one)} most important" for one in others], others),
        selected=behaviour.circuit,
        apart=apart,
        programs=None if installed is None else _tried(model, behaviour, installed, (burned, apart)),
    )
    job.ledger.record(gate, outcome.trial.gate.agreed, len(apart))
    return outcome


def _parted(model: Transformer, gate: Task) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the places of a gate that the model itself decides right, at least one, and the others."""
    right = places_right(model, gate)
    if not right:
        raise InputError(
            f"{gate.name}: the model itself decides none of the {gate.size} prompts of a gate right, so that "
            "no circuit can be asked there; give a model that does the task"
        )
    return right, tuple(place for place in range(gate.size) if place not in set(right))


def _tried(
    model: Transformer, behaviour: Behaviour, installed: Installed, gate: tuple[Task, tuple[int, ...]]
) -> GatedPrograms | None:
    """Measure the circuit of the programs on a gate, in floats."""
    circuit = installed.circuit_of(behaviour)
    if not installed.programs or not reads_prompt(circuit, installed.programs):
        return None
    task, apart = gate
    right = set(places_right(install(model, installed.programs), task, circuit))
    return GatedPrograms(
        heads=len(installed.searches),
        found=len(installed.programs),
        edges=len(circuit),
        right=len(right - set(apart)),
        right_apart=len(right & set(apart)),
    )


def _by_importance(job: GatedRun, meter: Meter, circuit: Path) -> tuple[EdgeGroup, ...]:
    """Return single edges, the most important last: as extraction tried them, if that was its order."""
    method, graph = job.protocol.method, meter.model.graph
    if (method.granularity, method.order) == (RemovalUnit.HEAD, Order.ATTRIBUTION):
        return load_order(circuit)
    parts = parts_of(graph, RemovalUnit.HEAD)
    return arrange(meter, parts, Order.ATTRIBUTION)
