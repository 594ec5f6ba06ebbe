"""The stage before a proof: a circuit without the edges that no decision depends on, kept on disk."""

from collections.abc import Callable
from pathlib import Path

from circuitproof.declare.circuits.circuit import Circuit
from circuitproof.declare.circuits.spelling import load_circuit
from circuitproof.declare.tasks.task import Task
from circuitproof.forward.frozen import Frozen
from circuitproof.lab.runs.stages import run_stage
from circuitproof.prove.trim import trim
from circuitproof.text.canonical import readable_json, write_file


def trimmed(path: Path, frozen: Frozen, task: Task, circuit: Circuit, tell: Callable[[], None]) -> Circuit:
    """Return the circuit in `path`, trimmed there first unless that was done before.

    Extraction also keeps edges that only make decisions surer; of such an edge, necessity would be refuted.
    """

    def write(place: Path) -> None:
        tell()
        write_file(place, readable_json(trim(frozen, task, circuit).to_json()))

    return load_circuit(run_stage(path, write))
