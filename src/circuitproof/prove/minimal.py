"""Minimality: which of the smaller circuits decide the task, each refuted by a named prompt or proved."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from circuitproof.declare.circuits.ablation import ZERO
from circuitproof.declare.circuits.circuit import Circuit
from circuitproof.declare.tasks.task import Task
from circuitproof.forward.frozen import Frozen
from circuitproof.prove.claim import Among, edges_of
from circuitproof.prove.effort import UNHURRIED, Pace
from circuitproof.prove.fold import Fold, fold

_ANCHORS = 8
"""So many prompts are tried first; most circuits that are wrong are wrong on one of them."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A circuit tried on a task: refuted by a prompt, or right everywhere."""

    circuit: Circuit
    refuting: int | None
    """The place of a prompt that it decides wrong."""
    folds: tuple[Fold, ...]
    """The fold of that prompt, or of all prompts, in order, if there is none."""

    @property
    def is_equivalent(self) -> bool:
        return self.refuting is None


class Bound(StrEnum):
    """What can end a search before it finds a circuit."""

    MOST = "most"
    """No circuit of more edges was to be tried."""
    BUDGET = "budget"
    """There are more circuits of the next size than may be tried."""
    TIME = "time"
    """Not all circuits of a size were tried."""
    EDGES = "edges"
    """There is none of more edges: all circuits are refuted."""


@dataclass(frozen=True, slots=True)
class FewestEdges:
    """How far a search for the fewest edges came."""

    refuted_below: int
    """Every circuit with fewer edges than this is refuted: a proved lower bound."""
    trials: tuple[Trial, ...]
    minimum: tuple[Circuit, ...]
    """All circuits of the smallest size that suffices, or none if the search ended before."""
    ended_by: Bound | None = None
    """What ended it before, if it did."""


def search_minimum(  # noqa: PLR0913  # a search has these bounds
    frozen: Frozen,
    task: Task,
    *,
    budget: int,
    most: int | None = None,
    among: Circuit | None = None,
    pace: Pace = UNHURRIED,
) -> FewestEdges:
    """Try all circuits of no edge, of one, of two, until some suffice; at most `most` edges each.

    `among` is the circuit whose edges may be kept; without one, all of the model. A size with more than
    `budget` circuits is not begun, and one that there is no time for is not finished: what is refuted so far
    is the proved lower bound.
    """
    graph, ablation = (frozen.graph, ZERO) if among is None else (among.graph, among.ablation)
    edges = edges_of(frozen, graph) if among is None else tuple(among)
    every = Among(frozen, task, graph, ablation)
    last = len(edges) if most is None else min(most, len(edges))
    trials: list[Trial] = []
    for size in range(last + 1):
        circuits = every.contenders(edges, size, budget + 1)
        if len(circuits) > budget:
            return FewestEdges(size, tuple(trials), (), Bound.BUDGET)
        found = try_circuits(frozen, task, circuits, pace)
        trials.extend(found)
        if len(found) < len(circuits):
            return FewestEdges(size, tuple(trials), (), Bound.TIME)
        if minimum := tuple(trial.circuit for trial in found if trial.is_equivalent):
            return FewestEdges(size, tuple(trials), minimum)
    return FewestEdges(last + 1, tuple(trials), (), Bound.EDGES if last == len(edges) else Bound.MOST)


def try_circuits(
    frozen: Frozen, task: Task, circuits: Sequence[Circuit], pace: Pace = UNHURRIED
) -> tuple[Trial, ...]:
    """Return for each circuit a prompt that refutes it, or that it decides the task, if there is time."""
    first = _try(frozen, task, circuits, task.spread(_ANCHORS), pace)
    left = [trial.circuit for trial in first if trial.is_equivalent]
    second = _try(frozen, task, left, range(task.size), pace)
    refuted = [trial for trial in first if not trial.is_equivalent]
    known = {trial.circuit: trial for trial in (*refuted, *second)}
    return tuple(known[circuit] for circuit in circuits if circuit in known)


def _try(
    frozen: Frozen, task: Task, circuits: Sequence[Circuit], places: Sequence[int], pace: Pace
) -> list[Trial]:
    wanted, prompts = task.decisions(), [task.prompts[place] for place in places]
    folded = fold(frozen, task.candidates, circuits, prompts, pace)
    trials: list[Trial] = []
    for circuit in filter(folded.places.__contains__, circuits):
        folds = folded.of(circuit)
        pairs = zip(places, folds, strict=True)
        wrong = ((x, (found,)) for x, found in pairs if found.decision != frozenset({wanted[x]}))
        trials.append(Trial(circuit, *next(wrong, (None, folds))))
    return trials
