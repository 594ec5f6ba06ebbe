"""The stage before a proof: a circuit without the edges that no decision depends on, kept on disk."""

from circuitproof.declare.circuits.circuit import Circuit
from circuitproof.declare.circuits.spelling import load_circuit
from circuitproof.declare.tasks.task import Task
from circuitproof.forward.frozen import Frozen
from circuitproof.lab.runs.run import Run
from circuitproof.prove.trim import trim
from circuitproof.text.records import write_record


def trimmed(run: Run, name: str, frozen: Frozen, task: Task, circuit: Circuit) -> Circuit:
    """Return the circuit that a run keeps under a name, trimmed there first unless that was done before.

    Extraction also keeps edges that only make decisions surer; of such an edge, necessity would be refuted.
    """
    told = f"trimming {task.name}"
    return load_circuit(run.stage(name, lambda path: write_record(path, trim(frozen, task, circuit)), told))
