"""A claim about a list: fold its circuits on every prompt once, then count each property's obligations."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from typing import assert_never

from circuitproof.declare.circuits.circuit import whole
from circuitproof.declare.circuits.graph import Edge
from circuitproof.prove.balls.answers import answer_ball
from circuitproof.prove.balls.disturbed import Point
from circuitproof.prove.balls.robustness import Directions, keeps, known_violation, radii, violation
from circuitproof.prove.claim import Claim, bias_kept
from circuitproof.prove.effort import Effort
from circuitproof.prove.evidence import (
    EdgeSplit,
    FoldLeaf,
    Leaf,
    OneEdge,
    Open,
    PromptSplit,
    Radius,
    Replay,
    Replayed,
    logits_of,
    make_leaf,
)
from circuitproof.prove.fewest import answer_fewest
from circuitproof.prove.findings import EdgeWitnesses, Findings
from circuitproof.prove.fold import CandidateLogits, Fold, Folded, fold
from circuitproof.prove.identity import answer_identity
from circuitproof.prove.inexact import cannot_prove, has_radii
from circuitproof.prove.known import (
    Divided,
    changes_nothing,
    decides,
    divide,
    is_changed,
    is_clear,
    open_words,
    same_decision,
)
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
    folded = fold(
        claim.frozen,
        task.candidates,
        claim.variants(),
        task.prompts,
        effort.pace,
        arithmetic=claim.arithmetic,
    )
    answers = tuple(
        _answer(claim, folded, prop, effort)
        if folded.has(claim.variants_of(prop)) or isinstance(prop, LesionIdentity)
        else _overdue(claim, folded, prop)
        for prop in claim.properties
    )
    tokens = frozenset(chain.from_iterable(task.prompts))
    return Battery(claim, answers, task.listed, folded, folded.cells.get(claim.circuit, 0), tokens)


def _overdue(claim: Claim, folded: Folded[CandidateLogits], prop: Property) -> Answer:
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


def _answer(claim: Claim, folded: Folded[CandidateLogits], prop: Property, effort: Effort) -> Answer:
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


def _equivalence(claim: Claim, folded: Folded[CandidateLogits]) -> Answer:
    wanted, found = claim.task.decisions(), folded.of(claim.circuit)
    right = divide(decides(fold, wanted[x]) for x, fold in enumerate(found))
    return _for_every_prompt(claim, Equivalence(), [make_leaf(fold) for fold in found], right)


def _faithfulness(claim: Claim, folded: Folded[CandidateLogits]) -> Answer:
    if (reason := cannot_prove(claim, Faithfulness())) is not None:
        return Answer(Faithfulness(), Undecided(Open(reason)), claim.task.size, 0, Findings())
    found, model = folded.of(claim.circuit), folded.of(whole(claim.frozen.graph))
    leaves = [make_leaf(one, model=other) for one, other in zip(found, model, strict=True)]
    alike = divide(same_decision(one, other) for one, other in zip(found, model, strict=True))
    return _for_every_prompt(claim, Faithfulness(), leaves, alike)


def _for_every_prompt(
    claim: Claim, prop: Property, leaves: Sequence[Leaf], met: Divided, eta: Point | None = None
) -> Answer:
    """Answer a property with an obligation per prompt; the first that fails, under `eta`, refutes it."""
    outcome: Outcome = Proved(PromptSplit(tuple(leaves)))
    if met.no:
        leaf = leaves[met.no[0]]
        plain = replace(leaf, radius=None) if isinstance(leaf, FoldLeaf) else leaf
        outcome = Refuted(Replay((Replayed(claim.task.prompts[met.no[0]], plain, eta),)))
    elif met.open:
        outcome = _open_prompts(leaves, met.open)
    radii = tuple(_radius(leaf) for leaf in leaves) if isinstance(prop, Robustness) else ()
    found = Findings(tuple((x,) for x in met.no), radii=radii)
    return Answer(prop, outcome, len(leaves), len(met.yes), found)


def _radius(leaf: Leaf) -> Radius | None:
    return leaf.radius if isinstance(leaf, FoldLeaf) else None


def _open_prompts(leaves: Sequence[Leaf], places: Sequence[int]) -> Undecided:
    """Leave open what enclosed logits do not tell, and say how near the nearest is."""
    values = chain.from_iterable(logits_of(leaves[place]) for place in places)
    what = f"{len(places)} of {len(leaves)} prompts are"
    return Undecided(Open(open_words(f"prompt {places[0]} is" if len(leaves) == 1 else what, values)))


def _invariance(claim: Claim, folded: Folded[CandidateLogits]) -> Answer:
    found, classes, prompts = folded.of(claim.circuit), claim.task.classes(), claim.task.prompts
    failing: list[tuple[int, ...]] = []
    unknown: list[int] = []
    for members in classes:
        clear = divide(is_clear(found[x].decision) for x in members)
        tied, known = [members[k] for k in clear.no], [members[k] for k in clear.yes]
        unlike = [x for x in known if same_decision(found[x], found[known[0]]) is False]
        if tied or unlike:
            failing.append((tied[0],) if tied else (known[0], unlike[0]))
        else:
            unknown.extend(members[k] for k in clear.open)
    leaves = tuple(map(make_leaf, found))
    outcome: Outcome = Proved(PromptSplit(leaves))
    if failing:
        outcome = Refuted(Replay(tuple(Replayed(prompts[x], leaves[x]) for x in failing[0])))
    elif unknown:
        outcome = _open_prompts(leaves, unknown)
    open_classes = sum(not set(unknown).isdisjoint(members) for members in classes)
    met = len(classes) - len(failing) - open_classes
    return Answer(Invariance(), outcome, len(classes), met, Findings(tuple(failing)))


def _necessity(claim: Claim, folded: Folded[CandidateLogits]) -> Answer:
    before, prompts = folded.of(claim.circuit), claim.task.prompts
    witnesses = [_witnesses(claim, folded, edge) for edge in claim.circuit]
    needed = [found.is_needed for found in witnesses]
    leaves = [
        tuple(make_leaf(one, lesion=other) for one, other in zip(before, folded.of(lesion), strict=True))
        for lesion in claim.circuit.lesions()
    ]
    edges = divide(needed)
    outcome: Outcome
    if edges.no:
        outcome = Refuted(OneEdge(edges.no[0], PromptSplit(leaves[edges.no[0]])))
    elif edges.open:
        values = [one for k in edges.open for x in witnesses[k].open for one in logits_of(leaves[k][x])]
        outcome = Undecided(Open(open_words(f"{len(edges.open)} of {len(leaves)} edges are", values)))
    else:
        first = [(found.flips + found.ties)[0] for found in witnesses]
        replays = [Replay((Replayed(prompts[x], row[x]),)) for x, row in zip(first, leaves, strict=True)]
        outcome = Proved(EdgeSplit(tuple(replays)))
    return Answer(Necessity(), outcome, len(leaves), len(edges.yes), Findings(edges=tuple(witnesses)))


def _witnesses(claim: Claim, folded: Folded[CandidateLogits], edge: Edge) -> EdgeWitnesses:
    """Return the prompts whose clear decision is another clear one, or a tie, without an edge."""
    before, after = folded.of(claim.circuit), folded.of(claim.circuit.without(edge))
    changed = divide(is_changed(one, other) for one, other in zip(before, after, strict=True))
    flips = tuple(x for x in changed.yes if is_clear(after[x].decision) is True)
    ties = tuple(x for x in changed.yes if is_clear(after[x].decision) is False)
    kept = bias_kept(claim.frozen, claim.circuit, edge)
    is_biased = kept is not None and changes_nothing(before, folded.of(kept)) is True
    return EdgeWitnesses(edge, flips, ties, only_bias=is_biased, open=changed.open)


def _robustness(claim: Claim, folded: Folded[CandidateLogits], prop: Robustness, effort: Effort) -> Answer:
    """Answer by a formula where nothing bends between perturbation and logits, otherwise by a search."""
    if (reason := cannot_prove(claim, prop)) is not None:
        return Answer(prop, Undecided(Open(reason)), claim.task.size, 0, Findings())
    if not has_radii(claim.frozen, prop):
        return answer_ball(claim, folded, prop, effort)
    rows, found = claim.directions(), folded.of(claim.circuit)
    clear = [fold for fold in found if isinstance(fold, Fold) and fold.is_clear]
    sizes = dict(zip(clear, radii(clear, rows), strict=True))
    leaves = [
        FoldLeaf(fold, radius=sizes.get(fold)) if isinstance(fold, Fold) else make_leaf(fold)
        for fold in found
    ]
    kept = divide(
        fold in sizes and sizes[fold].exceeds(prop.epsilon)
        if isinstance(fold, Fold)
        else keeps(fold, rows, prop.epsilon)
        for fold in found
    )
    eta = _breaking(found[kept.no[0]], rows, prop.epsilon) if kept.no else None
    return _for_every_prompt(claim, prop, leaves, kept, eta)


def _breaking(found: CandidateLogits, rows: Directions, epsilon: Fraction) -> Point | None:
    is_exact = isinstance(found, Fold)
    return violation(found, rows, epsilon) if is_exact else known_violation(found, rows, epsilon)
