"""The fewest edges that suffice: search, claim, prove and bundle."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from circuitproof.bundle.files import write_bundle
from circuitproof.declare.circuits.ablating import AskedAblation
from circuitproof.declare.circuits.ablation import Zero
from circuitproof.declare.circuits.circuit import Circuit, circuit_of
from circuitproof.declare.circuits.graph import Granularity
from circuitproof.declare.circuits.readers import constant_edges, reads_prompt
from circuitproof.declare.tasks.task import Task
from circuitproof.errors import InputError, keeping
from circuitproof.forward.declaration import ProgramHeads
from circuitproof.forward.frozen import Frozen
from circuitproof.lab.runs.asked import ablated, asked_circuit, asked_model
from circuitproof.prove.battery import prove
from circuitproof.prove.claim import Claim, edges_of, refuse_misfit
from circuitproof.prove.effort import UNHURRIED, Effort, Pace
from circuitproof.prove.minimal import Bound, FewestEdges, search_minimum
from circuitproof.prove.properties import Equivalence, Minimum, SubsetMinimality
from circuitproof.prove.verdict import Battery, Verdict
from circuitproof.text.canonical import Json, refuse_existing
from circuitproof.view.answers import drawn
from circuitproof.view.telling import Said, Told

_DRAWN = 4
"""How many of the circuits are drawn in a notebook."""


@dataclass(frozen=True, slots=True, repr=False)
class Minimality(Told):
    """What is known about the fewest edges: a proved answer, or a proved lower bound."""

    search: FewestEdges
    every: Circuit
    """The edges among which was searched, and what cut ones carry."""
    battery: Battery | None
    """The proof that the circuits found are the minimum, if any were found."""
    bundle: Path | None = None
    """Where the bundle was written, if it was."""
    among: Circuit | None = None
    """The circuit among whose edges was searched, if not among all of the model."""

    @property
    def verdict(self) -> Verdict:
        """Return proved where the minimum is known, refuted where no circuit will do, or else undecided."""
        if self.battery is not None:
            return self.battery.verdict
        return Verdict.REFUTED if self.search.ended_by is Bound.EDGES else Verdict.UNDECIDED

    def told(self) -> Iterator[Said]:
        """Return the minimum circuits, or how far the search came and what ended it."""
        search, tried = self.search, len(self.search.trials)
        if self.among is not None:
            yield f"searched only among the {len(self.among)} edges of the circuit that is given"
        if not search.minimum or self.battery is None:
            grain = self.every.graph.granularity
            yield f"{self.verdict}: {tried} circuits were tried at {grain} granularity, {_end(search)}"
            return
        size, count = len(search.minimum[0]), len(search.minimum)
        if self.verdict is Verdict.UNDECIDED:
            yield f"undecided: {size} edges are enough in {count} circuits; the work ended before the proof"
            return
        grain = f"at {self.every.graph.granularity} granularity"
        told = f"{size} edges {grain} are the fewest"
        yield f"{self.verdict}: {told}; of {tried} circuits tried, {count} will do"
        for circuit in search.minimum:
            yield "  " + ", ".join(_marked(circuit, self.battery.claim.frozen.programs))
        for circuit in search.minimum[:_DRAWN]:
            yield drawn(circuit, self.battery.claim.frozen.programs)

    def to_json(self) -> Json:
        return {
            "verdict": str(self.verdict),
            "granularity": str(self.every.graph.granularity),
            "ablation": self.every.ablation.kind,
            "lower_bound": self.search.refuted_below,
            "circuits_tried": len(self.search.trials),
            "ended_by": None if self.search.ended_by is None else str(self.search.ended_by),
            "among": None if self.among is None else [str(edge) for edge in self.among],
            "bundle": None if self.bundle is None else str(self.bundle),
            "minimum": [[str(edge) for edge in circuit] for circuit in self.search.minimum],
        }


def _end(search: FewestEdges) -> str:
    """Say what is refuted, what ended the search, and how it goes on."""
    below = f"all of fewer than {search.refuted_below} edges are refuted"
    match search.ended_by:
        case Bound.MOST:
            return f"{below}; --most ended the search: give a larger one, or leave it out"
        case Bound.BUDGET:
            return (
                f"{below}; of {search.refuted_below} edges there are more than --budget allows: "
                "give a larger one, or a --circuit among whose edges to search"
            )
        case Bound.OPEN:
            return f"{below}; of some of {search.refuted_below} it is open whether they decide the task"
        case Bound.TIME:
            return (
                f"{below}; the work was ended before all of {search.refuted_below} were tried: give more time"
            )
        case _:
            return "which are all that there are: none decides the task, so look at what the model decides"


def _marked(circuit: Circuit, programs: ProgramHeads) -> Iterator[str]:
    """Return a circuit's edges, those that carry the same at every position of every prompt marked."""
    constant = constant_edges(circuit, programs)
    return (
        f"{edge} (a constant: its source reads nothing)" if edge in constant else f"{edge}"
        for edge in circuit
    )


