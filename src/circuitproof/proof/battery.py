"""The battery: every property of a claim answered by the engine of its domain, with remarks on the proofs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from circuitproof.circuits.ablation import Zero
from circuitproof.circuits.circuit import whole
from circuitproof.circuits.graph import Edge
from circuitproof.proof.arithmetic import ExactNumbers
from circuitproof.proof.claim import Claim
from circuitproof.proof.effort import Effort
from circuitproof.proof.enclosed import Decision, NotKnown, Ternary
from circuitproof.proof.evidence import decisions
from circuitproof.proof.fold import fold
from circuitproof.proof.known import all_of, same_logits
from circuitproof.proof.lists import answer_list
from circuitproof.proof.properties.lesion_identity import LesionIdentity
from circuitproof.proof.properties.property import Property
from circuitproof.proof.remarks import Decisions, Plain, Remark, RemarkContext, perhaps, remarks_on_prompts
from circuitproof.proof.verdict import Answer, Battery, Undecided, Verdict
from circuitproof.tasks.domain import Domain
from circuitproof.tasks.patterns import Pattern
from circuitproof.workers import SERIAL, Division

_TRIED = 4
"""On how many prompts a precision is tried before it is used on all of a longer list."""


def prove(claim: Claim, effort: Effort | None = None) -> Battery:
    """Answer every property of a claim: on a list by folds, on a pattern by covers."""
    match claim.task.domain:
        case Domain():
            battery = _finest(_promising(claim, effort or Effort()), effort or Effort())
        case Pattern():
            from circuitproof.proof.patterns.answers import (
                answer_pattern,  # a list needs nothing of its package
            )

            battery = answer_pattern(claim, effort or Effort())
        case _:
            assert_never(claim.task.domain)
    return replace(battery, answers=_remarked(battery, (effort or Effort()).workers))


def _promising(claim: Claim, effort: Effort) -> Claim:
    """Return the claim in the first arithmetic of its kind that decides one of a few prompts, if some does.

    One that decides none of them would be tried on all prompts in vain.
    """
    prompts = claim.task.prompts[:: max(1, len(claim.task.prompts) // _TRIED)][:_TRIED]
    tried = claim
    while len(claim.task.prompts) > _TRIED**2 and not effort.pace.is_over:
        if isinstance(tried.arithmetic, ExactNumbers):
            return claim
        asked = (claim.frozen, claim.task.candidates, [claim.circuit], prompts)
        found = fold(*asked, arithmetic=tried.arithmetic).of(claim.circuit)
        if any(not isinstance(one.decision, NotKnown) for one in found):
            return tried
        if (finer := tried.arithmetic.finer()) is None:
            return claim
        tried = replace(tried, arithmetic=finer)
    return claim


def _finest(claim: Claim, effort: Effort) -> Battery:
    """Answer a claim in ever finer arithmetics of its kind, until nothing is open that they may decide."""
    battery = answer_list(claim, effort)
    while (finer := _finer(claim, battery, effort)) is not None:
        claim, battery = finer, answer_list(finer, effort)
    return battery


def _finer(claim: Claim, battery: Battery, effort: Effort) -> Claim | None:
    """Return a claim in a finer arithmetic, if there is one and it may decide what is open, or find more.

    The claim is that which was asked: the battery's states what was found.
    """
    if isinstance(claim.arithmetic, ExactNumbers) or effort.pace.is_over:
        return None
    is_open = any(
        answer.may_sharpen
        or (
            isinstance(answer.outcome, Undecided)
            and not answer.outcome.is_final
            and answer.prop.cannot_prove(claim) is None
        )
        for answer in battery.answers
    )
    finer = claim.arithmetic.finer() if is_open else None
    return None if finer is None else replace(claim, arithmetic=finer)


def prove_also(battery: Battery, prop: LesionIdentity) -> Battery:
    """Return a battery that answers a lesion identity as well; it needs no folds, so none are made again."""
    claim = replace(battery.claim, properties=(*battery.claim.properties, prop))
    answers = (*battery.answers, prop.answer(claim.frozen))
    answered = replace(battery, claim=claim, answers=answers)
    return replace(answered, answers=_remarked(answered))


def _remarked(battery: Battery, workers: Division = SERIAL) -> tuple[Answer, ...]:
    """Return the answers with their remarks, which only proofs have."""
    claim, answers = battery.claim, battery.claim.task.answers_by_class()
    proved = [answer.prop for answer in battery.answers if answer.verdict is Verdict.PROVED]
    context = RemarkContext(
        answers=answers,
        circuit=claim.circuit,
        programs=claim.frozen.programs,
        is_equivalent=any(prop.implies_equivalence(claim) for prop in proved),
        has_single_classes=len(answers) == claim.task.size,
        unedged=_unedged(battery, workers),
        of_prompts=remarks_on_prompts(claim.circuit.ablation, battery.shown.prompts),
        is_as_model=_is_as_model(battery, workers),
        lacks_edges=len(claim.circuit) < len(claim.edges()),
    )
    return tuple(
        replace(answer, remarks=remarks(answer.prop, battery, context, tuple(decisions(answer.evidence))))
        if answer.prop in proved
        else answer
        for answer in battery.answers
    )


def remarks(
    prop: Property, battery: Battery, context: RemarkContext, decisions: Decisions
) -> tuple[Remark, ...]:
    """Return what there is to remark on the proof of a property, in the order of the table."""
    said = prop.remarks(battery, context, decisions)
    if not prop.is_about_cut_edges:
        return said
    if prop.is_about_edges:
        return (*said, *context.of_prompts)
    if prop.shown_beside() is not None:
        return (*said, *context.of_prompts)
    of_prompts = context.of_prompts if context.lacks_edges or prop.cuts_edges else ()
    return (*said, *of_prompts, *prop.late_remarks(), *perhaps(Plain.AS_MODEL, context.is_as_model))


def _unedged(battery: Battery, workers: Division) -> Sequence[Decision]:
    """Return what the circuit without any edge decides: of one prompt, if cut edges carry nothing."""
    claim = battery.claim
    none = replace(claim.circuit, edges=frozenset[Edge]())
    prompts = battery.shown.prompts[:1] if isinstance(none.ablation, Zero) else battery.shown.prompts
    asked = (claim.frozen, claim.task.candidates, [none], prompts)
    folded = fold(*asked, arithmetic=claim.arithmetic, workers=workers)
    return tuple(one.decision for one in folded.of(none))


def _is_as_model(battery: Battery, workers: Division) -> Ternary:
    """Say whether a circuit has the model's logits although its cut edges carry something."""
    claim, prompts = battery.claim, battery.shown.prompts
    if isinstance(claim.circuit.ablation, Zero):
        return False
    model = whole(claim.frozen.graph)
    circuits = [claim.circuit, model]
    asked = (claim.frozen, claim.task.candidates, circuits, prompts)
    folded = fold(*asked, arithmetic=claim.arithmetic, workers=workers)
    return all_of(map(same_logits, folded.of(claim.circuit), folded.of(model)))
