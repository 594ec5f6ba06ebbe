"""The battery: every property of a claim answered by the engine of its domain, with remarks on the proofs."""

from dataclasses import replace
from typing import assert_never

from circuitproof.declare.circuits.graph import Edge
from circuitproof.declare.tasks.domain import Domain
from circuitproof.declare.tasks.patterns import Pattern
from circuitproof.prove.claim import Claim
from circuitproof.prove.effort import Effort
from circuitproof.prove.fold import Folded, changes_nothing
from circuitproof.prove.identity import answer_identity
from circuitproof.prove.lists import answer_list
from circuitproof.prove.properties import Equivalence, LesionIdentity, Robustness
from circuitproof.prove.remarks import Grounds, remarks
from circuitproof.prove.verdict import Answer, Battery, Verdict


def prove(claim: Claim, effort: Effort | None = None) -> Battery:
    """Answer every property of a claim: on a list by folds, on a pattern by covers."""
    match claim.task.domain:
        case Domain():
            battery = answer_list(claim, effort or Effort())
        case Pattern():
            from circuitproof.prove.patterns.answers import answer_pattern  # a list needs none of its room

            battery = answer_pattern(claim, effort or Effort())
        case _:
            assert_never(claim.task.domain)
    return replace(battery, answers=_remarked(battery))


def prove_also(battery: Battery, prop: LesionIdentity) -> Battery:
    """Return a battery that answers a lesion identity as well; it needs no folds, so none are made again."""
    claim = replace(battery.claim, properties=(*battery.claim.properties, prop))
    return replace(battery, claim=claim, answers=(*battery.answers, answer_identity(claim.frozen, prop)))


def _remarked(battery: Battery) -> tuple[Answer, ...]:
    """Return the answers with their remarks, which only proofs have."""
    claim, answers = battery.claim, battery.claim.task.answers_by_class()
    proved = [answer.prop for answer in battery.answers if answer.verdict is Verdict.PROVED]
    grounds = Grounds(
        answers=answers,
        circuit=claim.circuit,
        programs=claim.frozen.programs,
        is_equivalent=Equivalence() in proved,
        shared_biases=_shared_biases(claim, battery.folded),
        unreached=sum(claim.unreached(prop) for prop in proved if isinstance(prop, Robustness)),
        has_single_classes=isinstance(claim.task.domain, Domain) and len(answers) == claim.task.size,
    )
    return tuple(
        replace(answer, remarks=remarks(answer.prop.kind, grounds)) if answer.prop in proved else answer
        for answer in battery.answers
    )


def _shared_biases(claim: Claim, folded: Folded) -> tuple[Edge, ...]:
    """Return the edges that change no decision as long as a shared bias is kept."""
    kept = [(edge, variant) for edge, variant in claim.kept_biases().items() if folded.has([variant])]
    before = folded.of(claim.circuit) if kept else ()
    return tuple(edge for edge, variant in kept if changes_nothing(before, folded.of(variant)))
