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
    OneCircuit,
    Open,
    PromptSplit,
    Replay,
    Replayed,
    make_leaf,
)
from circuitproof.prove.findings import Findings
from circuitproof.prove.known import open_words
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
    unknown: list[str] = []
    for batch in _batches(claim, prop, circuits):
        tried, left = _trees(claim, batch, pace)
        known.update(tried)
        unknown.extend(left)
        reached = len(known) + len(unknown)
        pace.hear("smaller circuits tried", reached, len(circuits))
        if surprising := [one for one, tree in tried.items() if _is_right(tree) != (one in expected)]:
            return _refuted(claim, prop, surprising[0], known, len(circuits), pace)
        if len(tried) + len(left) < len(batch):
            why = f"the work was ended after {reached} of {len(circuits)} smaller circuits were tried"
            return Answer(prop, Undecided(Open(why)), len(circuits), len(known), Findings())
    if unknown:
        why = f"{len(unknown)} of {len(circuits)} smaller circuits are open; of the first {unknown[0]}"
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
        trees, _ = _trees(claim, _shortened(found, among), pace)
        right = [one for one, tried in trees.items() if _is_right(tried)]
        if not right:
            break
        found, tree = right[0], trees[right[0]]
    met = len(known) - 1
    return Answer(prop, Refuted(OneCircuit(found, tree)), count, met, Findings())


def _is_right(tree: Tree) -> bool:
    return isinstance(tree, PromptSplit)


def _trees(
    claim: Claim, circuits: Sequence[Circuit], pace: Pace
) -> tuple[dict[Circuit, Tree], tuple[str, ...]]:
    """Return for each circuit that there is time for a prompt that it decides wrong, or all of them.

    Those of which it is not known are none of these; for each, the second part says why.
    """
    tried = try_circuits(claim.frozen, claim.task, circuits, pace, arithmetic=claim.arithmetic)
    known = {one.circuit: _tree(claim, one) for one in tried if not one.open}
    return known, tuple(_open_words(one) for one in tried if one.open)


def _open_words(trial: Trial) -> str:
    what = f"{len(trial.open)} of {len(trial.folds)} prompts are"
    return open_words(what, (trial.folds[place] for place in trial.open))


def _tree(claim: Claim, trial: Trial) -> Tree:
    leaves = tuple(map(make_leaf, trial.folds))
    if trial.refuting is None:
        return PromptSplit(leaves)
    return Replay((Replayed(claim.task.prompts[trial.refuting], leaves[0]),))
