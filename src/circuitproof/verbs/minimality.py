"""The fewest edges that suffice: search, claim, prove and bundle."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from circuitproof.bundle.files import write_bundle
from circuitproof.circuits.ablation import Zero
from circuitproof.circuits.ablation_asked import AskedAblation
from circuitproof.circuits.circuit import Circuit, circuit_of
from circuitproof.circuits.graph import Granularity
from circuitproof.circuits.readers import reads_prompt
from circuitproof.errors import InputError, keeping
from circuitproof.files.canonical import Json, refuse_existing
from circuitproof.forward.frozen import Frozen
from circuitproof.proof.arithmetic import EXACT, EnclosedNumbers, precision_to_json
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim, edges_of, refuse_misfit
from circuitproof.proof.effort import Effort
from circuitproof.proof.inexact import has_exact_logits
from circuitproof.proof.minimal import FewestEdges, SearchLimit, search_minimum
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.minimum import Minimum
from circuitproof.proof.properties.subset_minimality import SubsetMinimality
from circuitproof.proof.verdict import Battery, Verdict
from circuitproof.tasks.task import Task
from circuitproof.verbs.asked import ablated, asked_circuit, asked_model


@dataclass(frozen=True, slots=True)
class Minimality:
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
        return Verdict.REFUTED if self.search.ended_by is SearchLimit.EDGES else Verdict.UNDECIDED

    def to_json(self) -> Json:
        return {
            "verdict": str(self.verdict),
            "granularity": str(self.every.graph.granularity),
            "ablation": self.every.ablation.kind,
            "lower_bound": self.search.refuted_below,
            "circuits_tried": len(self.search.trials),
            **precision_to_json(self.search.arithmetic),
            "ended_by": None if self.search.ended_by is None else str(self.search.ended_by),
            "among": None if self.among is None else [str(edge) for edge in self.among],
            "bundle": None if self.bundle is None else str(self.bundle),
            "minimum": [[str(edge) for edge in circuit] for circuit in self.search.minimum],
        }


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
    effort: Effort | None = None,
) -> Minimality:
    """Find all circuits of the fewest edges that decide a task, prove it, and write the bundle.

    Among the edges of a circuit, the bundle proves that the circuit found decides the task and that no part
    of it does: a claim of the minimum speaks of all edges of the model. Of an `effort` pace, precision
    and workers are looked at: where not every part has an exact value, logits are enclosed.
    """
    refuse_existing(out)
    frozen = asked_model(model)
    asked = frozen.declaration.listed_task(task)
    frozen = frozen.at(asked.position)
    every = space.within(frozen, asked)
    among = None if space.circuit is None else every
    if among is not None:
        refuse_misfit(frozen, among, (Equivalence(),))
    tried = effort or Effort()
    numbers = EXACT if has_exact_logits(frozen, every) else EnclosedNumbers.up_to(tried.precision)
    search = search_minimum(
        frozen,
        asked,
        most=most,
        budget=budget,
        among=every,
        pace=tried.pace,
        arithmetic=numbers,
        workers=tried.workers,
    )
    if not search.minimum:
        return Minimality(search, every, None, among=among)
    own = _claimed(search.minimum, frozen)
    fewest = Minimum(search.minimum) if among is None else SubsetMinimality()
    battery = prove(Claim(frozen, own, asked, (Equivalence(), fewest), search.arithmetic), tried)
    if out is not None:
        with keeping(Minimality(search, every, battery, among=among)):
            write_bundle(out, battery)
    return Minimality(search, every, battery, out, among)
