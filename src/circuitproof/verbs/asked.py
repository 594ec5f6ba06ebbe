"""What is asked about: a model, a circuit and a task, by their files or as they are already at hand."""

from dataclasses import replace
from pathlib import Path

from circuitproof.circuits.ablation_asked import AskedAblation, ablation_asked
from circuitproof.circuits.circuit import Circuit, whole
from circuitproof.circuits.graph import Graph
from circuitproof.circuits.spelling import load_circuit
from circuitproof.errors import UsageError
from circuitproof.forward.frozen import Frozen, open_model
from circuitproof.models.declaration import Declaration, read_declaration
from circuitproof.tasks.candidates import AskedCandidates
from circuitproof.tasks.domain import Prompt
from circuitproof.tasks.loading import load_task
from circuitproof.tasks.task import Task


def asked_model(model: Path | Frozen) -> Frozen:
    """Return the model of a directory, or one that was opened before."""
    return model if isinstance(model, Frozen) else open_model(model)


def asked_circuit(circuit: Path | Circuit | None, graph: Graph) -> Circuit:
    """Return the circuit of a file, one that is at hand, or all edges: the model itself."""
    if circuit is None:
        return whole(graph)
    return circuit if isinstance(circuit, Circuit) else load_circuit(circuit, graph)


def circuit_beside(circuit: Path | None, model: Path) -> Circuit | None:
    """Return the circuit of a file for the sizes of a model that need not be opened, if one is given."""
    return None if circuit is None else load_circuit(circuit, read_declaration(model).architecture.graph)


def ablated(circuit: Circuit, asked: AskedAblation, task: Task, model: Declaration) -> Circuit:
    """Return a circuit whose cut edges carry what is asked for, or else what the circuit says itself."""
    found = ablation_asked(asked, task, model.alphabet)
    return circuit if found is None else replace(circuit, ablation=found)


def asked_task(
    task: str | Task,
    model: Declaration,
    pattern: str | None = None,
    candidates: AskedCandidates | None = None,
    position: int | None = None,
) -> Task:
    """Return the task of a name or a file, or one that is at hand.

    All candidates are asked about, or another position is, if that is said.
    """
    if isinstance(task, str):
        found = load_task(task, model.tokens, pattern)
    elif pattern is not None:
        raise UsageError(f"--pattern is given, but task {task.name!r} is declared already; leave one out")
    else:
        found = task
    moved = found if position is None else found.at(position)
    return moved if candidates is None else moved.among_all(model.architecture.predicted)


def refuse_length(prompt: Prompt, context: int) -> None:
    """Refuse a prompt that a model of some context does not read."""
    if not 1 <= len(prompt) <= context:
        raise UsageError(f"the prompt has {len(prompt)} tokens, want 1 to {context}")
