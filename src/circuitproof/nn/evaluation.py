"""Evaluating a stored model: how the whole and its circuits do on each task."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from circuitproof.circuits.ablation_asked import AskedAblation
from circuitproof.circuits.circuit import Circuit, empty, whole
from circuitproof.circuits.spelling import load_circuit
from circuitproof.files.canonical import Json
from circuitproof.files.codec import record_to_json
from circuitproof.files.devices import CPU, Device
from circuitproof.files.reading import about
from circuitproof.nn.checkpoint import load_model
from circuitproof.nn.decisions import Score, score_circuits
from circuitproof.nn.transformer import Transformer
from circuitproof.proof.claim import refuse_unread_ports
from circuitproof.tasks.task import Task
from circuitproof.verbs.asked import ablated


@dataclass(frozen=True, slots=True)
class CircuitScore:
    """One line of an evaluation: a circuit of the model on a task."""

    task: str
    circuit: str
    edges: int
    ablation: str | None
    """What cut edges carry, by its name; nothing where none is cut."""
    score: Score

    def to_json(self) -> Json:
        named = {"task": self.task, "circuit": self.circuit, "edges": self.edges, "ablation": self.ablation}
        return {**named, **record_to_json(self.score)}


Named: TypeAlias = tuple[str, Circuit]
"""A circuit with what to call it."""


def evaluate(
    model: Path,
    tasks: Sequence[str],
    files: Sequence[Path],
    ablation: AskedAblation = None,
    device: Device = CPU,
) -> tuple[CircuitScore, ...]:
    """Return a row per task and circuit; without circuits, three telling ones."""
    stored = load_model(model, device)
    circuits = [(str(path), load_circuit(path, stored.model.graph)) for path in files]
    for _, kept in circuits:
        refuse_unread_ports(kept, stored.declaration.programs)
    rows: list[CircuitScore] = []
    for name in tasks:
        task = stored.declaration.listed_task(name)
        with about(str(model)):
            every = ablated(whole(stored.model.graph), ablation, task, stored.declaration)
            asked = [(name, ablated(kept, ablation, task, stored.declaration)) for name, kept in circuits]
            rows.extend(_rows(stored.model, task, asked or telling_circuits(stored.model, task, every)))
    return tuple(rows)


def telling_circuits(model: Transformer, task: Task, everything: Circuit) -> list[Named]:
    """Return all edges, all but the one whose deletion harms the task most, and none."""
    lesions = everything.lesions()
    scores = score_circuits(model, task, lesions)
    lesion = lesions[min(range(len(lesions)), key=lambda index: scores[index].worst_margin)]
    nothing = replace(empty(everything.graph), ablation=everything.ablation)
    (deleted,) = (everything - lesion).edges
    return [("all edges", everything), (f"without {deleted}", lesion), ("no edges", nothing)]


def _rows(model: Transformer, task: Task, circuits: Sequence[Named]) -> list[CircuitScore]:
    runs = [None, *([kept] for _, kept in circuits)]
    scores = [score for run in runs for score in score_circuits(model, task, run)]
    named = [("model", whole(model.graph)), *circuits]
    return [
        CircuitScore(task.name, name, len(circuit), _carried(circuit), score)
        for (name, circuit), score in zip(named, scores, strict=True)
    ]


def _carried(circuit: Circuit) -> str | None:
    return None if circuit.edges == whole(circuit.graph).edges else circuit.ablation.name
