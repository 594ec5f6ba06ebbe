"""Synthesis: a program for a neural head, accepted by exact decisions, or a proof that none will do.

    found = synthesise(model, tasks, head, circuits, bounds)
    found.program     # the program, or nothing
    found.outcome     # Realised, Unrealisable (a certificate) or Unfinished (which bound was met)
    found.leaders     # the programs nearest to the head's attention, accepted or not

`circuits` maps the name of a task to its circuit; a task without one is asked of the whole model alone.
Candidates are ranked by how their support overlaps with the head's own on all queries of the prompts. That is
only an order: a candidate is accepted when the whole model and the circuit, each with it in the place of the
head, decide as wanted on every prompt of every task, in exact arithmetic; a tie is not as wanted.

The whole bounded language is ranked at once, or it grows (`Growth.GUIDED`): the search then begins without
any token, position or distance to speak of, and as long as every program over its words is refuted, the best
of them shows which word it lacks: counterexample-guided inductive synthesis (CEGIS). Guided search finds a
program of few words, the other one of large overlap. At the end of both stands the whole language and a
certificate that nothing in it will do.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from circuitproof.declare.circuits.circuit import Circuit, whole
from circuitproof.declare.circuits.graph import Head
from circuitproof.declare.programs.candidates import Language, Word, words_of
from circuitproof.declare.programs.syntax import Program
from circuitproof.declare.tasks.task import Task
from circuitproof.errors import DeclarationError, InputError, OverdueError, UsageError
from circuitproof.forward.frozen import Frozen, open_model
from circuitproof.lab.distill.choices import Growth, Scope
from circuitproof.lab.distill.decide import Decider, Refutation, growing, with_program
from circuitproof.lab.distill.demand import Demand, demands_of
from circuitproof.lab.distill.ground import Ground
from circuitproof.lab.distill.meanings import Meanings
from circuitproof.lab.distill.record import Record, record
from circuitproof.lab.distill.separate import separating_word
from circuitproof.lab.distill.synthesis import (
    Bounds,
    Effort,
    Leader,
    Outcome,
    Realised,
    Synthesis,
    Unfinished,
)
from circuitproof.lab.distill.unrealisable import RefutedMeaning, Unrealisable, model_digest
from circuitproof.lab.model.checkpoint import StoredModel, save_model
from circuitproof.lab.model.transformer import Transformer
from circuitproof.prove.effort import UNHURRIED, Pace
from circuitproof.prove.fold import fold

_FIRST_BLOCK, _LARGEST_BLOCK = 64, 4096
_SCREEN = 15
"""On so many prompts all candidates of a block are decided together, before each goes on alone."""
_LEADERS = 10


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
    demands = demands_of(frozen, tasks, asked, bounds.objective)
    ground = Ground(tuple(prompt for task in tasks for prompt in task.prompts))
    decider = Decider(frozen, head, demands, ground, pace)
    search = _ProgramSearch(frozen, decider, record(model, head, ground), bounds)
    outcome = search.run()
    return Synthesis(
        head=head,
        bounds=bounds,
        outcome=outcome,
        record=search.record,
        effort=search.effort(),
        leaders=search.leaders(),
    )


def freeze(model: Transformer) -> Frozen:
    """Return a model as proofs see it, by way of its files."""
    with TemporaryDirectory() as folder:
        save_model(Path(folder) / "model", StoredModel(model, None))
        return open_model(Path(folder) / "model")


def accepts(frozen: Frozen, head: Head, program: Program, demands: Iterable[Demand]) -> bool:
    """Say whether every circuit decides as wanted on every prompt with a program in the place of a head."""
    installed = with_program(frozen, head, program)
    for demand in demands:
        folded = fold(installed, demand.task.candidates, demand.circuits, demand.task.prompts)
        for circuit in demand.circuits:
            pairs = zip(folded.of(circuit), demand.wanted, strict=True)
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


class _ProgramSearch:
    """A search while it goes on."""

    def __init__(self, frozen: Frozen, decider: Decider, seen: Record, bounds: Bounds) -> None:
        self.frozen, self.head, self.demands = frozen, decider.head, decider.demands
        self.record, self.bounds, self.decider = seen, bounds, decider
        self.meanings = Meanings(seen.ground, bounds.grammar, seen.support)
        self.refuted: dict[int, Refutation] = {}
        self.accepted: int | None = None
        self.rounds = 0
        self.formed = 0
        words = words_of(seen.ground.prompts, bounds.grammar) if bounds.words is None else bounds.words
        self._pending = list(dict.fromkeys(words))

    def run(self) -> Outcome:
        """Walk through the language until a program is accepted, none is left, or time is over."""
        try:
            return self._walk()
        except OverdueError:
            refuted, formed = len(self.refuted), len(self.meanings)
            return Unfinished(f"the work was ended with {refuted} of {formed} meanings refuted")

    def _walk(self) -> Outcome:
        """Take words in one by one, or all at once, and decide the programs that they allow."""
        fresh: list[Word] = []
        if self.bounds.growth is not Growth.GUIDED:
            fresh, self._pending = self._pending, []
        while (reason := self._learn(fresh)) is None:
            self.rounds += 1
            self.accepted = self._try(self.meanings.grow(self.decider.pace))
            if self.accepted is not None:
                return self._realised(self.meanings.program(self.accepted))
            if not self._pending:
                return self._ended()
            fresh = [self._lacking()]
            self._pending.remove(fresh[0])
        return Unfinished(reason)

    def effort(self) -> Effort:
        return Effort(
            rounds=self.rounds,
            words=len(self.meanings.words),
            programs=self.meanings.language.program_count(),
            meanings=len(self.meanings),
            tried=len(self.refuted) + (self.accepted is not None),
            decisions=self.decider.decisions,
        )

    def leaders(self) -> tuple[Leader, ...]:
        """Return the candidates nearest to the head's attention, and the accepted one."""
        places = sorted(range(len(self.meanings)), key=self.meanings.rank)[:_LEADERS]
        if self.accepted is not None and self.accepted not in places:
            places.append(self.accepted)
        return tuple(
            Leader(self.meanings.program(place), self.meanings.overlaps[place], place == self.accepted)
            for place in places
        )

    def _learn(self, words: Sequence[Word]) -> str | None:
        """Take in words; return why not, if the programs they allow are too many."""
        language = Language(self.bounds.grammar, (*self.meanings.words, *words))
        if language.rule_count() > self.bounds.budget:
            return self._too_many(language.rule_count(), "rules", language)
        self.formed += self.meanings.learn(words)
        if self.formed > self.bounds.budget:
            return self._too_many(self.formed, "programs", language)
        return None

    def _too_many(self, count: int, what: str, language: Language) -> str:
        words, most = len(language.words), self.bounds.budget
        return f"{count} {what} over {words} words, more than {most}; want smaller bounds or a larger budget"

    def _try(self, places: Iterable[int]) -> int | None:
        """Decide candidates in order of rank; return the first that is accepted."""
        near = [place for place in places if self.meanings.overlaps[place] >= self.bounds.overlap]
        for block in growing(sorted(near, key=self.meanings.rank), _FIRST_BLOCK, 4, _LARGEST_BLOCK):
            self.decider.pace.hear("meanings", len(self.refuted), len(self.meanings))
            rows = self.meanings.rows(block)
            screened = self.decider.refute(rows, _SCREEN)
            for spot, place in enumerate(block):
                refutation = screened[spot] or self.decider.refute(rows[spot : spot + 1])[0]
                if refutation is None:
                    return place
                self.refuted[place] = refutation
        return None

    def _realised(self, program: Program) -> Realised:
        """Accept a program that the engine accepts as it would anywhere else, prompt by prompt."""
        if not accepts(self.frozen, self.head, program, self.demands):
            raise DeclarationError("a candidate was accepted, its program is not: a mistake in the search")
        return Realised(program)

    def _lacking(self) -> Word:
        """Return the word that the best candidate so far lacks."""
        best = min(range(len(self.meanings)), key=self.meanings.rank)
        at = self.refuted.get(best)
        read = self.record.ground.prefixes if at is None else self.decider.read_queries(at.demand, at.prompt)
        return separating_word(self.meanings, self.record, best, read, self._pending)

    def _ended(self) -> Outcome:
        if passed := len(self.meanings) - len(self.refuted):
            return Unfinished(
                f"{len(self.refuted)} meanings are refuted, {passed} overlap less than {self.bounds.overlap} "
                "with the head and were passed over; want a smaller least overlap"
            )
        return self._certificate()

    def _certificate(self) -> Unrealisable:
        places = range(len(self.meanings))
        return Unrealisable(
            model=model_digest(self.frozen),
            head=self.head,
            objective=self.bounds.objective,
            tasks=tuple(demand.task.digest for demand in self.demands),
            circuits=tuple(demand.circuits for demand in self.demands),
            language=self.meanings.language,
            digest=self.meanings.digest,
            refuted=tuple(RefutedMeaning(self.meanings.program(p), self.refuted[p]) for p in places),
        )
