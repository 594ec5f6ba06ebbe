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
from circuitproof_lab.distill.decide import Refutation
from circuitproof_lab.distill.demand import Demand
from circuitproof_lab.distill.ground import Ground
from circuitproof_lab.distill.install import install
from circuitproof_lab.distill.meanings import Meanings
from circuitproof_lab.distill.record import Record, record
from circuitproof_lab.distill.search import ProgramSearch
from circuitproof_lab.distill.synthesis import Bounds, Effort

_SHARE = 13
"""A candidate is first asked about one prompt in so many."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """The first program with which floats decide every prompt as wanted, if there is one within bounds."""

    program: Program | None
    overlap: float | None
    """Of its support with the head's own attention; that decides nothing."""
    record: Record
    effort: Effort


def propose(
    model: Transformer, demands: Sequence[Demand], head: Head, bounds: Bounds, pace: Pace = UNHURRIED
) -> Proposal:
    """Search within bounds as `synthesise` does, but let floats decide; the demands say what is wanted."""
    ground = Ground(tuple(prompt for demand in demands for prompt in demand.task.prompts))
    seen = record(model, head, ground)
    search = ProgramSearch(_FloatDecider(model, head, demands, pace), seen, bounds)
    search.run()
    found, meanings = search.accepted, search.meanings
    return Proposal(
        None if found is None else meanings.program(found),
        None if found is None else meanings.overlaps[found],
        seen,
        search.effort(),
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """Some prompts of a demand."""

    demand: int
    places: Sequence[int]
    task: Task
    circuits: tuple[Circuit, ...]
    wanted: tuple[int, ...]


def _asked(number: int, demand: Demand, places: Sequence[int]) -> _Asked:
    wanted = tuple(demand.wanted[place] for place in places)
    return _Asked(number, places, demand.task.only(places), demand.circuits, wanted)


class _FloatDecider:
    """Refutes candidates for a head in floats, each by a prompt, asked about a few prompts first."""

    def __init__(self, model: Transformer, head: Head, demands: Sequence[Demand], pace: Pace) -> None:
        self.pace, self.decisions = pace, 0
        self._model, self._head, self._demands = model, head, demands
        sizes = [demand.task.size for demand in demands]
        few = [demand.task.spread(-(-size // _SHARE)) for demand, size in zip(demands, sizes, strict=True)]
        self._asked = [
            _asked(number, demands[number], places)
            for parts in (few, map(range, sizes))
            for number, places in enumerate(parts)
        ]

    def refutations(self, meanings: Meanings, places: Sequence[int]) -> Iterator[Refutation | None]:
        """Yield for each candidate a decision that is wrong, or nothing."""
        for place in places:
            if self.pace.is_over:
                raise OverdueError("the work was ended while candidates were decided: give more time")
            model = install(self._model, {self._head: meanings.program(place)})
            found = (self._wrong(model, asked) for asked in self._asked)
            yield next((one for one in found if one is not None), None)

    def read_queries(self, demand: int, prompt: int) -> Sequence[Prompt]:
        """Return every prefix of a prompt: floats do not say which of them matter."""
        tokens = self._demands[demand].task.prompts[prompt]
        return [tokens[: place + 1] for place in range(len(tokens))]

    def _wrong(self, model: Transformer, asked: _Asked) -> Refutation | None:
        """Return the worst decision of the first circuit that has one not as wanted."""
        margins = leads(task_logits(model, asked.task, asked.circuits), asked.wanted)
        self.decisions += margins.numel()
        for circuit, row in enumerate(margins):
            if score_of(row, asked.task.name).worst_margin <= 0:
                return Refutation(asked.demand, circuit, asked.places[int(row.argmin())])
        return None
