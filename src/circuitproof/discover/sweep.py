"""A sweep over thresholds: one candidate circuit for each, all of them kept for the report."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import assert_never

from circuitproof.canonical import Json
from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Head
from circuitproof.discover.bisection import prune_prefix, prune_runs
from circuitproof.discover.choices import Search
from circuitproof.discover.objective import Measure, Meter, Tolerance
from circuitproof.discover.parts import Part
from circuitproof.discover.prune import Pruned, prune
from circuitproof.errors import InputError


@dataclass(frozen=True, slots=True)
class Candidate:
    """A circuit that a threshold led to."""

    threshold: float
    circuit: Circuit
    measure: Measure

    @property
    def heads(self) -> int:
        """Return how many heads the circuit touches."""
        return sum(isinstance(node, Head) for node in self.circuit.nodes())

    def to_json(self) -> Json:
        """Return the candidate as JSON, with its edges."""
        return {
            "threshold": self.threshold,
            **self.measure.to_json(),
            "nodes": len(self.circuit.nodes()),
            "heads": self.heads,
            "edges": [str(edge) for edge in self.circuit],
        }


def sweep(
    meter: Meter,
    order: Sequence[Part],
    tolerances: Sequence[Tolerance],
    search: Search = Search.GREEDY,
    on_candidate: Callable[[Candidate], None] = lambda _: None,
) -> tuple[Candidate, ...]:
    """Return the candidate of each tolerance, in the order given.

    Each is what a fresh run would find. Work is shared without changing that: the meter runs no circuit
    twice, and what became of the parts at one threshold is the guess for the next.
    """
    if not tolerances:
        raise InputError("no thresholds to sweep; give at least one")
    candidates: list[Candidate] = []
    guess: Sequence[bool] | None = None
    for tolerance in tolerances:
        found = _search(meter, order, tolerance, search, guess)
        guess = found.removed
        candidates.append(Candidate(tolerance.threshold, found.circuit, found.measure))
        on_candidate(candidates[-1])
    return tuple(candidates)


def _search(
    meter: Meter, order: Sequence[Part], tolerance: Tolerance, search: Search, guess: Sequence[bool] | None
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
