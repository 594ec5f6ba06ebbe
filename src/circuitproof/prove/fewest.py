"""Properties about size: of all smaller circuits, just the expected ones decide the task.

What is likely to refute such a property is tried first: a circuit with an edge too many still decides the
task without that edge. Most other circuits are wrong on one of a few prompts, so they are tried on those
before they are tried on all.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

from circuitproof.declare.circuits.circuit import Circuit
from circuitproof.errors import InputError
from circuitproof.prove.claim import Claim
from circuitproof.prove.effort import Pace
from circuitproof.prove.evidence import (
    CircuitSplit,
    FoldLeaf,
    OneCircuit,
    Open,
    PromptSplit,
    Replay,
    Replayed,
)
from circuitproof.prove.findings import Findings
from circuitproof.prove.minimal import Trial, try_circuits
from circuitproof.prove.properties import Minimum, SubsetMinimality
from circuitproof.prove.verdict import Answer, Proved, Refuted, Undecided

Tree: TypeAlias = Replay | PromptSplit


def answer_fewest(claim: Claim, prop: SubsetMinimality | Minimum, pace: Pace) -> Answer:
    """Answer that of all smaller circuits just the expected ones decide the task."""
    circuits = claim.smaller_circuits(prop)
    expected = frozenset(prop.circuits if isinstance(prop, Minimum) else (claim.circuit,))
    if expected - frozenset(circuits):
        raise InputError("a circuit said to be minimal has dead edges or reads no prompt; keep its live part")
    known: dict[Circuit, Tree] = {}
    for batch in _batches(claim, prop, circuits):
        tried = _trees(claim, batch, pace)
        known.update(tried)
        pace.hear("smaller circuits tried", len(known), len(circuits))
        if surprising := [
            one for one in batch if one in tried and _is_right(tried[one]) != (one in expected)
        ]:
            return _refuted(claim, prop, surprising[0], known, len(circuits), pace)
        if len(tried) < len(batch):
            why = f"the work was ended after {len(known)} of {len(circuits)} smaller circuits were tried"
            return Answer(prop, Undecided(Open(why)), len(circuits), len(known), Findings())
    trees = tuple(known[circuit] for circuit in circuits)
    return Answer(prop, Proved(CircuitSplit(trees)), len(circuits), len(circuits), Findings())


def _batches(
    claim: Claim, prop: SubsetMinimality | Minimum, circuits: Sequence[Circuit]
) -> Iterator[Sequence[Circuit]]:
    """Return all circuits, first those that lack one edge of the claim's, then the others size by size."""
    first = _shortened(claim.circuit, circuits) if isinstance(prop, SubsetMinimality) else ()
    if first:
        yield first
    for _, group in groupby((one for one in circuits if one not in first), key=len):
        yield tuple(group)


def _shortened(circuit: Circuit, among: Sequence[Circuit]) -> tuple[Circuit, ...]:
    """Return what is left alive of a circuit without one edge, for each edge, where it is among some."""
    shorter = {lesion.live() for lesion in circuit.lesions()}
    return tuple(one for one in among if one in shorter)


def _refuted(  # noqa: PLR0913, PLR0917  # what is known by then
    claim: Claim,
    prop: SubsetMinimality | Minimum,
    found: Circuit,
    known: Mapping[Circuit, Tree],
    count: int,
    pace: Pace,
) -> Answer:
    """Refute by a circuit; by one of which no edge can be left out, if it is right and there is time."""
    tree = known[found]
    among = claim.smaller_circuits(prop)
    while _is_right(tree):
        trees = _trees(claim, _shortened(found, among), pace)
        right = [one for one, tried in trees.items() if _is_right(tried)]
        if not right:
            break
        found, tree = right[0], trees[right[0]]
    met = len(known) - 1
    return Answer(prop, Refuted(OneCircuit(found, tree)), count, met, Findings())


def _is_right(tree: Tree) -> bool:
    return isinstance(tree, PromptSplit)


def _trees(claim: Claim, circuits: Sequence[Circuit], pace: Pace) -> dict[Circuit, Tree]:
    """Return for each circuit that there is time for a prompt that it decides wrong, or all of them."""
    return {one.circuit: _tree(claim, one) for one in try_circuits(claim.frozen, claim.task, circuits, pace)}


def _tree(claim: Claim, trial: Trial) -> Tree:
    leaves = tuple(map(FoldLeaf, trial.folds))
    if trial.refuting is None:
        return PromptSplit(leaves)
    return Replay((Replayed(claim.task.prompts[trial.refuting], leaves[0]),))
