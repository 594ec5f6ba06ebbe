"""Minimality: which of the smaller circuits decide the task, each refuted by a named prompt or proved."""

from collections.abc import Sequence
from dataclasses import dataclass

from circuitproof.declare.circuits.circuit import Circuit
from circuitproof.declare.tasks.task import Task
from circuitproof.forward.frozen import Frozen
from circuitproof.prove.claim import contenders
from circuitproof.prove.effort import UNHURRIED, Pace
from circuitproof.prove.fold import fold

_ANCHORS = 8
"""So many prompts are tried first; most circuits that are wrong are wrong on one of them."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A circuit tried on a task: refuted by a prompt, or right everywhere."""

    circuit: Circuit
    refuting: int | None

    @property
    def is_equivalent(self) -> bool:
        return self.refuting is None


@dataclass(frozen=True, slots=True)
class FewestEdges:
    """How far a search for the fewest edges came."""

    refuted_below: int
    """Every circuit with fewer edges than this is refuted: a proved lower bound."""
    trials: tuple[Trial, ...]
    minimum: tuple[Circuit, ...]
    """All circuits of the smallest size that suffices, or none if the search ended before."""


def search_minimum(
    frozen: Frozen, task: Task, *, most: int, budget: int, pace: Pace = UNHURRIED
) -> FewestEdges:
    """Try all circuits of no edge, of one, of two, until some suffice; at most `most` edges each.

    A size with more than `budget` circuits is not begun, and one that there is no time for is not finished:
    what is refuted so far is the proved lower bound.
    """
    trials: list[Trial] = []
    for size in range(most + 1):
        circuits = contenders(frozen, task, frozen.graph.edges(), size)
        if len(circuits) > budget:
            return FewestEdges(size, tuple(trials), ())
        found = try_circuits(frozen, task, circuits, pace)
        trials.extend(found)
        if len(found) < len(circuits):
            return FewestEdges(size, tuple(trials), ())
        if minimum := tuple(trial.circuit for trial in found if trial.is_equivalent):
            return FewestEdges(size, tuple(trials), minimum)
    return FewestEdges(most + 1, tuple(trials), ())


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
        pairs = zip(places, folded.of(circuit), strict=True)
        wrong = (place for place, found in pairs if found.decision != frozenset({wanted[place]}))
        trials.append(Trial(circuit, next(wrong, None)))
    return trials
