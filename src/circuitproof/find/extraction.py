"""Extracting a circuit from a stored model: from files to a chosen circuit and a report of all candidates."""

from dataclasses import dataclass, replace
from pathlib import Path

from circuitproof.circuits.ablation import ZERO, Ablation, Zero
from circuitproof.circuits.ablation_asked import AskedAblation, ablation_asked
from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.readers import reads_prompt
from circuitproof.circuits.spelling import load_circuit
from circuitproof.errors import DeclarationError, InputError, UsageError, keeping
from circuitproof.files.canonical import Digest, Json, readable_json, refuse_existing, write_files
from circuitproof.files.codec import Positive, record_to_json, to_json
from circuitproof.files.devices import CPU, Device
from circuitproof.files.reading import about, read_fields
from circuitproof.files.sealed import read_manifest
from circuitproof.find.attribute import arrange
from circuitproof.find.choices import Objective, Order, RemovalUnit, Search, SelectionRule
from circuitproof.find.objective import Meter, Tolerance
from circuitproof.find.parts import EdgeGroup, parts_of
from circuitproof.find.selection import select
from circuitproof.find.sweep import CircuitCandidate, read_candidate, sweep
from circuitproof.models.declaration import WEIGHTS, ProgramHeads, read_declaration
from circuitproof.nn.checkpoint import load_model
from circuitproof.proof.claim import is_unread
from circuitproof.proof.effort import UNHURRIED, Pace
from circuitproof.tasks.task import Task
from circuitproof.workers import SERIAL, Division, Serial

THRESHOLDS = (0.0001, 0.001, 0.01, 0.1, 1.0)
"""What is swept when nobody says otherwise, in nats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionMethod:
    """Everything that is fixed before a circuit is looked for."""

    objective: Objective = Objective.MODEL
    granularity: RemovalUnit = RemovalUnit.HEAD
    order: Order = Order.ATTRIBUTION
    search: Search = Search.GREEDY
    rule: SelectionRule = SelectionRule.SPARSITY
    thresholds: tuple[Positive, ...] = THRESHOLDS
    agreement: Positive = 1.0

    def __post_init__(self) -> None:
        if not self.thresholds:
            raise DeclarationError("no thresholds to sweep; give at least one")
        if len(set(self.thresholds)) != len(self.thresholds):
            raise DeclarationError(f"thresholds are {self.thresholds}; give each of them once")
        self.tolerances()

    def tolerances(self) -> tuple[Tolerance, ...]:
        """Return what each step of the sweep may cost, the least first."""
        return tuple(Tolerance(threshold, self.agreement) for threshold in sorted(self.thresholds))


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """The chosen circuit, every candidate, and what they were found from."""

    task: str
    task_digest: Digest
    weights_digest: Digest
    method: ExtractionMethod
    programs: ProgramHeads
    """Those of the model's heads."""
    order: tuple[EdgeGroup, ...]
    """The parts as they were tried."""
    candidates: tuple[CircuitCandidate, ...]
    selected: CircuitCandidate

    @property
    def is_whole(self) -> bool:
        """Say whether there was time for every threshold."""
        return len(self.candidates) == len(self.method.thresholds)

    @property
    def circuit(self) -> Circuit:
        return self.selected.circuit

    def to_json(self) -> Json:
        return {
            "task": self.task,
            "task_digest": str(self.task_digest),
            "weights_digest": str(self.weights_digest),
            **record_to_json(self.method),
            "ablation": self.circuit.ablation.name,
            "thresholds": [*sorted(self.method.thresholds)],
            "parts": [[str(edge) for edge in part] for part in self.order],
            "candidates": to_json(self.candidates),
            "selected": self.candidates.index(self.selected),
            "circuit_digest": str(self.circuit.digest),
        }


