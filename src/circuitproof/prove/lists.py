"""A claim about a list: fold its circuits on every prompt once, then count each property's obligations."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import assert_never

from circuitproof.declare.circuits.circuit import whole
from circuitproof.declare.circuits.graph import Edge
from circuitproof.prove.balls.answers import answer_ball
from circuitproof.prove.balls.disturbed import Point
from circuitproof.prove.balls.robustness import radii, violation
from circuitproof.prove.claim import Claim, bias_kept
from circuitproof.prove.effort import Effort
from circuitproof.prove.evidence import (
    EdgeSplit,
    FoldLeaf,
    OneEdge,
    Open,
    PromptSplit,
    Replay,
    Replayed,
)
from circuitproof.prove.fewest import answer_fewest
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
)
from circuitproof.prove.verdict import Answer, Battery, Outcome, Proved, Refuted, Undecided


def answer_list(claim: Claim, effort: Effort) -> Battery:
    task = claim.task
    folded = fold(claim.frozen, task.candidates, claim.variants(), task.prompts, effort.pace)
    answers = tuple(
        _answer(claim, folded, prop, effort)
        if folded.has(claim.variants_of(prop)) or isinstance(prop, LesionIdentity)
        else _overdue(claim, folded, prop)
        for prop in claim.properties
    )
    tokens = frozenset(chain.from_iterable(task.prompts))
    return Battery(claim, answers, task.listed, folded, folded.cells.get(claim.circuit, 0), tokens)


def _overdue(claim: Claim, folded: Folded, prop: Property) -> Answer:
    """Leave a property open that there was no time for; edges that are known to be needed are counted."""
    count, kept = claim.obligations(prop), claim.kept_biases()
    known = [
        _witnesses(claim, folded, edge)
        for edge in claim.circuit
        if isinstance(prop, Necessity)
        and folded.has((claim.circuit, claim.circuit.without(edge), *([kept[edge]] if edge in kept else ())))
    ]
    met = sum(bool(found.flips or found.ties) for found in known)
    why = f"the work was ended before the circuits of {count - met} of {count} obligations were computed"
    return Answer(prop, Undecided(Open(why)), count, met, Findings(edges=tuple(known)))


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
        case SubsetMinimality() | Minimum():
            return answer_fewest(claim, prop, effort.pace)
        case LesionIdentity():
            return answer_identity(claim.frozen, prop)
        case _:
            assert_never(prop)


def _equivalence(claim: Claim, folded: Folded) -> Answer:
    wanted, found = claim.task.decisions(), folded.of(claim.circuit)
    wrong = [x for x, fold in enumerate(found) if fold.decision != frozenset({wanted[x]})]
    return _for_every_prompt(claim, Equivalence(), [FoldLeaf(fold) for fold in found], wrong)


def _faithfulness(claim: Claim, folded: Folded) -> Answer:
    if (operator := claim.frozen.declaration.inexact_operator) is not None:
        reason = f"the whole model uses {operator}, which has no exact value: this can only be measured"
        return Answer(Faithfulness(), Undecided(Open(reason)), claim.task.size, 0, Findings())
    found, model = folded.of(claim.circuit), folded.of(whole(claim.frozen.graph))
    leaves = [FoldLeaf(one, model=other) for one, other in zip(found, model, strict=True)]
    unlike = [x for x, fold in enumerate(found) if fold.decision != model[x].decision]
    return _for_every_prompt(claim, Faithfulness(), leaves, unlike)


def _for_every_prompt(
    claim: Claim, prop: Property, leaves: Sequence[FoldLeaf], failing: Sequence[int], eta: Point | None = None
) -> Answer:
    """Answer a property with an obligation per prompt; the first that fails, under `eta`, refutes it."""
    outcome: Outcome = Proved(PromptSplit(tuple(leaves)))
    if failing:
        leaf = replace(leaves[failing[0]], radius=None)
        outcome = Refuted(Replay((Replayed(claim.task.prompts[failing[0]], leaf, eta),)))
    radii = tuple(leaf.radius for leaf in leaves) if isinstance(prop, Robustness) else ()
    found = Findings(tuple((x,) for x in failing), radii=radii)
    return Answer(prop, outcome, len(leaves), len(leaves) - len(failing), found)


def _invariance(claim: Claim, folded: Folded) -> Answer:
    found, classes, prompts = folded.of(claim.circuit), claim.task.classes(), claim.task.prompts
    failing: list[tuple[int, ...]] = []
    for members in classes:
        tied = [x for x in members if not found[x].is_clear]
        unlike = [x for x in members if found[x].decision != found[members[0]].decision]
        if tied or unlike:
            failing.append((tied[0],) if tied else (members[0], unlike[0]))
    outcome: Outcome = Proved(PromptSplit(tuple(map(FoldLeaf, found))))
    if failing:
        outcome = Refuted(Replay(tuple(Replayed(prompts[x], FoldLeaf(found[x])) for x in failing[0])))
    met = len(classes) - len(failing)
    return Answer(Invariance(), outcome, len(classes), met, Findings(tuple(failing)))


def _necessity(claim: Claim, folded: Folded) -> Answer:
    before, prompts = folded.of(claim.circuit), claim.task.prompts
    witnesses = [_witnesses(claim, folded, edge) for edge in claim.circuit]
    useless = [place for place, found in enumerate(witnesses) if not found.flips and not found.ties]
    leaves = [
        tuple(FoldLeaf(one, lesion=other) for one, other in zip(before, folded.of(lesion), strict=True))
        for lesion in claim.circuit.lesions()
    ]
    outcome: Outcome
    if useless:
        outcome = Refuted(OneEdge(useless[0], PromptSplit(leaves[useless[0]])))
    else:
        first = [(found.flips + found.ties)[0] for found in witnesses]
        replays = [Replay((Replayed(prompts[x], row[x]),)) for x, row in zip(first, leaves, strict=True)]
        outcome = Proved(EdgeSplit(tuple(replays)))
    met = len(leaves) - len(useless)
    return Answer(Necessity(), outcome, len(leaves), met, Findings(edges=tuple(witnesses)))


def _witnesses(claim: Claim, folded: Folded, edge: Edge) -> EdgeWitnesses:
    """Return the prompts whose clear decision is another clear one, or a tie, without an edge."""
    before, after = folded.of(claim.circuit), folded.of(claim.circuit.without(edge))
    changed = [x for x, fold in enumerate(before) if fold.is_clear and fold.decision != after[x].decision]
    flips = tuple(x for x in changed if after[x].is_clear)
    ties = tuple(x for x in changed if not after[x].is_clear)
    kept = bias_kept(claim.frozen, claim.circuit, edge)
    is_biased = kept is not None and changes_nothing(before, folded.of(kept))
    return EdgeWitnesses(edge, flips, ties, only_bias=is_biased)


def _robustness(claim: Claim, folded: Folded, prop: Robustness, effort: Effort) -> Answer:
    """Answer by a formula where nothing bends between perturbation and logits, otherwise by a search."""
    if claim.frozen.architecture.has_norm or not prop.at.is_final_residual:
        return answer_ball(claim, folded, prop, effort)
    rows, found = claim.directions(), folded.of(claim.circuit)
    clear = [x for x, fold in enumerate(found) if fold.is_clear]
    sizes = dict(zip(clear, radii([found[x] for x in clear], rows), strict=True))
    failing = [x for x in range(len(found)) if x not in sizes or not sizes[x].exceeds(prop.epsilon)]
    leaves = [FoldLeaf(fold, radius=sizes.get(x)) for x, fold in enumerate(found)]
    eta = violation(found[failing[0]], rows, prop.epsilon) if failing else None
    return _for_every_prompt(claim, prop, leaves, failing, eta)
