"""Minimality: which of the smaller circuits decide the task, each refuted by a named prompt or proved."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from circuitproof.circuits.ablation import ZERO
from circuitproof.circuits.circuit import Circuit
from circuitproof.forward.frozen import Frozen
from circuitproof.proof.arithmetic import EXACT, ClaimArithmetic, ExactNumbers
from circuitproof.proof.claim import Among, edges_of
from circuitproof.proof.effort import UNHURRIED, Pace
from circuitproof.proof.enclosed import NOT_KNOWN, Ternary
from circuitproof.proof.fold import CandidateLogits, fold
from circuitproof.proof.known import decides, divide
from circuitproof.tasks.task import Task
from circuitproof.workers import SERIAL, Division

_ANCHORS = 8
"""So many prompts are tried first; most circuits that are wrong are wrong on one of them."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A circuit tried on a task: refuted by a prompt, right everywhere, or right wherever that is known."""

    circuit: Circuit
    refuting: int | None
    """The place of a prompt that it decides wrong."""
    folds: tuple[CandidateLogits, ...]
    """The fold of that prompt, or of all prompts, in order, if there is none."""
    open: tuple[int, ...] = ()
    """The places of prompts of which it is not known; none of a circuit that is refuted."""

    @property
    def is_equivalent(self) -> Ternary:
        return self.refuting is None and (NOT_KNOWN if self.open else True)


class SearchLimit(StrEnum):
    """What can end a search before it finds a circuit."""

    MOST = "most"
    """No circuit of more edges was to be tried."""
    BUDGET = "budget"
    """There are more circuits of the next size than may be tried."""
    TIME = "time"
    """Not all circuits of a size were tried."""
    OPEN = "open"
    """Of some circuits of a size it is not known whether they decide the task."""
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
    ended_by: SearchLimit | None = None
    """What ended it before, if it did."""
    arithmetic: ClaimArithmetic = EXACT
    """The last that it computed in: the finest, where logits are enclosed."""


def search_minimum(  # noqa: PLR0913  # a search has these bounds
    frozen: Frozen,
    task: Task,
    *,
    budget: int,
    most: int | None = None,
    among: Circuit | None = None,
    pace: Pace = UNHURRIED,
    arithmetic: ClaimArithmetic = EXACT,
    workers: Division = SERIAL,
) -> FewestEdges:
    """Try all circuits of no edge, of one, of two, until some suffice; at most `most` edges each.

    `among` is the circuit whose edges may be kept; without one, all of the model. A size with more than
    `budget` circuits is not begun, and one that there is no time for is not finished: what is refuted so far
    is the proved lower bound. Circuits that an arithmetic leaves open are tried again in a finer one.
    """
    graph, ablation = (frozen.graph, ZERO) if among is None else (among.graph, among.ablation)
    edges = edges_of(frozen, graph) if among is None else tuple(among)
    every = Among(frozen, task, graph, ablation)
    last = len(edges) if most is None else min(most, len(edges))
    trials: list[Trial] = []
    for size in range(last + 1):
        circuits = every.contenders(edges, size, budget + 1)
        if len(circuits) > budget:
            return FewestEdges(size, tuple(trials), (), SearchLimit.BUDGET, arithmetic)
        found, arithmetic = _try_finely(frozen, task, circuits, pace, arithmetic, workers)
        trials.extend(found)
        if len(found) < len(circuits):
            return FewestEdges(size, tuple(trials), (), SearchLimit.TIME, arithmetic)
        if any(trial.open for trial in found):
            return FewestEdges(size, tuple(trials), (), SearchLimit.OPEN, arithmetic)
        if minimum := tuple(trial.circuit for trial in found if trial.is_equivalent is True):
            return FewestEdges(size, tuple(trials), minimum, arithmetic=arithmetic)
    ended_by = SearchLimit.EDGES if last == len(edges) else SearchLimit.MOST
    return FewestEdges(last + 1, tuple(trials), (), ended_by, arithmetic)


def _try_finely(  # noqa: PLR0913, PLR0917  # a search has these bounds
    frozen: Frozen,
    task: Task,
    circuits: Sequence[Circuit],
    pace: Pace,
    arithmetic: ClaimArithmetic,
    workers: Division,
) -> tuple[tuple[Trial, ...], ClaimArithmetic]:
    """Try circuits, those that stay open in finer arithmetics, and return the last arithmetic too."""
    tried = try_circuits(frozen, task, circuits, pace, arithmetic=arithmetic, workers=workers)
    known = {one.circuit: one for one in tried}
    while (left := [one.circuit for one in known.values() if one.open]) and not pace.is_over:
        finer = None if isinstance(arithmetic, ExactNumbers) else arithmetic.finer()
        if finer is None:
            break
        arithmetic = finer
        tried = try_circuits(frozen, task, left, pace, arithmetic=arithmetic, workers=workers)
        known |= {one.circuit: one for one in tried}
    return tuple(known[circuit] for circuit in circuits if circuit in known), arithmetic


def try_circuits(  # noqa: PLR0913  # a computation is all of this
    frozen: Frozen,
    task: Task,
    circuits: Sequence[Circuit],
    pace: Pace = UNHURRIED,
    *,
    arithmetic: ClaimArithmetic = EXACT,
    workers: Division = SERIAL,
) -> tuple[Trial, ...]:
    """Return for each circuit a prompt that refutes it, or that it decides the task, if there is time."""

    def tried(some: Sequence[Circuit], places: Sequence[int]) -> list[Trial]:
        prompts = [task.prompts[place] for place in places]
        asked = (frozen, task.candidates, some, prompts, pace)
        folded = fold(*asked, arithmetic=arithmetic, workers=workers)
        return [_trial(one, task, places, folded.of(one)) for one in some if folded.has([one])]

    first = tried(circuits, task.spread(_ANCHORS))
    second = tried([trial.circuit for trial in first if trial.refuting is None], range(task.size))
    refuted = [trial for trial in first if trial.refuting is not None]
    known = {trial.circuit: trial for trial in (*refuted, *second)}
    return tuple(known[circuit] for circuit in circuits if circuit in known)


def _trial(circuit: Circuit, task: Task, places: Sequence[int], folds: tuple[CandidateLogits, ...]) -> Trial:
    wanted = task.decisions()
    right = divide(decides(found, wanted[x]) for x, found in zip(places, folds, strict=True))
    if right.no:
        return Trial(circuit, places[right.no[0]], (folds[right.no[0]],))
    return Trial(circuit, None, folds, tuple(places[place] for place in right.open))
