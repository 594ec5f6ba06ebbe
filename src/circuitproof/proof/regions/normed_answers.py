"""Robustness at a final residual that a layer norm follows: each prompt's bound, and their sum."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_DOWN, ROUND_UP, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from circuitproof.arithmetic.exact import Exact
from circuitproof.forward.forward import Forward
from circuitproof.forward.interface import Side
from circuitproof.forward.prompts import PromptCells
from circuitproof.proof.arithmetic import EnclosedNumbers, EnclosedRow, enclosed_rows
from circuitproof.proof.claim import Claim
from circuitproof.proof.effort import Effort
from circuitproof.proof.enclosed import Enclosed, NotKnown
from circuitproof.proof.evidence import Open, make_leaf
from circuitproof.proof.fold import CandidateLogits, Folded
from circuitproof.proof.known import divide
from circuitproof.proof.properties.each_prompt import for_every_prompt
from circuitproof.proof.regions.final_norm import NormedDecision, final_norm
from circuitproof.proof.verdict import Answer, Undecided

if TYPE_CHECKING:
    from circuitproof.proof.properties.robustness import Robustness

_SEARCHED = 16
"""On how many open prompts a perturbation is searched for that changes the decision."""
_DIGITS = 4


def answer_normed(
    claim: Claim, folded: Folded[CandidateLogits], prop: "Robustness", effort: Effort
) -> Answer:
    """Answer robustness by the bound of each prompt, and where it is not enough, by perturbations."""
    found = folded.of(claim.circuit)
    decisions = _decisions(claim, found)
    kept = divide(one.keeps(prop.epsilon) for one in effort.pace.each("prompts", decisions))
    eta = decisions[kept.no[0]].violation(prop.epsilon) if kept.no else None
    answer = for_every_prompt(claim, prop, [make_leaf(one) for one in found], kept, eta)
    still = [decisions[place] for place in kept.open]
    if not isinstance(answer.outcome, Undecided) or any(_is_unknown(one) for one in still):
        return answer
    is_final = not any(one.may_be_decided(prop.epsilon) for one in still)
    if not is_final and decisions[0].numbers.finer() is not None:
        return answer
    reason = f"{len(still)} of {len(decisions)} prompts are open: {_between(decisions, kept.open, effort)}"
    return replace(answer, outcome=Undecided(Open(reason), is_final=is_final))


def _decisions(claim: Claim, found: Sequence[CandidateLogits]) -> tuple[NormedDecision, ...]:
    numbers, norm = claim.arithmetic, final_norm(claim.frozen, claim.task.candidates)
    enclosed = [one for one in found if isinstance(one, Enclosed)]
    assert isinstance(numbers, EnclosedNumbers)  # noqa: S101  # nothing else encloses a layer norm
    pairs = zip(enclosed, final_residuals(claim, numbers), strict=True)
    return tuple(NormedDecision(norm, numbers, *pair) for pair in pairs)


def final_residuals(claim: Claim, numbers: EnclosedNumbers) -> tuple[EnclosedRow, ...]:
    """Return what the logits of each prompt are read from, before their norm."""
    cells = PromptCells(claim.frozen, claim.circuit.ablation)
    stage, places = cells.cells(claim.circuit, claim.task.prompts)
    trace = numbers.trace(Forward(claim.frozen, cells, Exact(), claim.task.candidates))
    rows = enclosed_rows(trace.at(stage, Side.INPUT), numbers)
    return tuple(rows[place] for place in places)


def _is_unknown(one: NormedDecision) -> bool:
    return isinstance(one.logits.decision, NotKnown)


def _between(decisions: Sequence[NormedDecision], places: Sequence[int], effort: Effort) -> str:
    """Say up to which size every decision is kept, and from which on one is known to change."""
    sizes = {place: size for place in places if (size := decisions[place].kept_below()) is not None}
    kept = f"every decision is kept up to {_digits(min(sizes.values()), ROUND_DOWN)}"
    nearest = sorted(sizes, key=lambda place: sizes[place])[:_SEARCHED]
    searched = effort.pace.steps("open prompts", nearest)
    broken = {place: found[0] for place in searched if (found := decisions[place].broken_at()) is not None}
    if not broken:
        return f"{kept}, and no larger perturbation was found that changes one"
    first = min(broken, key=lambda place: broken[place])
    size = _digits(broken[first], ROUND_UP)
    return f"{kept}, that of prompt {first} changes at {size}; what lies between, the bound does not decide"


def _digits(value: Fraction, rounding: str) -> str:
    """Return some digits of a size, rounded so that what is said of it holds of what is shown."""
    context = Context(prec=_DIGITS, rounding=rounding)
    return f"{context.divide(Decimal(value.numerator), Decimal(value.denominator)):g}"
