"""The record of a gate: how many edges it takes to be right on prompts that nobody selected by."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.spelling import parse_circuit
from circuitproof.files.canonical import Digest, Json
from circuitproof.files.codec import Codec, record_to_json
from circuitproof.files.reading import read_json, reading
from circuitproof.find.measure import Measure

GATE = "gate.result.json"


@dataclass(frozen=True, slots=True)
class FrontierPoint:
    """A circuit, measured on development data before the gate was opened and on the gate afterwards."""

    origin: str
    """How it was found, in a few words."""
    circuit: Circuit
    development: Measure
    gate: Measure
    """On the prompts of the gate that the model itself decides right."""
    missed: Mapping[str, int]
    """How many of those are not decided as wanted, by template and opener."""


@dataclass(frozen=True, slots=True)
class GatedPrograms:
    """The programs that were selected with the circuit before the gate was opened, measured on it once."""

    heads: int
    """How many heads the circuit reads."""
    found: int
    """How many of them have a program; the circuit is asked without the others."""
    edges: int
    right: int
    """How many prompts of the gate that the model itself decides right are right with the programs."""
    right_apart: int
    """How many of the others are."""


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """What came of one generation's gate: the trial of the selected circuit, and others beside it."""

    generation: str
    task: str
    points: tuple[FrontierPoint, ...]
    """Every candidate of the sweep."""
    nested: tuple[FrontierPoint, ...]
    """The most important edges and no others, from one to all: what sparsity alone would give."""
    selected: Circuit
    apart: tuple[int, ...]
    """The places of the gate's prompts that the model itself decides wrong: a circuit is not asked there."""
    programs: GatedPrograms | None
    """Nothing where a recipe selects none, or the circuit reads no head that has one."""

    @property
    def trial(self) -> FrontierPoint:
        """Return the selected circuit's point."""
        return next(point for point in self.points if point.circuit == self.selected)

    @property
    def seen(self) -> int:
        """Return how many prompts had been looked at before the gate was opened."""
        return self.trial.development.prompts

    @property
    def is_exact(self) -> bool:
        """Say whether the selected circuit decided all as wanted that the model itself decides right."""
        return self.trial.gate.agreed == self.trial.gate.prompts

    def to_json(self) -> dict[str, Json]:
        """Return the outcome as JSON that `load_outcome` reads back."""
        selected = [point.circuit for point in self.points].index(self.selected)
        return {**record_to_json(self), "selected": selected}


def load_outcome(path: Path) -> tuple[GateOutcome, Digest]:
    """Read an outcome from its file, and the last line of the ledger when it was written."""
    codec = Codec({Circuit: lambda fields, key: parse_circuit(fields.value(key), fields.path(key))})
    with reading(read_json(path), str(path)) as fields:
        points = codec.value(tuple[FrontierPoint, ...], fields, "points")
        selected = fields.entry("selected", points).circuit
        outcome = codec.record(GateOutcome, fields, points=points, selected=selected)
        return outcome, codec.value(Digest, fields, "ledger_head")
