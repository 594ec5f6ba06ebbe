"""A program for a head proposed by floats: quick on a large model, and nothing that is proved."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Head
from circuitproof.errors import OverdueError
from circuitproof.nn.decisions import leads, score_of, task_logits
from circuitproof.nn.transformer import Transformer
from circuitproof.programs.syntax import Program
from circuitproof.proof.effort import UNHURRIED, Pace
from circuitproof.tasks.domain import Prompt
from circuitproof.tasks.task import Task
from circuitproof_lab.distill.attention import AttentionRecord, record
from circuitproof_lab.distill.decide import WrongDecision
from circuitproof_lab.distill.decision_target import DecisionTarget
from circuitproof_lab.distill.install import install
from circuitproof_lab.distill.meanings import Meanings
from circuitproof_lab.distill.prefix_table import PrefixTable
from circuitproof_lab.distill.program_search import ProgramSearch
from circuitproof_lab.distill.synthesis import Bounds, SearchEffort

_SHARE = 13
"""A candidate is first asked about one prompt in so many."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """The first program with which floats decide every prompt as wanted, if there is one within bounds."""

    program: Program | None
    overlap: float | None
    """Of its support with the head's own attention; that decides nothing."""
    record: AttentionRecord
    effort: SearchEffort


def propose(
    model: Transformer, targets: Sequence[DecisionTarget], head: Head, bounds: Bounds, pace: Pace = UNHURRIED
) -> Proposal:
    """Search within bounds as `synthesise` does, but let floats decide; the targets say what is wanted."""
    prefix_table = PrefixTable(tuple(prompt for target in targets for prompt in target.task.prompts))
    seen = record(model, head, prefix_table)
    search = ProgramSearch(_FloatDecider(model, head, targets, pace), seen, bounds)
    search.run()
    found, meanings = search.accepted, search.meanings
    return Proposal(
        None if found is None else meanings.program(found),
        None if found is None else meanings.overlaps[found],
        seen,
        search.effort(),
    )


@dataclass(frozen=True, slots=True)
class _SampleQuestion:
    """Some prompts of a target."""

    target: int
    places: Sequence[int]
    task: Task
    circuits: tuple[Circuit, ...]
    wanted: tuple[int, ...]


def _asked(number: int, target: DecisionTarget, places: Sequence[int]) -> _SampleQuestion:
    wanted = tuple(target.wanted[place] for place in places)
    return _SampleQuestion(number, places, target.task.only(places), target.circuits, wanted)


class _FloatDecider:
    """Refutes candidates for a head in floats, each by a prompt, asked about a few prompts first."""

    def __init__(self, model: Transformer, head: Head, targets: Sequence[DecisionTarget], pace: Pace) -> None:
        self.pace, self.decisions = pace, 0
        self._model, self._head, self._demands = model, head, targets
        sizes = [target.task.size for target in targets]
        few = [target.task.spread(-(-size // _SHARE)) for target, size in zip(targets, sizes, strict=True)]
        self._asked = [
            _asked(number, targets[number], places)
            for parts in (few, map(range, sizes))
            for number, places in enumerate(parts)
        ]

    def refutations(self, meanings: Meanings, places: Sequence[int]) -> Iterator[WrongDecision | None]:
        """Yield for each candidate a decision that is wrong, or nothing."""
        for place in places:
            if self.pace.is_over:
                raise OverdueError("the work was ended while candidates were decided: give more time")
            model = install(self._model, {self._head: meanings.program(place)})
            found = (self._wrong(model, asked) for asked in self._asked)
            yield next((one for one in found if one is not None), None)

    def read_queries(self, target: int, prompt: int) -> Sequence[Prompt]:
        """Return every prefix of a prompt: floats do not say which of them matter."""
        tokens = self._demands[target].task.prompts[prompt]
        return [tokens[: place + 1] for place in range(len(tokens))]

    def _wrong(self, model: Transformer, asked: _SampleQuestion) -> WrongDecision | None:
        """Return the worst decision of the first circuit that has one not as wanted."""
        margins = leads(task_logits(model, asked.task, asked.circuits), asked.wanted)
        self.decisions += margins.numel()
        for circuit, row in enumerate(margins):
            if score_of(row, asked.task.name).worst_margin <= 0:
                return WrongDecision(asked.target, circuit, asked.places[int(row.argmin())])
        return None
