"""The stage that extracts: a circuit of a stored model is found on a task, and kept with its report."""

from dataclasses import dataclass
from pathlib import Path

from circuitproof.files.run import Run
from circuitproof.find.extraction import ExtractionMethod, find_circuits, refuse_senseless, write_extraction
from circuitproof.tasks.task import Task

CIRCUIT = "circuit.json"


@dataclass(frozen=True, slots=True)
class CircuitSearch:
    """Which circuit is looked for: that of a stored model on a task, by a method."""

    model: Path
    task: Task
    method: ExtractionMethod
    reads_prompt: bool = False
    """Whether a circuit that reads nothing of the prompt is refused."""


def extract_circuit(run: Run, search: CircuitSearch, name: str = CIRCUIT, telling: str | None = None) -> Path:
    """Return the file of the circuit that a search finds; its report stands beside it."""

    def write(path: Path) -> None:
        found = find_circuits(search.model, search.task, search.method, device=run.device)
        if search.reads_prompt:
            refuse_senseless(found)
        write_extraction(found, path)

    return run.stage(name, write, telling)
