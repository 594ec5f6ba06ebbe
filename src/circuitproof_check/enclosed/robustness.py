"""Robustness of enclosed decisions to what is added to the final residual."""

from collections.abc import Callable, Sequence
from fractions import Fraction

from circuitproof_check.case import Case
from circuitproof_check.claim import Property
from circuitproof_check.exact import reckon
from circuitproof_check.reading import integer, require
from circuitproof_check.regions.robustness import distances, read_eta
from circuitproof_check.work import NUMBER, spend

from .decisions import leader
from .forward import Enclosures
from .leads import NormedLeads
from .rows import RowBall, root_above

LeadsLeft = Callable[[int, int], Sequence[Fraction]]
"""By a prompt and the place of its winner, what ε leaves of each lead at least, or its sign."""


def proved(case: Case, evidence: object, claimed: Property) -> None:
    """Check that no lead can be closed by a perturbation of at most ε."""
    left = _straight(case, claimed) if case.claim.architecture.norm is None else _normed(case, claimed)
    for prompt, where, _, (stated,) in case.by_prompt(evidence, claimed, claimed.kind, case.claim.edges):
        case.decision(stated, prompt, where)
        is_kept = all(lead > 0 for lead in left(prompt, integer(stated, where)))
        require("leads_exceed_what_epsilon_moves", is_kept, where, claimed.epsilon)


def _straight(case: Case, claimed: Property) -> LeadsLeft:
    """Bound leads where logits are affine in the final residual."""
    unit, epsilon = 1 << case.precision, claimed.epsilon

    def left(prompt: int, winner: int) -> list[Fraction]:
        row, apart = case.row(prompt, case.claim.edges), distances(case, winner)
        spend(NUMBER * len(row.midpoints))
        rest = [midpoint for place, midpoint in enumerate(row.midpoints) if place != winner]
        reckon(apart, [epsilon] * len(apart))
        leads = [row.midpoints[winner] - midpoint - 2 * row.radius for midpoint in rest]
        return [lead - unit * epsilon * far for lead, far in zip(leads, apart, strict=True)]

    return left


def _normed(case: Case, claimed: Property) -> LeadsLeft:
    """Bound leads times the deviation by which the final norm divides."""
    enclosures = _enclosures(case)
    leads = NormedLeads(case, enclosures.precision)

    def left(prompt: int, winner: int) -> list[Fraction]:
        return leads.left(enclosures.residual(case.claim.prompts[prompt]), winner, claimed.epsilon)

    return left


def refuted(case: Case, evidence: object, claimed: Property) -> None:
    """Check a perturbation of at most ε after which another decision is known."""
    where, width = claimed.kind, case.claim.architecture.width
    prompt, (stated, spelled) = case.replay(evidence, claimed, where)
    eta = read_eta(spelled, claimed, width, where)
    case.decision(stated, prompt, where)
    row = case.row(prompt, case.claim.edges)
    moved = _moved if case.claim.architecture.norm is None else _replayed
    before, after = leader(row.midpoints, row.radius), leader(*moved(case, prompt, eta))
    require("eta_brings_another_known_decision", after not in (None, before), where)


def _moved(case: Case, prompt: int, eta: Sequence[Fraction]) -> tuple[list[Fraction], int]:
    """Return the logits with a perturbation, in which they are affine."""
    row, unit = case.row(prompt, case.claim.edges), 1 << case.precision
    moved: list[Fraction] = []
    for midpoint, token in zip(row.midpoints, case.claim.task.candidates, strict=True):
        entries = case.forward.output_row(token).fractions()
        reckon(entries, eta)
        moved.append(midpoint + unit * sum(map(_product, entries, eta), Fraction(0)))
    reckon(moved)
    return moved, row.radius


def _replayed(case: Case, prompt: int, eta: Sequence[Fraction]) -> tuple[tuple[int, ...], int]:
    """Return the logits of the perturbed final residual, through the norm."""
    enclosures = _enclosures(case)
    row, precision = enclosures.residual(case.claim.prompts[prompt]), enclosures.precision
    reckon(eta)
    pairs = zip(row.midpoints, eta, strict=True)
    added = [midpoint + (one.numerator << precision) // one.denominator for midpoint, one in pairs]
    found = enclosures.read_out(RowBall(tuple(added), row.radius + root_above(len(added))))
    return found.midpoints, found.radius


def _product(one: Fraction, other: Fraction) -> Fraction:
    return one * other


def _enclosures(case: Case) -> Enclosures:
    assert case.enclosures is not None  # noqa: S101  # such claims are judged here alone
    return case.enclosures
