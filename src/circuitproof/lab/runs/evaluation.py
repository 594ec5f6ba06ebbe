"""Evaluating a stored model: how the whole and its circuits do on each task."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from circuitproof.declare.circuits.circuit import Circuit, empty, whole
from circuitproof.declare.circuits.spelling import load_circuit
from circuitproof.declare.tasks.catalogue import TASK_NAMES
from circuitproof.declare.tasks.task import Task
from circuitproof.lab.model.checkpoint import load_model
from circuitproof.lab.model.decisions import Score, score_circuits
from circuitproof.lab.model.transformer import Transformer
from circuitproof.text.canonical import Json
from circuitproof.text.codec import record_to_json
from circuitproof.text.reading import about


@dataclass(frozen=True, slots=True)
class CircuitScore:
    """One line of an evaluation: a circuit of the model on a task."""

    task: str
    circuit: str
    edges: int
    score: Score

    def to_json(self) -> Json:
        """Return the row as JSON."""
        return {
            "task": self.task,
            "circuit": self.circuit,
            "edges": self.edges,
            **record_to_json(self.score),
        }


@dataclass(frozen=True, slots=True)
class Named:
    """A circuit with what to call it."""

    name: str
    circuit: Circuit


def evaluate(
    model_path: Path, task_names: Sequence[str], circuit_files: Sequence[Path]
) -> tuple[CircuitScore, ...]:
    """Return a row per task and circuit; without tasks all of them, without circuits three telling ones."""
    stored = load_model(model_path)
    circuits = [Named(str(path), load_circuit(path)) for path in circuit_files]
    rows: list[CircuitScore] = []
    for name in task_names or TASK_NAMES:
        task = stored.declaration.listed_task(name)
        with about(str(model_path)):
            rows.extend(_rows(stored.model, task, circuits or telling_circuits(stored.model, task)))
    return tuple(rows)


def telling_circuits(model: Transformer, task: Task) -> list[Named]:
    """Return all edges, all but the one whose deletion harms the task most, and none."""
    everything = whole(model.graph)
    lesions = everything.lesions()
    scores = score_circuits(model, task, lesions)
    worst = min(range(len(lesions)), key=lambda index: scores[index].worst_margin)
    (deleted,) = (everything - lesions[worst]).edges
    return [
        Named("all edges", everything),
        Named(f"without {deleted}", lesions[worst]),
        Named("no edges", empty(model.graph)),
    ]


def _rows(model: Transformer, task: Task, circuits: Sequence[Named]) -> list[CircuitScore]:
    (alone,) = score_circuits(model, task)
    scores = score_circuits(model, task, [named.circuit for named in circuits])
    rows = [CircuitScore(task.name, "model", len(model.graph.edges()), alone)]
    for named, score in zip(circuits, scores, strict=True):
        rows.append(CircuitScore(task.name, named.name, len(named.circuit), score))
    return rows
