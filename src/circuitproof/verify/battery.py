"""The battery: fold a claim's circuits once, then answer each property by counting its obligations."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median_low
from typing import assert_never

from circuitproof.canonical import Json
from circuitproof.circuits.circuit import Circuit, whole
from circuitproof.circuits.graph import Head
from circuitproof.programs.syntax import Otherwise
from circuitproof.reading import write_rational
from circuitproof.verify.claim import Claim
from circuitproof.verify.evidence import (
    EdgeSplit,
    FoldLeaf,
    OneEdge,
    Open,
    PromptSplit,
    Radius,
    Replay,
    Replayed,
)
from circuitproof.verify.fold import Folded, fold
from circuitproof.verify.properties import (
    Equivalence,
    Faithfulness,
    Invariance,
    Necessity,
    Property,
    Robustness,
)
from circuitproof.verify.robustness import directions, radii, violation
from circuitproof.verify.verdict import Answer, Outcome, Proved, Refuted, Undecided

COUNTEREXAMPLES = 100
"""How many counterexamples are listed; all of them are counted."""


@dataclass(frozen=True, slots=True)
class Battery:
    """A claim, its folds and its answers."""

    claim: Claim
    folded: Folded
    answers: tuple[Answer, ...]

    @property
    def ties(self) -> int:
        """Return on how many prompts the circuit ties."""
        return sum(not found.is_clear for found in self.folded.of(self.claim.circuit))

    @property
    def cells(self) -> int:
        """Return how many distinct computations decide the domain."""
        return self.folded.cells[self.claim.circuit]

    @property
    def implies_necessity(self) -> bool:
        """Say whether necessity follows from equivalence alone, so that proving it adds nothing.

        A chain passes everything through each of its edges. Without one of them the rest reads a constant, and
        attention rows that sum to one pass a constant on, so one decision (or tie) is left for all prompts: where
        two answers were right, some prompt changes. A program with rows that attend nowhere breaks the argument.
        """
        proved = any(isinstance(a.prop, Equivalence) and isinstance(a.outcome, Proved) for a in self.answers)
        is_varied = len(set(self.claim.task.answers())) > 1
        return proved and is_varied and is_chain(self.claim.circuit) and not self._attends_nowhere()

    def _attends_nowhere(self) -> bool:
        programs = self.claim.frozen.programs
        return any(
            isinstance(node, Head) and node in programs and programs[node].otherwise is Otherwise.NOWHERE
            for node in self.claim.circuit.nodes()
        )


def is_chain(circuit: Circuit) -> bool:
    """Say whether the kept edges are one path from `embed` to `logits`."""
    sources = Counter(edge.source for edge in circuit.edges)
    targets = Counter(edge.target for edge in circuit.edges)
    return circuit.live() == circuit and max(sources.values()) == 1 and max(targets.values()) == 1


def prove(claim: Claim) -> Battery:
    """Answer every property of a claim."""
    folded = fold(claim.frozen, claim.task.candidates, _circuits(claim), claim.task.domain.prompts)
    return Battery(claim, folded, tuple(_answer(claim, folded, prop) for prop in claim.properties))


def _circuits(claim: Claim) -> list[Circuit]:
    circuits = [claim.circuit]
    if any(isinstance(prop, Necessity) for prop in claim.properties):
        circuits.extend(claim.circuit.lesions())
    if any(isinstance(prop, Faithfulness) for prop in claim.properties):
        circuits.append(whole(claim.frozen.graph))
    return circuits


def _answer(claim: Claim, folded: Folded, prop: Property) -> Answer:
    match prop:
        case Equivalence():
            return _equivalence(claim, folded)
        case Invariance():
            return _invariance(claim, folded)
        case Necessity():
            return _necessity(claim, folded)
        case Robustness():
            return _robustness(claim, folded, prop)
        case Faithfulness():
            return _faithfulness(claim, folded)
        case _:
            assert_never(prop)


def _equivalence(claim: Claim, folded: Folded) -> Answer:
    wanted = [claim.task.candidates.index(answer) for answer in claim.task.answers()]
    found = folded.of(claim.circuit)
    wrong = [x for x, fold in enumerate(found) if fold.decision != {wanted[x]}]
    leaves = [FoldLeaf(place) for place in folded.places[claim.circuit]]
    return _for_every_prompt(Equivalence(), leaves, wrong)


def _faithfulness(claim: Claim, folded: Folded) -> Answer:
    everything = whole(claim.frozen.graph)
    pairs = zip(folded.places[claim.circuit], folded.places[everything], strict=True)
    leaves = [FoldLeaf(one, model=other) for one, other in pairs]
    both = zip(folded.of(claim.circuit), folded.of(everything), strict=True)
    unlike = [x for x, (one, other) in enumerate(both) if one.decision != other.decision]
    return _for_every_prompt(Faithfulness(), leaves, unlike)


def _for_every_prompt(
    prop: Property,
    leaves: Sequence[FoldLeaf],
    failing: Sequence[int],
    perturb: Callable[[int], tuple[Fraction, ...]] | None = None,
) -> Answer:
    """Answer a property with an obligation per prompt; the first prompt that fails refutes it."""
    outcome: Outcome = Proved(PromptSplit(tuple(leaves)))
    if failing:
        x = failing[0]
        leaf = FoldLeaf(leaves[x].fold, leaves[x].lesion, leaves[x].model)
        outcome = Refuted(Replay((Replayed(x, leaf, perturb(x) if perturb else None),)))
    details: dict[str, Json] = {"counterexamples": list(failing[:COUNTEREXAMPLES])}
    return Answer(prop, outcome, len(leaves), len(leaves) - len(failing), details)


def _invariance(claim: Claim, folded: Folded) -> Answer:
    found, places = folded.of(claim.circuit), folded.places[claim.circuit]
    failing: list[tuple[int, ...]] = []
    for members in claim.task.classes():
        tied = [x for x in members if not found[x].is_clear]
        unlike = [x for x in members if found[x].decision != found[members[0]].decision]
        if tied or unlike:
            failing.append((tied[0],) if tied else (members[0], unlike[0]))
    outcome: Outcome = Proved(PromptSplit(tuple(FoldLeaf(place) for place in places)))
    if failing:
        outcome = Refuted(Replay(tuple(Replayed(x, FoldLeaf(places[x])) for x in failing[0])))
    classes = len(claim.task.classes())
    details: dict[str, Json] = {
        "classes": classes,
        "counterexamples": [list(pair) for pair in failing[:COUNTEREXAMPLES]],
    }
    return Answer(Invariance(), outcome, classes, classes - len(failing), details)


def _necessity(claim: Claim, folded: Folded) -> Answer:
    lesions = claim.circuit.lesions()
    witnesses = [_witnesses(claim.circuit, lesion, folded) for lesion in lesions]
    details: dict[str, Json] = {
        "edges": [
            {"edge": str(edge), "flips": list(flips), "ties": list(ties)}
            for edge, (flips, ties) in zip(claim.circuit, witnesses, strict=True)
        ]
    }
    useless = [place for place, (flips, ties) in enumerate(witnesses) if not flips and not ties]
    pairs = [_lesion_leaves(claim.circuit, lesion, folded) for lesion in lesions]
    outcome: Outcome
    if useless:
        outcome = Refuted(OneEdge(useless[0], PromptSplit(pairs[useless[0]])))
    else:
        first = [(flips + ties)[0] for flips, ties in witnesses]
        outcome = Proved(
            EdgeSplit(
                tuple(Replay((Replayed(x, leaves[x]),)) for x, leaves in zip(first, pairs, strict=True))
            )
        )
    return Answer(Necessity(), outcome, len(lesions), len(lesions) - len(useless), details)


def _witnesses(circuit: Circuit, lesion: Circuit, folded: Folded) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the prompts whose clear decision becomes another clear one, and those whose becomes a tie."""
    flips: list[int] = []
    ties: list[int] = []
    for x, (before, after) in enumerate(zip(folded.of(circuit), folded.of(lesion), strict=True)):
        if before.is_clear and before.decision != after.decision:
            (flips if after.is_clear else ties).append(x)
    return tuple(flips), tuple(ties)