def extract(  # noqa: PLR0913  # what is looked for, how, and where it goes
    model_path: Path,
    task: str | Task,
    method: ExtractionMethod,
    out: Path | None,
    pace: Pace = UNHURRIED,
    *,
    ablation: AskedAblation = None,
    device: Device = CPU,
    workers: Division = SERIAL,
) -> Extraction:
    """Find circuits, choose one, and write it to `out`, if there is such a place, with the report beside."""
    refuse_existing(*(() if out is None else (out, report_path(out))))
    declaration = read_declaration(model_path)
    asked = declaration.listed_task(task)
    cut = ablation_asked(ablation, asked, declaration.alphabet) or ZERO
    found = find_circuits(model_path, asked, method, pace, cut, device, workers)
    refuse_senseless(found)
    if out is not None:
        with keeping(found):
            write_extraction(found, out)
    return found


def refuse_senseless(found: Extraction) -> None:
    """Refuse what was found where nothing of the prompt is read: no claim can be made of such a circuit."""
    is_blind = isinstance(found.circuit.ablation, Zero) and not reads_prompt(found.circuit, found.programs)
    if is_blind or not found.circuit.edges:
        measure = found.selected.measure
        raise InputError(
            f"{found.task}: {len(found.circuit)} edges that do not read the prompt agree on "
            f"{measure.agreed} of {measure.prompts} prompts, so the model does not depend on it; "
            "there is no circuit to find"
        )


def find_circuits(  # noqa: PLR0913, PLR0917  # what is looked for, how, and where it is computed
    model_path: Path,
    task: Task,
    method: ExtractionMethod,
    pace: Pace = UNHURRIED,
    ablation: Ablation = ZERO,
    device: Device = CPU,
    workers: Division = SERIAL,
) -> Extraction:
    """Find circuits of a stored model on a task and choose one by the method's rule."""
    if device != CPU and not isinstance(workers, Serial):
        raise UsageError(f"the work is divided among processors, and the device is {device}; leave out one")
    stored = load_model(model_path, device)
    stored.declaration.refuse_unfit(task)
    graph = replace(stored.model.graph, granularity=method.granularity.granularity)
    programs = stored.declaration.programs
    parts = [part for part in parts_of(graph, method.granularity) if not is_unread(part[0], programs)]
    every = Circuit(graph, frozenset(edge for part in parts for edge in part), ablation)
    with about(str(model_path)):
        meter = Meter(stored.model, task, method.objective, pace, every)
        order = arrange(meter, parts, method.order)
        candidates = sweep(meter, order, method.tolerances(), method.search, workers)
    return Extraction(
        task=task.name,
        task_digest=task.digest,
        weights_digest=read_manifest(model_path)[WEIGHTS],
        method=method,
        programs=programs,
        order=order,
        candidates=candidates,
        selected=select(candidates, method.rule, method.agreement),
    )


def write_extraction(found: Extraction, out: Path) -> None:
    """Write the chosen circuit and beside it the report.

    The circuit is written last: where it is, the report is too.
    """
    report, circuit = readable_json(found.to_json()), readable_json(found.circuit.to_json())
    write_files({report_path(out): report, out: circuit})


def report_path(out: Path) -> Path:
    """Return where the report on the circuit in `out` stands.

    >>> str(report_path(Path("quotes.circuit.json")))
    'quotes.circuit.report.json'
    """
    return out.with_suffix(".report.json")


def load_order(circuit: Path) -> tuple[EdgeGroup, ...]:
    """Read the parts as they were tried from the report beside the circuit that was chosen."""
    path, edges = report_path(circuit), {str(edge): edge for edge in load_circuit(circuit).graph.edges()}
    fields = read_fields(path)
    rows = fields.text_rows("parts")
    if unknown := [name for row in rows for name in row if name not in edges]:
        raise InputError(f"{fields.path('parts')} has {unknown[0]!r}, no edge of the circuit's graph")
    return tuple(tuple(edges[name] for name in row) for row in rows)


def load_candidates(circuit: Path) -> tuple[CircuitCandidate, ...]:
    """Read every candidate from the report beside the circuit that was chosen."""
    chosen, fields = load_circuit(circuit), read_fields(report_path(circuit))
    return fields.each("candidates", lambda candidate: read_candidate(candidate, chosen))
