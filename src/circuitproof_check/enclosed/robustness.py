"""Robustness of enclosed decisions to what is added to the final residual, where no norm follows."""

from fractions import Fraction

from circuitproof_check.case import Case
from circuitproof_check.claim import Property
from circuitproof_check.exact import reckon
from circuitproof_check.reading import require
from circuitproof_check.regions.robustness import distances, read_eta
from circuitproof_check.work import NUMBER, spend

from .decisions import leader


def proved(case: Case, evidence: object, claimed: Property) -> None:
    """Check that no lead can be closed by a perturbation of at most ε."""
    for prompt, where, _, (stated,) in case.by_prompt(evidence, claimed, claimed.kind, case.claim.edges):
        case.decision(stated, prompt, where)
        row = case.row(prompt, case.claim.edges)
        spend(NUMBER * len(row.midpoints))
        best = row.midpoints.index(max(row.midpoints))
        rest = [midpoint for place, midpoint in enumerate(row.midpoints) if place != best]
        apart, unit = distances(case, best), 1 << case.precision
        reckon(apart)
        leads = [row.midpoints[best] - midpoint - 2 * row.radius for midpoint in rest]
        is_kept = all(lead > unit * claimed.epsilon * far for lead, far in zip(leads, apart, strict=True))
        require("leads_exceed_what_epsilon_moves", is_kept, where, claimed.epsilon)


def refuted(case: Case, evidence: object, claimed: Property) -> None:
    """Check a perturbation of at most ε after which another decision is known."""
    where, width = claimed.kind, case.claim.architecture.width
    prompt, (stated, spelled) = case.replay(evidence, claimed, where)
    eta = read_eta(spelled, claimed, width, where)
    case.decision(stated, prompt, where)
    row, unit = case.row(prompt, case.claim.edges), 1 << case.precision
    moved: list[Fraction] = []
    for midpoint, token in zip(row.midpoints, case.claim.task.candidates, strict=True):
        entries = case.forward.output_row(token).fractions()
        reckon(entries, eta)
        moved.append(midpoint + unit * sum(map(_product, entries, eta), Fraction(0)))
    reckon(moved)
    before, after = leader(row.midpoints, row.radius), leader(moved, row.radius)
    require("eta_brings_another_known_decision", after not in (None, before), where)


def _product(one: Fraction, other: Fraction) -> Fraction:
    return one * other
