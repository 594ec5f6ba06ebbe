"""What circuits must decide on a task: which candidate each of them must choose, alone, on each prompt."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from circuitproof.circuits.circuit import Circuit, whole
from circuitproof.errors import InputError
from circuitproof.find.choices import Objective
from circuitproof.forward.frozen import Frozen
from circuitproof.proof.claim import Claim
from circuitproof.proof.fold import fold
from circuitproof.proof.inexact import Need, refuse_inexact
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.tasks.task import Task


@dataclass(frozen=True, slots=True)
class DecisionTarget:
    """Circuits of a model, a task, and the wanted decisions. A tie is never the wanted decision."""

    task: Task
    circuits: tuple[Circuit, ...]
    wanted: tuple[int, ...]
    """The place of the wanted candidate on each prompt."""


def targets_of(
    frozen: Frozen, tasks: Sequence[Task], circuits: Sequence[Sequence[Circuit]], objective: Objective
) -> tuple[DecisionTarget, ...]:
    """Return the target on each task: its circuits must decide as the objective says.

    Everything is refused here that the exact engine could not answer later.
    """
    if not tasks or len(circuits) != len(tasks):
        raise InputError(f"{len(tasks)} tasks, circuits for {len(circuits)} of them; want one task or more")
    targets: list[DecisionTarget] = []
    for task, asked in zip(tasks, circuits, strict=True):
        if not asked:
            raise InputError(f"no circuit is asked on task {task.name!r}; there is nothing to agree with")
        for circuit in asked:
            Claim(frozen, circuit, task, (Equivalence(),))
        targets.append(DecisionTarget(task, tuple(asked), _wanted(frozen, task, objective)))
    return tuple(targets)


def _wanted(frozen: Frozen, task: Task, objective: Objective) -> tuple[int, ...]:
    match objective:
        case Objective.PROGRAM:
            return task.decisions()
        case Objective.MODEL:
            return _own_decisions(frozen, task)
        case _:
            assert_never(objective)


def _own_decisions(frozen: Frozen, task: Task) -> tuple[int, ...]:
    """Return what the model decides by itself, which must be exact and without ties."""
    everything = whole(frozen.graph)
    refuse_inexact(frozen, everything, Need.DECISIONS)
    found = fold(frozen, task.candidates, [everything], task.prompts).of(everything)
    if tied := [place for place, one in enumerate(found) if not one.is_clear]:
        raise InputError(
            f"the model ties on prompt {tied[0]} of task {task.name!r}: there is no decision to keep; "
            "want the right answers as the objective"
        )
    return tuple(one.winner for one in found)
