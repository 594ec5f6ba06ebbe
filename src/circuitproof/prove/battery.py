"""The battery: fold a claim's circuits once, then answer each property by counting its obligations."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import assert_never

from circuitproof.declare.circuits.circuit import Circuit, whole
from circuitproof.declare.circuits.graph import Edge
from circuitproof.declare.tasks.task import Task
from circuitproof.errors import InputError
from circuitproof.prove.balls.answers import answer_ball
from circuitproof.prove.balls.robustness import directions, radii, violation
from circuitproof.prove.balls.search import Effort
from circuitproof.prove.claim import Claim, bias_kept
from circuitproof.prove.evidence import (
    CircuitSplit,
    EdgeSplit,
    FoldLeaf,
    OneCircuit,
    OneEdge,
    Open,
    PromptSplit,
    Replay,
    Replayed,
)
from circuitproof.prove.findings import EdgeWitnesses, Findings
from circuitproof.prove.fold import Folded, changes_nothing, fold
from circuitproof.prove.identity import answer_identity
from circuitproof.prove.properties import (
    Equivalence,
    Faithfulness,
    Invariance,
    LesionIdentity,
    Minimum,
    Necessity,
    Property,
    Robustness,
    SubsetMinimality,
    kind_of,
)
from circuitproof.prove.remarks import Asked, Grounds, remarks
from circuitproof.prove.verdict import Answer, Outcome, Proved, Refuted, Undecided


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


def prove(claim: Claim, effort: Effort | None = None) -> Battery:
    """Answer every property of a claim; the effort is that of robustness, where it needs a search."""
    folded = fold(claim.frozen, claim.task.candidates, claim.variants(), claim.task.domain.prompts)
    effort = effort or Effort()
    answers = [_answer(claim, folded, prop, effort) for prop in claim.properties]
    is_equivalent = any(_is_proof(answer) and isinstance(answer.prop, Equivalence) for answer in answers)
    remarked = [_remarked(claim, answer, is_equivalent=is_equivalent) for answer in answers]
    return Battery(claim, folded, tuple(remarked))


def prove_also(battery: Battery, prop: LesionIdentity) -> Battery:
    """Return a battery that answers a lesion identity as well; it needs no folds, so none are made again."""
    claim = replace(battery.claim, properties=(*battery.claim.properties, prop))
    return replace(battery, claim=claim, answers=(*battery.answers, answer_identity(claim.frozen, prop)))


def _is_proof(answer: Answer) -> bool:
    return isinstance(answer.outcome, Proved)


def _remarked(claim: Claim, answer: Answer, *, is_equivalent: bool) -> Answer:
    """Return an answer with its remarks, which only a proof has."""
    if not _is_proof(answer):
        return answer
    grounds = Grounds(
        asked=_asked(claim.task),
        circuit=claim.circuit,
        programs=claim.frozen.programs,
        is_equivalent=is_equivalent,
        shared_biases=tuple(found.edge for found in answer.findings.edges if found.only_bias),
        unreached=claim.unreached(answer.prop) if isinstance(answer.prop, Robustness) else 0,
    )
    return replace(answer, remarks=remarks(kind_of(answer.prop), grounds))


def _asked(task: Task) -> Asked:
    answers, classes = task.answers(), task.classes()
    by_class = {place: frozenset(answers[x] for x in members) for place, members in enumerate(classes)}
    return Asked(by_class, has_single_classes=len(classes) == len(answers))


def _answer(claim: Claim, folded: Folded, prop: Property, effort: Effort) -> Answer:
    match prop:
        case Equivalence():
            return _equivalence(claim, folded)
        case Invariance():
            return _invariance(claim, folded)
        case Necessity():
            return _necessity(claim, folded)
        case Robustness():
            return _robustness(claim, folded, prop, effort)
        case Faithfulness():
            return _faithfulness(claim, folded)
        case SubsetMinimality():
            return _fewest(claim, folded, prop, frozenset({claim.circuit}))
        case Minimum(circuits):
            return _fewest(claim, folded, prop, frozenset(circuits))
        case LesionIdentity():
            return answer_identity(claim.frozen, prop)
        case _:
            assert_never(prop)


def _equivalence(claim: Claim, folded: Folded) -> Answer:
    wanted = [claim.task.candidates.index(answer) for answer in claim.task.answers()]
    found = folded.of(claim.circuit)
    wrong = [x for x, fold in enumerate(found) if fold.decision != frozenset({wanted[x]})]
    leaves = [FoldLeaf(place) for place in folded.places[claim.circuit]]
    return _for_every_prompt(Equivalence(), leaves, wrong)


def _faithfulness(claim: Claim, folded: Folded) -> Answer:
    if (operator := claim.frozen.declaration.inexact_operator) is not None:
        reason = f"the whole model uses {operator}, which has no exact value: this can only be measured"
        return Answer(Faithfulness(), Undecided(Open(reason)), len(claim.task.domain), 0, Findings())
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
        leaf = replace(leaves[x], radius=None)
        outcome = Refuted(Replay((Replayed(x, leaf, perturb(x) if perturb else None),)))
    found = Findings(tuple((x,) for x in failing), radii=tuple(leaf.radius for leaf in leaves if perturb))
    return Answer(prop, outcome, len(leaves), len(leaves) - len(failing), found)


def _invariance(claim: Claim, folded: Folded) -> Answer:
    found, places = folded.of(claim.circuit), folded.places[claim.circuit]
    classes = claim.task.classes()
    failing: list[tuple[int, ...]] = []
    for members in classes:
        tied = [x for x in members if not found[x].is_clear]
        unlike = [x for x in members if found[x].decision != found[members[0]].decision]
        if tied or unlike:
            failing.append((tied[0],) if tied else (members[0], unlike[0]))
    outcome: Outcome = Proved(PromptSplit(tuple(FoldLeaf(place) for place in places)))
    if failing:
        outcome = Refuted(Replay(tuple(Replayed(x, FoldLeaf(places[x])) for x in failing[0])))
    met = len(classes) - len(failing)
    return Answer(Invariance(), outcome, len(classes), met, Findings(tuple(failing)))


def _necessity(claim: Claim, folded: Folded) -> Answer:
    lesions = claim.circuit.lesions()
    witnesses = [_witnesses(claim, folded, edge) for edge in claim.circuit]
    useless = [place for place, found in enumerate(witnesses) if not found.flips and not found.ties]
    leaves = [_lesion_leaves(claim.circuit, lesion, folded) for lesion in lesions]
    outcome: Outcome
    if useless:
        outcome = Refuted(OneEdge(useless[0], PromptSplit(leaves[useless[0]])))
    else:
        first = [(found.flips + found.ties)[0] for found in witnesses]
        replays = [Replay((Replayed(x, row[x]),)) for x, row in zip(first, leaves, strict=True)]
        outcome = Proved(EdgeSplit(tuple(replays)))
    met = len(lesions) - len(useless)
    return Answer(Necessity(), outcome, len(lesions), met, Findings(edges=tuple(witnesses)))


def _witnesses(claim: Claim, folded: Folded, edge: Edge) -> EdgeWitnesses:
    """Return the prompts whose clear decision is another clear one, or a tie, without an edge."""
    before, after = folded.of(claim.circuit), folded.of(claim.circuit.without(edge))
    changed = [x for x, fold in enumerate(before) if fold.is_clear and fold.decision != after[x].decision]
    flips = tuple(x for x in changed if after[x].is_clear)
    ties = tuple(x for x in changed if not after[x].is_clear)
    kept = bias_kept(claim.frozen, claim.circuit, edge)
    is_biased = kept is not None and changes_nothing(before, folded.of(kept))
    return EdgeWitnesses(edge, flips, ties, only_bias=is_biased)


def _lesion_leaves(circuit: Circuit, lesion: Circuit, folded: Folded) -> tuple[FoldLeaf, ...]:
    pairs = zip(folded.places[circuit], folded.places[lesion], strict=True)
    return tuple(FoldLeaf(one, lesion=other) for one, other in pairs)


def _robustness(claim: Claim, folded: Folded, prop: Robustness, effort: Effort) -> Answer:
    """Answer by a formula where nothing bends between perturbation and logits, otherwise by a search."""
    if claim.frozen.architecture.has_norm or not prop.at.is_final_residual:
        return answer_ball(claim, folded, prop, effort)
    rows = directions(claim.frozen.unembedding(claim.task.candidates))
    found = folded.of(claim.circuit)
    clear = [x for x, fold in enumerate(found) if fold.is_clear]
    sizes = dict(zip(clear, radii([found[x] for x in clear], rows), strict=True))
    failing = [x for x in range(len(found)) if x not in sizes or not sizes[x].exceeds(prop.epsilon)]
    leaves = [FoldLeaf(place, radius=sizes.get(x)) for x, place in enumerate(folded.places[claim.circuit])]
    return _for_every_prompt(prop, leaves, failing, lambda x: violation(found[x], rows, prop.epsilon))


def _fewest(
    claim: Claim, folded: Folded, prop: SubsetMinimality | Minimum, expected: frozenset[Circuit]
) -> Answer:
    """Answer that of all smaller circuits just the expected ones decide the task."""
    circuits = claim.smaller_circuits(prop)
    trees = [_trial(claim, folded, circuit) for circuit in circuits]
    surprising = [
        OneCircuit(circuit, tree)
        for circuit, tree in zip(circuits, trees, strict=True)
        if isinstance(tree, PromptSplit) != (circuit in expected)
    ]
    if expected - frozenset(circuits):
        raise InputError("a circuit said to be minimal has dead edges or reads no prompt; keep its live part")
    outcome: Outcome = Refuted(surprising[0]) if surprising else Proved(CircuitSplit(tuple(trees)))
    return Answer(prop, outcome, len(circuits), len(circuits) - len(surprising), Findings())


def _trial(claim: Claim, folded: Folded, circuit: Circuit) -> Replay | PromptSplit:
    """Return a prompt that a circuit decides wrong, or the folds of all prompts, which it decides right."""
    wanted = [claim.task.candidates.index(answer) for answer in claim.task.answers()]
    leaves = [FoldLeaf(place) for place in folded.places[circuit]]
    for x, found in enumerate(folded.of(circuit)):
        if found.decision != frozenset({wanted[x]}):
            return Replay((Replayed(x, leaves[x]),))
    return PromptSplit(tuple(leaves))