@dataclass(frozen=True, slots=True)
class SearchSpace:
    """Where the fewest edges are looked for, and what cut edges carry there."""

    circuit: Path | Circuit | None = None
    """Among whose edges; without one, among all of the model."""
    granularity: Granularity = Granularity.HEAD
    """What edges of the model are told apart, where there is no circuit."""
    ablation: AskedAblation = None

    def within(self, frozen: Frozen, task: Task) -> Circuit:
        """Return the circuit of all edges that may be kept."""
        graph = replace(frozen.graph, granularity=self.granularity)
        if self.circuit is None:
            kept = circuit_of(graph, edges_of(frozen, graph))
        else:
            kept = asked_circuit(self.circuit, graph)
        return ablated(kept, self.ablation, task, frozen.declaration)


EVERYWHERE = SearchSpace()


def _claimed(minimum: Sequence[Circuit], frozen: Frozen) -> Circuit:
    """Return one of the smallest circuits of which a claim can be made: it reads prompts, or has edges."""
    is_zero = isinstance(minimum[0].ablation, Zero)
    own = next((one for one in minimum if not is_zero or reads_prompt(one, frozen.programs)), None)
    if own is None:
        raise InputError(
            f"every prompt has the same right answer, and {len(minimum[0])} edges that read no prompt "
            "give it; ask for the fewest edges of a task with two answers"
        )
    if not own.edges:
        raise InputError(
            f"no edge is needed: what cut edges carry ({own.ablation.kind}) decides every prompt as wanted; "
            "declare prompts or partners that do not give the answer away"
        )
    return own


def find_minimum(  # noqa: PLR0913  # a search has these bounds
    model: Path | Frozen,
    task: str | Task,
    *,
    budget: int,
    out: Path | None,
    most: int | None = None,
    space: SearchSpace = EVERYWHERE,
    pace: Pace = UNHURRIED,
) -> Minimality:
    """Find all circuits of the fewest edges that decide a task, prove it, and write the bundle.

    Among the edges of a circuit, the bundle proves that the circuit found decides the task and that no part
    of it does: a claim of the minimum speaks of all edges of the model.
    """
    refuse_existing(out)
    frozen = asked_model(model)
    asked = frozen.declaration.listed_task(task)
    every = space.within(frozen, asked)
    among = None if space.circuit is None else every
    if among is not None:
        refuse_misfit(frozen, among, (Equivalence(),))
    search = search_minimum(frozen, asked, most=most, budget=budget, among=every, pace=pace)
    if not search.minimum:
        return Minimality(search, every, None, among=among)
    own = _claimed(search.minimum, frozen)
    fewest = Minimum(search.minimum) if among is None else SubsetMinimality()
    battery = prove(Claim(frozen, own, asked, (Equivalence(), fewest)), Effort(pace=pace))
    if out is not None:
        with keeping(Minimality(search, every, battery, among=among)):
            write_bundle(out, battery)
    return Minimality(search, every, battery, out, among)
