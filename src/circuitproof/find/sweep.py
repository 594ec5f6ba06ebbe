"""A sweep over thresholds: one candidate circuit for each, all of them kept for the report."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import assert_never

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.spelling import parse_edges
from circuitproof.errors import InputError, OverdueError
from circuitproof.files.canonical import Json
from circuitproof.files.codec import Codec, record_to_json
from circuitproof.files.reading import Fields
from circuitproof.find.bisection import prune_prefix, prune_runs
from circuitproof.find.choices import Objective, Search
from circuitproof.find.measure import Measure
from circuitproof.find.objective import OVERDUE, Meter, Tolerance
from circuitproof.find.parts import EdgeGroup
from circuitproof.find.prune import Pruned, prune
from circuitproof.nn.transformer import Transformer
from circuitproof.proof.effort import Pace
from circuitproof.tasks.task import Task
from circuitproof.workers import SERIAL, Division, Serial, clock, end_of, mapped


@dataclass(frozen=True, slots=True)
class CircuitCandidate:
    """A circuit that a threshold led to."""

    threshold: float
    circuit: Circuit
    measure: Measure

    def to_json(self) -> Json:
        return {
            "threshold": self.threshold,
            **record_to_json(self.measure),
            "nodes": len(self.circuit.nodes()),
            "heads": len(self.circuit.heads()),
            "edges": [str(edge) for edge in self.circuit],
        }


def read_candidate(fields: Fields, chosen: Circuit) -> CircuitCandidate:
    """Read a candidate as its `to_json` writes it, of the graph and ablation of the one chosen."""
    circuit = parse_edges(chosen.graph, fields.texts("edges"), fields.where, chosen.ablation)
    found = (fields.integer("nodes"), fields.integer("heads"))
    if found != (len(circuit.nodes()), len(circuit.heads())):
        raise InputError(f"{fields.where} counts {found} nodes and heads, its edges have others")
    return CircuitCandidate(fields.number("threshold", above=-1), circuit, Codec().record(Measure, fields))


def sweep(
    meter: Meter,
    order: Sequence[EdgeGroup],
    tolerances: Sequence[Tolerance],
    search: Search = Search.GREEDY,
    workers: Division = SERIAL,
) -> tuple[CircuitCandidate, ...]:
    """Return the candidate of each tolerance, in the order given, as long as the meter has time.

    Each is what a fresh run would find. Here work is shared without changing that: the meter runs no circuit
    twice, and what became of the parts at one threshold is the guess for the next. Workers begin afresh.
    """
    if not tolerances:
        raise InputError("no thresholds to sweep; give at least one")
    if isinstance(workers, Serial):
        return _swept(meter, order, tolerances, search)
    end = end_of(meter.pace.left)
    sent = FreshSweep(meter.model, meter.task, meter.objective, meter.every, tuple(order), search, end)
    found = mapped(candidate_at, sent, tolerances, workers)
    steps = [next(found) for _ in meter.pace.each("thresholds", tolerances)]
    candidates = tuple(takewhile(lambda one: one is not None, steps))
    if not candidates:
        raise OverdueError(OVERDUE)
    return tuple(one for one in candidates if one is not None)


@dataclass(frozen=True, slots=True, eq=False)
class FreshSweep:
    """What a worker needs for the candidate of a tolerance."""

    model: Transformer
    task: Task
    objective: Objective
    every: Circuit
    order: tuple[EdgeGroup, ...]
    search: Search
    end: float
    """When it has to end."""


def candidate_at(asked: FreshSweep, tolerance: Tolerance) -> CircuitCandidate | None:
    """Return the candidate of a tolerance, if there is time for it."""
    meter = Meter(asked.model, asked.task, asked.objective, Pace(asked.end, clock), asked.every)
    try:
        return _candidate(meter, tolerance, _search(meter, asked.order, tolerance, asked.search, None))
    except OverdueError:
        return None


def _candidate(meter: Meter, tolerance: Tolerance, found: Pruned) -> CircuitCandidate:
    return CircuitCandidate(tolerance.threshold, found.circuit, meter.alone(found.circuit))


def _swept(
    meter: Meter, order: Sequence[EdgeGroup], tolerances: Sequence[Tolerance], search: Search
) -> tuple[CircuitCandidate, ...]:
    candidates: list[CircuitCandidate] = []
    guess: Sequence[bool] | None = None
    for tolerance in meter.pace.each("thresholds", tolerances):
        try:
            found = _search(meter, order, tolerance, search, guess)
        except OverdueError:
            if not candidates:
                raise
            break
        guess = found.removed
        candidates.append(_candidate(meter, tolerance, found))
    return tuple(candidates)


def _search(
    meter: Meter,
    order: Sequence[EdgeGroup],
    tolerance: Tolerance,
    search: Search,
    guess: Sequence[bool] | None,
) -> Pruned:
    match search:
        case Search.GREEDY:
            return prune(meter, order, tolerance, guess)
        case Search.BISECTION:
            return prune_prefix(meter, order, tolerance)
        case Search.RUNS:
            return prune_runs(meter, order, tolerance)
        case _:
            assert_never(search)
