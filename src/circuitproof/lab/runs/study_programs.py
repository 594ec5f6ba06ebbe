"""Programs for the heads of a circuit, found one after the other by exact decisions on a domain."""

import time
from dataclasses import dataclass
from typing import assert_never

from circuitproof.declare.circuits.graph import Head
from circuitproof.declare.programs.lines import parse_lines, to_lines
from circuitproof.forward.declaration import ProgramHeads
from circuitproof.lab.distill.install import install
from circuitproof.lab.distill.lesion import Behaviour
from circuitproof.lab.distill.synthesis import Bounds, Realised, Synthesis, Unfinished
from circuitproof.lab.distill.synthesise import synthesise
from circuitproof.lab.distill.unrealisable import Unrealisable
from circuitproof.lab.model.transformer import Transformer
from circuitproof.lab.runs.run import Run
from circuitproof.prove.effort import Pace
from circuitproof.text.codec import Positive


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadSearch:
    """What became of the search for one head's program."""

    layer: int
    index: int
    program: tuple[str, ...] | None
    """Accepted: the circuit decides every prompt right with it, exactly."""
    reason: str
    """Why there is none, where there is none."""
    overlap: float | None
    """Of its support with the head's own attention; that decides nothing."""
    meanings: int
    tried: int
    seconds: Positive

    @property
    def head(self) -> Head:
        """Return the head."""
        return Head(self.layer, self.index)


@dataclass(frozen=True, slots=True)
class Installed:
    """The searches for all heads that a circuit reads."""

    vocabulary: int
    searches: tuple[HeadSearch, ...]

    @property
    def programs(self) -> ProgramHeads:
        """Return the programs that were accepted."""
        return {
            one.head: parse_lines(one.program, str(one.head), self.vocabulary)
            for one in self.searches
            if one.program is not None
        }


def find_programs(
    run: Run, model: Transformer, behaviour: Behaviour, bounds: Bounds, deadline: float
) -> Installed:
    """Look for a program for each head that the circuit reads; each search has so many seconds.

    A head is searched for with the programs in place that were accepted before; one without a program stays
    neural. A search that is finished is not repeated.
    """
    searches: list[HeadSearch] = []
    for head in heads_of(behaviour):
        installed = install(model, Installed(model.architecture.vocabulary, tuple(searches)).programs)

        def search(head: Head = head, installed: Transformer = installed) -> HeadSearch:
            return _search(installed, behaviour, head, bounds, deadline)

        name = f"program.{head.layer}.{head.index}.json"
        searches.append(run.record(name, HeadSearch, search, f"{behaviour.task.name}: a program for {head}"))
    return Installed(model.architecture.vocabulary, tuple(searches))


def heads_of(behaviour: Behaviour) -> tuple[Head, ...]:
    """Return the heads that a circuit reads, in the order of computation."""
    sources = {edge.source for edge in behaviour.circuit.live()}
    return tuple(sorted((node for node in sources if isinstance(node, Head)), key=lambda head: head.place))


def _search(
    model: Transformer, behaviour: Behaviour, head: Head, bounds: Bounds, deadline: float
) -> HeadSearch:
    begin, task = time.perf_counter(), behaviour.task
    pace = Pace(deadline=begin + deadline, clock=time.perf_counter)
    found = synthesise(model, [task], head, {task.name: behaviour.circuit}, bounds, pace=pace)
    return HeadSearch(
        layer=head.layer,
        index=head.index,
        program=None if found.program is None else tuple(to_lines(found.program)),
        reason=_reason(found),
        overlap=found.overlap,
        meanings=found.effort.meanings,
        tried=found.effort.tried,
        seconds=time.perf_counter() - begin,
    )


def _reason(found: Synthesis) -> str:
    match found.outcome:
        case Realised():
            return ""
        case Unrealisable():
            return "every program in bounds is refuted"
        case Unfinished(reason):
            return reason
        case _:
            assert_never(found.outcome)
