"""The stage of a gate: extract on all that was seen, burn a gate that nobody has seen, and measure once."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.spelling import load_circuit
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
from circuitproof.tasks.generator import deal
from circuitproof.tasks.task import Task
from circuitproof_lab.pipeline.ledger import Ledger
from circuitproof_lab.pipeline.manifest import Development, Gate, Split
from circuitproof_lab.pipeline.prompts import PromptSource
from circuitproof_lab.pipeline.protocol import TRAINING, Protocol
from circuitproof_lab.pipeline.recipe import Recipe
from circuitproof_lab.pipeline.stages.extract import CircuitSearch, extract_circuit
from circuitproof_lab.pipeline.stages.train import MODEL
from circuitproof_lab.records.gate import GATE, FrontierPoint, GateOutcome, load_outcome


@dataclass(frozen=True, slots=True)
class Rounds:
    """The prompts of one task: for each generation what becomes development data, and its gate."""

    generator: PromptSource
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
class GatedRun:
    """A protocol, the prompts of its tasks, its run, and the ledger of what was looked at."""

    protocol: Protocol
    rounds: tuple[Rounds, ...]
    run: Run
    ledger: Ledger

    @property
    def model(self) -> Path:
        source = self.protocol.model
        return self.run.folder / TRAINING / MODEL if isinstance(source, Recipe) else source


def rounds_of(protocol: Protocol, generator: PromptSource) -> Rounds:
    """Deal a generator's prompts out to all generations; nothing else is consulted."""
    sizes = [size for one in protocol.generations for size in (one.development, one.gate) if size]
    dealt = iter(deal(generator.order(), sizes, len(generator.answers)))
    fresh, gates = list[Split | None](), list[Gate]()
    for one in protocol.generations:
        name = f"{generator.task} {one.name}"
        fresh.append(Split(f"{name} development", generator, next(dealt)) if one.development else None)
        gates.append(Gate(Split(f"{name} gate", generator, next(dealt))))
    return Rounds(generator, tuple(fresh), tuple(gates))


def run_generation(job: GatedRun, place: int, rounds: Rounds) -> GateOutcome:
    """Extract on everything seen so far, then open the gate; both are kept in files."""
    one, task = job.protocol.generations[place], rounds.generator.task
    run, development = job.run.within(one.name, task), rounds.development(place)
    write_file(run.folder / "development.json", readable_json(to_json(development.splits)))
    write_file(run.folder / "gate.json", readable_json(rounds.gates[place].split.to_json()))
    job.ledger.view(job.protocol.digest, development)

    def open_gate(path: Path) -> None:
        outcome = _open_gate(job, place, rounds, circuit)
        write_file(path, readable_json({**outcome.to_json(), "ledger_head": str(job.ledger.last)}))

    method = replace(job.protocol.method, rule=one.rule)
    search = CircuitSearch(job.model, development.task(), method, reads_prompt=True)
    circuit = extract_circuit(run, search, telling=f"{one.name}: extracting {task}")
    opened = run.stage(GATE, open_gate, f"{one.name}: opening the gate of {task}")
    outcome, head = load_outcome(opened)
    job.ledger.require(head)
    return outcome


def _open_gate(job: GatedRun, generation: int, rounds: Rounds, circuit: Path) -> GateOutcome:
    """Burn a gate, then measure every circuit on it; only the selected one was the trial.

    What is measured is fixed before: candidates and nested circuits come from development data.
    """
    gate, seen = rounds.gates[generation], rounds.development(generation).task()
    model, objective = load_model(job.model, job.run.device).model, job.protocol.method.objective
    selected, candidates = load_circuit(circuit), load_candidates(circuit)
    before = Meter(model, seen, objective)
    others = nested(model.graph, _by_importance(job, before, circuit))
    recipe, weights = job.protocol.digest, read_manifest(job.model)[WEIGHTS]
    burned = job.ledger.burn(gate, recipe=recipe, circuit=selected.digest, weights=weights)
    after = Meter(model, burned, objective)

    def points(names: Sequence[str], circuits: Sequence[Circuit]) -> tuple[FrontierPoint, ...]:
        lost = [[gate.split.rows[place] for place in places] for places in after.lost(circuits)]
        missed = [Counter(f"{row.template} {row.opener}" for row in rows) for rows in lost]
        return tuple(
            map(FrontierPoint, names, circuits, before.measure(circuits), after.measure(circuits), missed)
        )

    outcome = GateOutcome(
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


def _by_importance(job: GatedRun, meter: Meter, circuit: Path) -> tuple[EdgeGroup, ...]:
    """Return single edges, the most important last: as extraction tried them, if that was its order."""
    method, graph = job.protocol.method, meter.model.graph
    if (method.granularity, method.order) == (RemovalUnit.HEAD, Order.ATTRIBUTION):
        return load_order(circuit)
    parts = parts_of(graph, RemovalUnit.HEAD)
    return arrange(meter, parts, Order.ATTRIBUTION)