def _lesion_leaves(circuit: Circuit, lesion: Circuit, folded: Folded) -> tuple[FoldLeaf, ...]:
    pairs = zip(folded.places[circuit], folded.places[lesion], strict=True)
    return tuple(FoldLeaf(one, lesion=other) for one, other in pairs)


def _robustness(claim: Claim, folded: Folded, prop: Robustness) -> Answer:
    if claim.frozen.architecture.has_norm:
        reason = (
            "the final residual passes a norm, whose branches this version does not follow under perturbation"
        )
        return Answer(prop, Undecided(Open(reason)), len(claim.task.domain), 0, {})
    rows = directions(claim.frozen.unembedding(claim.task.candidates))
    found = folded.of(claim.circuit)
    clear = [x for x, fold in enumerate(found) if fold.is_clear]
    sizes = dict(zip(clear, radii([found[x] for x in clear], rows), strict=True))
    failing = [x for x in range(len(found)) if x not in sizes or not sizes[x].exceeds(prop.epsilon)]
    leaves = [FoldLeaf(place, radius=sizes.get(x)) for x, place in enumerate(folded.places[claim.circuit])]
    answer = _for_every_prompt(prop, leaves, failing, lambda x: violation(found[x], rows, prop.epsilon))
    details = dict(answer.details) | _distribution(list(sizes.values()))
    return Answer(prop, answer.outcome, answer.obligations, answer.met, details)


def _distribution(found: Sequence[Radius]) -> dict[str, Json]:
    """Return the smallest, the median and the largest radius, exactly."""
    finite = sorted(radius.value for radius in found if radius.value is not None)
    if not finite:
        return {"radius": None}
    named = {"min": finite[0], "median": median_low(finite), "max": finite[-1]}
    return {"radius": {name: write_rational(value) for name, value in named.items()}}
