"""Synthesis: a program for a neural head, accepted by exact decisions, or a proof that none will do.

    found = synthesise(model, tasks, head, circuits, bounds)
    found.program     # the program, or nothing
    found.outcome     # Realised, Unrealisable (a certificate) or Unfinished (which bound was met)
    found.leaders     # the programs nearest to the head's attention, accepted or not

`circuits` maps the name of a task to its circuit; a task without one is asked of the whole model alone.
Candidates are ranked by how their support overlaps with the head's own on all queries of the prompts. That is
only an order: a candidate is accepted when the whole model and the circuit, each with it in the place of the
head, decide as wanted on every prompt of every task, in exact arithmetic; a tie is not as wanted.

The search itself is `search.ProgramSearch`. At its end stands a program, or the whole language and a
certificate that nothing in it will do.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from circuitproof.circuits.circuit import Circuit, whole
from circuitproof.circuits.graph import Head
from circuitproof.errors import DeclarationError, InputError, UsageError
from circuitproof.forward.frozen import Frozen, open_model
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.nn.transformer import Transformer
from circuitproof.programs.syntax import Program
from circuitproof.proof.effort import UNHURRIED, Pace
from circuitproof.proof.fold import fold
from circuitproof.tasks.task import Task
from circuitproof_lab.distill.attention import record
from circuitproof_lab.distill.choices import Scope
from circuitproof_lab.distill.decide import Decider, with_program
from circuitproof_lab.distill.decision_target import DecisionTarget, targets_of
from circuitproof_lab.distill.prefix_table import PrefixTable
from circuitproof_lab.distill.program_search import ProgramSearch
from circuitproof_lab.distill.synthesis import (
    Bounds,
    Realised,
    Synthesis,
    SynthesisOutcome,
    Unfinished,
)
from circuitproof_lab.distill.unrealisable import RefutedMeaning, Unrealisable, model_digest


def synthesise(  # noqa: PLR0913  # what is searched for, and until when
    model: Transformer,
    tasks: Sequence[Task],
    head: Head,
    circuits: Mapping[str, Circuit],
    bounds: Bounds,
    *,
    pace: Pace = UNHURRIED,
) -> Synthesis:
    """Find a program for a head within bounds, or show that there is none."""
    if unknown := sorted(circuits.keys() - {task.name for task in tasks}):
        raise InputError(f"there is a circuit for {unknown[0]!r}, which is not among the tasks")
    frozen = freeze(model)
    asked = [_asked(frozen, circuits.get(task.name), bounds.scope) for task in tasks]
    targets = targets_of(frozen, tasks, asked, bounds.objective)
    prefix_table = PrefixTable(tuple(prompt for task in tasks for prompt in task.prompts))
    decider = Decider(frozen, head, targets, prefix_table, pace)
    search = ProgramSearch(decider, record(model, head, prefix_table), bounds)
    return Synthesis(
        head=head,
        bounds=bounds,
        outcome=_outcome(search, search.run(), frozen, decider),
        record=search.record,
        effort=search.effort(),
        leaders=search.leaders(),
    )


def _outcome(search: ProgramSearch, reason: str | None, frozen: Frozen, decider: Decider) -> SynthesisOutcome:
    """Return what a search came to: a program, a bound that was met, or that everything is refuted."""
    if search.accepted is not None:
        return _realised(frozen, decider, search.meanings.program(search.accepted))
    return _certificate(search, frozen, decider) if reason is None else Unfinished(reason)


def _realised(frozen: Frozen, decider: Decider, program: Program) -> Realised:
    """Accept a program that the engine accepts as it would anywhere else, prompt by prompt."""
    if not accepts(frozen, decider.head, program, decider.targets):
        raise DeclarationError("a candidate was accepted, its program is not: a mistake in the search")
    return Realised(program)


def _certificate(search: ProgramSearch, frozen: Frozen, decider: Decider) -> Unrealisable:
    meanings, targets = search.meanings, decider.targets
    return Unrealisable(
        model=model_digest(frozen),
        head=decider.head,
        objective=search.bounds.objective,
        tasks=tuple(target.task.digest for target in targets),
        circuits=tuple(target.circuits for target in targets),
        language=meanings.language,
        digest=meanings.digest,
        refuted=tuple(
            RefutedMeaning(meanings.program(place), search.refuted[place]) for place in range(len(meanings))
        ),
    )


def freeze(model: Transformer) -> Frozen:
    """Return a model as proofs see it, by way of its files."""
    with TemporaryDirectory() as folder:
        save_model(Path(folder) / "model", StoredModel(model, None))
        return open_model(Path(folder) / "model")


def accepts(frozen: Frozen, head: Head, program: Program, targets: Iterable[DecisionTarget]) -> bool:
    """Say whether every circuit decides as wanted on every prompt with a program in the place of a head."""
    installed = with_program(frozen, head, program)
    for target in targets:
        folded = fold(installed, target.task.candidates, target.circuits, target.task.prompts)
        for circuit in target.circuits:
            pairs = zip(folded.of(circuit), target.wanted, strict=True)
            if any(found.decision != frozenset({wanted}) for found, wanted in pairs):
                return False
    return True


def _asked(frozen: Frozen, circuit: Circuit | None, scope: Scope) -> tuple[Circuit, ...]:
    everything = whole(frozen.graph)
    if scope is Scope.MODEL or (circuit is None and scope is Scope.BOTH):
        return (everything,)
    if circuit is None:
        raise UsageError("circuits alone are to accept programs, but a task has none; give its circuit")
    return (circuit,) if scope is Scope.CIRCUIT else (everything, circuit)
