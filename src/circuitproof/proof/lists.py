"""A claim about a list: fold its circuits on every prompt once, then each property counts its obligations."""

from dataclasses import replace
from itertools import chain

from circuitproof.proof.claim import Claim
from circuitproof.proof.effort import Effort
from circuitproof.proof.evidence import Open
from circuitproof.proof.findings import Findings
from circuitproof.proof.fold import CandidateLogits, Folded, fold
from circuitproof.proof.properties.property import Property
from circuitproof.proof.verdict import Answer, Battery, Undecided


def answer_list(claim: Claim, effort: Effort) -> Battery:
    """Answer a claim; that of the battery states what was to be found."""
    task = claim.task
    folded = fold(
        claim.frozen,
        task.candidates,
        claim.variants(),
        task.prompts,
        effort.pace,
        arithmetic=claim.arithmetic,
        workers=effort.workers,
    )
    answers = tuple(
        prop.answer_list(claim, folded, effort)
        if not prop.is_folded or folded.has((claim.circuit, *prop.variants(claim)))
        else _overdue(claim, folded, prop)
        for prop in claim.properties
    )
    tokens = frozenset(chain.from_iterable(task.prompts))
    if any(prop.is_to_be_found for prop in claim.properties):
        claim = replace(claim, properties=tuple(answer.prop for answer in answers))
    return Battery(claim, answers, task.listed, folded, folded.cells.get(claim.circuit, 0), tokens)


def _overdue(claim: Claim, folded: Folded[CandidateLogits], prop: Property) -> Answer:
    """Leave a property open that there was no time for; edges that are known to be needed are counted."""
    count, known = prop.obligations(claim), prop.known_edges(claim, folded)
    met = sum(bool(found.flips or found.ties) for found in known)
    why = f"the work was ended before the circuits of {count - met} of {count} obligations were computed"
    return Answer(prop.unfound(), Undecided(Open(why)), count, met, Findings(edges=known))
