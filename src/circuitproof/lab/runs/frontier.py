"""The localisation frontier: how many edges it takes to be right on prompts that nobody selected by."""

from dataclasses import dataclass
from pathlib import Path

from circuitproof.declare.circuits.circuit import Circuit
from circuitproof.declare.circuits.spelling import parse_circuit
from circuitproof.lab.discover.objective import Measure, read_measure
from circuitproof.text.canonical import Digest, Json
from circuitproof.text.reading import Fields, read_json, reading, reading_part


@dataclass(frozen=True, slots=True)
class Point:
    """A circuit, measured on development data before the gate was opened and on the gate afterwards."""

    origin: str
    """How it was found, in a few words."""
    circuit: Circuit
    development: Measure
    gate: Measure

    def to_json(self) -> Json:
        """Return the point as JSON that `load_outcome` reads back."""
        return {
            "origin": self.origin,
            "circuit": self.circuit.to_json(),
            "development": self.development.to_json(),
            "gate": self.gate.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one generation's gate: the trial of the selected circuit, and others beside it."""

    generation: str
    task: str
    points: tuple[Point, ...]
    """Every candidate of the sweep."""
    nested: tuple[Point, ...]
    """The most important edges and no others, from one to all: what sparsity alone would give."""
    selected: Circuit

    @property
    def trial(self) -> Point:
        """Return the selected circuit's point."""
        return next(point for point in self.points if point.circuit == self.selected)

    @property
    def is_exact(self) -> bool:
        """Say whether the selected circuit decided every prompt of the gate as wanted."""
        return self.trial.gate.agreed == self.trial.gate.prompts

    def to_json(self) -> dict[str, Json]:
        """Return the outcome as JSON that `load_outcome` reads back."""
        return {
            "generation": self.generation,
            "task": self.task,
            "points": [point.to_json() for point in self.points],
            "nested": [point.to_json() for point in self.nested],
            "selected": [point.circuit for point in self.points].index(self.selected),
        }


def load_outcome(path: Path) -> tuple[Outcome, Digest]:
    """Read an outcome from its file, and the last line of the ledger when it was written."""
    with reading(read_json(path), str(path)) as fields:
        points = fields.each("points", _read_point)
        outcome = Outcome(
            generation=fields.text("generation"),
            task=fields.text("task"),
            points=points,
            nested=fields.each("nested", _read_point),
            selected=points[fields.integer("selected")].circuit,
        )
        return outcome, Digest(fields.text("ledger_head"))


def _read_point(fields: Fields) -> Point:
    circuit = parse_circuit(fields.value("circuit"), fields.path("circuit"))
    with reading_part(fields, "development") as part:
        development = read_measure(part)
    with reading_part(fields, "gate") as part:
        gate = read_measure(part)
    return Point(fields.text("origin"), circuit, development, gate)
