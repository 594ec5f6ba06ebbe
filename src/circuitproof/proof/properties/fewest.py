"""Properties about size: of all smaller circuits, just the expected ones decide the task.

What is likely to refute such a property is tried first: a circuit with an edge too many still decides the
task without that edge. Most other circuits are wrong on one of a few prompts, so they are tried on those
before they are tried on all.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import ClassVar, TypeAlias

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Edge
from circuitproof.errors import InputError
from circuitproof.forward.cells import Variant
from circuitproof.proof.claim import Claim
from circuitproof.proof.counterexamples import Decided, rightly_decided
from circuitproof.proof.effort import Effort
from circuitproof.proof.evidence import (
    CircuitSplit,
    OneCircuit,
    Open,
    PromptSplit,
    Replay,
    Replayed,
    make_leaf,
)
from circuitproof.proof.findings import Findings
from circuitproof.proof.fold import CandidateLogits, Folded
from circuitproof.proof.known import open_words
from circuitproof.proof.minimal import Trial, try_circuits
from circuitproof.proof.properties.property import Property
from circuitproof.proof.regions.disturbed import Point
from circuitproof.proof.verdict import Answer, Proved, Refuted, Undecided
from circuitproof.tasks.domain import Prompt

CircuitTree: TypeAlias = Replay | PromptSplit


class Fewest(Property):
    """Of all circuits of some edges and of at most the claim's size, just the expected ones are right."""

    __slots__ = ()

    is_asked_of_solvers: ClassVar[bool] = False
    is_about_edges: ClassVar[bool] = True

    @abstractmethod
    def edges(self, claim: Claim, /) -> tuple[Edge, ...]:
        """Return the edges that may be kept."""

    @abstractmethod
    def expected(self, claim: Claim, /) -> frozenset[Circuit]:
        """Return the circuits that are said to decide the task."""

    def implies_equivalence(self, _claim: Claim) -> bool:
        return True

    def tried_first(self, _claim: Claim, _circuits: Sequence[Circuit], /) -> tuple[Circuit, ...]:
        """Return those of the circuits that are most likely to refute it."""
        return ()

    def other_circuits(self, claim: Claim) -> tuple[Circuit, ...]:
        """Return every circuit that it speaks of, by size and then in order of edges."""
        edges, sizes = self.edges(claim), range(len(claim.circuit) + 1)
        return tuple(one for size in sizes for one in claim.among().contenders(edges, size))

    def variants(self, _claim: Claim) -> Sequence[Variant]:
        """Return nothing: smaller circuits are tried, not all computed."""
        return ()

    def obligations(self, claim: Claim) -> int:
        return len(self.other_circuits(claim))

    def answer_list(self, claim: Claim, _folded: Folded[CandidateLogits], effort: Effort) -> Answer:
        return _answer(claim, self, effort)

    def replayed(self, claim: Claim, prompts: Sequence[Prompt], _eta: Point) -> tuple[Decided, ...]:
        return rightly_decided(claim, claim.circuit, prompts)


def _answer(claim: Claim, prop: Fewest, effort: Effort) -> Answer:
    """Answer that of all smaller circuits just the expected ones decide the task."""
    circuits, expected = prop.other_circuits(claim), prop.expected(claim)
    if expected - frozenset(circuits):
        raise InputError("a circuit said to be minimal has dead edges or reads no prompt; keep its live part")
    known: dict[Circuit, CircuitTree] = {}
    unknown: list[str] = []
    for batch in _batches(claim, prop, circuits):
        tried, left = _trees(claim, batch, effort)
        known.update(tried)
        unknown.extend(left)
        reached = len(known) + len(unknown)
        effort.pace.hear("smaller circuits tried", reached, len(circuits))
        if surprising := [one for one, tree in tried.items() if _is_right(tree) != (one in expected)]:
            return _refuted(claim, prop, surprising[0], known, len(circuits), effort)
        if len(tried) + len(left) < len(batch):
            why = f"the work was ended after {reached} of {len(circuits)} smaller circuits were tried"
            return Answer(prop, Undecided(Open(why)), len(circuits), len(known), Findings())
    if unknown:
        why = f"{len(unknown)} of {len(circuits)} smaller circuits are open; of the first {unknown[0]}"
        return Answer(prop, Undecided(Open(why)), len(circuits), len(known), Findings())
    trees = tuple(known[circuit] for circuit in circuits)
    return Answer(prop, Proved(CircuitSplit(trees)), len(circuits), len(circuits), Findings())


def _batches(claim: Claim, prop: Fewest, circuits: Sequence[Circuit]) -> Iterator[Sequence[Circuit]]:
    """Return all circuits, first those that lack one edge of the claim's, then the others size by size."""
    first = prop.tried_first(claim, circuits)
    if first:
        yield first
    for _, group in groupby((one for one in circuits if one not in first), key=len):
        yield tuple(group)


def shortened(circuit: Circuit, among: Sequence[Circuit]) -> tuple[Circuit, ...]:
    """Return what is left alive of a circuit without one edge, for each edge, where it is among some."""
    shorter = {lesion.live() for lesion in circuit.lesions()}
    return tuple(one for one in among if one in shorter)


def _refuted(  # noqa: PLR0913, PLR0917  # what is known by then
    claim: Claim,
    prop: Fewest,
    found: Circuit,
    known: Mapping[Circuit, CircuitTree],
    count: int,
    effort: Effort,
) -> Answer:
    """Refute by a circuit; by one of which no edge can be left out, if it is right and there is time."""
    tree = known[found]
    among = prop.other_circuits(claim)
    while _is_right(tree):
        trees, _ = _trees(claim, shortened(found, among), effort)
        right = [one for one, tried in trees.items() if _is_right(tried)]
        if not right:
            break
        found, tree = right[0], trees[right[0]]
    met = len(known) - 1
    return Answer(prop, Refuted(OneCircuit(found, tree)), count, met, Findings())


def _is_right(tree: CircuitTree) -> bool:
    return isinstance(tree, PromptSplit)


def _trees(
    claim: Claim, circuits: Sequence[Circuit], effort: Effort
) -> tuple[dict[Circuit, CircuitTree], tuple[str, ...]]:
    """Return for each circuit that there is time for a prompt that it decides wrong, or all of them.

    Those of which it is not known are none of these; for each, the second part says why.
    """
    asked = (claim.frozen, claim.task, circuits, effort.pace)
    tried = try_circuits(*asked, arithmetic=claim.arithmetic, workers=effort.workers)
    known = {one.circuit: _tree(claim, one) for one in tried if not one.open}
    return known, tuple(_open_words(one) for one in tried if one.open)


def _open_words(trial: Trial) -> str:
    what = f"{len(trial.open)} of {len(trial.folds)} prompts are"
    return open_words(what, (trial.folds[place] for place in trial.open))


def _tree(claim: Claim, trial: Trial) -> CircuitTree:
    leaves = tuple(map(make_leaf, trial.folds))
    if trial.refuting is None:
        return PromptSplit(leaves)
    return Replay((Replayed(claim.task.prompts[trial.refuting], leaves[0]),))
