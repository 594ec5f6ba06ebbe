"""Robustness where something bends after the perturbation: a search per prompt, and their sum."""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from circuitproof.arithmetic.form_matrix import SignCondition
from circuitproof.errors import NotExactError
from circuitproof.files.reading import shown
from circuitproof.forward.interface import Interface, ReadSpan
from circuitproof.proof.claim import Claim
from circuitproof.proof.effort import Effort
from circuitproof.proof.evidence import FoldLeaf, Open, PromptSplit, Replay, Replayed
from circuitproof.proof.findings import Findings
from circuitproof.proof.fold import CandidateLogits, Fold, Folded
from circuitproof.proof.known import exact_folds
from circuitproof.proof.regions.disturbed import Disturbed, Question, disturbed_prompts
from circuitproof.proof.regions.regions import (
    BranchTree,
    SignSplit,
    Unsearched,
    Widening,
    leaves,
    searched_radius,
)
from circuitproof.proof.regions.search import Unstable, Violation, is_closed, search_ball
from circuitproof.proof.verdict import Answer, PropertyOutcome, Proved, Refuted, Undecided
from circuitproof.tasks.domain import Prompt

if TYPE_CHECKING:
    from circuitproof.proof.properties.robustness import Robustness

Finding = BranchTree | Violation | Unstable | NotExactError
_Found = tuple[Prompt, Fold, Finding, Widening]


def answer_ball(claim: Claim, folded: Folded[CandidateLogits], prop: "Robustness", effort: Effort) -> Answer:
    """Answer robustness by searching the ball of each prompt, as long as there is time."""
    if effort.pace.is_over:
        late = Open("the work was ended before the first ball was searched")
        return Answer(prop, Undecided(late), claim.task.size, 0, Findings())
    task, width = claim.task, claim.frozen.architecture.width
    functions = disturbed_prompts(claim.frozen, task.candidates, claim.circuit, task.prompts, prop.at)
    triples = list(zip(task.prompts, exact_folds(folded.of(claim.circuit)), functions, strict=True))
    known: dict[int, Finding] = {}
    found: list[_Found] = []
    for prompt, fold, function in effort.pace.each("prompts", triples):
        if id(function) not in known:
            known[id(function)] = _find(fold, function, prop.epsilon, effort)
        places = widening(width, prop.at, function, claim.frozen.span(len(prompt)))
        found.append((prompt, fold, known[id(function)], places))
    ended = "the budget or the time" if effort.pace.is_over else "the budget"
    return _summed(prop, task.size, found, ended)


def widening(width: int, at: Interface, function: Disturbed, span: ReadSpan) -> Widening:
    """Return where a prompt's coordinates stand among the declared ones: position after position."""
    if at.is_final_residual:
        return Widening(tuple(range(width)), width)
    declared = at.places(span)
    starts = [declared.index(position) * width for position in function.positions]
    places = tuple(start + place for start in starts for place in range(width))
    return Widening(places, len(declared) * width)


def _find(found: Fold, function: Disturbed, radius: Fraction, effort: Effort) -> Finding:
    if not found.is_clear:
        return Violation((Fraction(0),) * function.variables)
    if effort.pace.is_over:
        return Unsearched(Fraction(0))
    try:
        return search_ball(Question(function, found.winner), radius, effort)
    except NotExactError as error:
        return error


def _summed(prop: "Robustness", prompts: int, found: Sequence[_Found], ended: str) -> Answer:
    """Add up what was found at each prompt: one violation refutes, closed trees for all `prompts` prove."""
    failing: list[tuple[int]] = []
    replays: list[Replay] = []
    leaves_found: list[FoldLeaf] = []
    trees: dict[tuple[int, Widening], BranchTree] = {}
    for x, (prompt, fold, finding, widening) in enumerate(found):
        if isinstance(finding, Violation):
            failing.append((x,))
            replays.append(Replay((Replayed(prompt, FoldLeaf(fold), widening.point(finding.eta)),)))
        elif is_closed(finding):
            key = (id(finding), widening)
            if key not in trees:
                trees[key] = widening.tree(finding)
            leaves_found.append(FoldLeaf(fold, regions=trees[key]))
    outcome: PropertyOutcome
    if replays:
        outcome = Refuted(replays[0])
    elif len(leaves_found) == prompts:
        outcome = Proved(PromptSplit(tuple(leaves_found)))
    else:
        outcome = Undecided(Open(_reason([finding for _, _, finding, _ in found], prop.epsilon, ended)))
    return Answer(prop, outcome, prompts, len(leaves_found), Findings(tuple(failing)))


def _reason(findings: Sequence[Finding], epsilon: Fraction, ended: str) -> str:
    """Say what is open: the first prompt of it, and how many there are."""
    x, *others = (x for x, finding in enumerate(findings) if not is_closed(finding))
    match findings[x]:
        case NotExactError() as error:
            why = str(error)
        case Unstable(conditions):
            why = f"branch unstable: {_named(conditions)}"
        case _ as tree:
            assert isinstance(tree, SignSplit | Unsearched)  # noqa: S101  # what else is not closed
            parts = list(leaves(tree))
            missing = sum(isinstance(leaf, Unsearched) for leaf in parts)
            radius = searched_radius(tree, epsilon)
            closed = f"{len(parts) - missing} leaves closed and {missing} open"
            why = f"{ended} ended with {closed}; proved below {shown(radius)}"
    return f"prompt {x} and {len(others)} others are open: {why}" if others else f"prompt {x} is open: {why}"


def _named(conditions: Sequence[SignCondition]) -> str:
    """Name the operators and coordinates whose branch may change."""
    places: dict[str, dict[str, None]] = {}
    for condition in conditions:
        spelled = "mass" if condition.place < 0 else str(condition.place)
        places.setdefault(condition.operator, {})[spelled] = None
    return "; ".join(f"{operator} at {', '.join(listed)}" for operator, listed in places.items())
