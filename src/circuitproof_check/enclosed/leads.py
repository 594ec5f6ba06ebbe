"""Leads of enclosed decisions through a final layer norm, whatever of at most ε is added before it.

Times the deviation, which is positive, a lead is affine in the final residual plus a multiple of the
deviation: `docs/certificate.md` has the proof.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from circuitproof_check.architecture import LayerNorm
from circuitproof_check.case import Case
from circuitproof_check.exact import Vector, dot, mix, reckon, scaled, vector
from circuitproof_check.exact import centred as centred_vector
from circuitproof_check.work import NUMBER, paid, spend, spend_numbers

from .rows import CentredRow, RowBall, ceiling, centred, root_above


@dataclass(frozen=True, slots=True)
class RivalLead:
    """What of the lead over another candidate depends on no prompt."""

    slope: Fraction
    """How fast a perturbation closes the part that is affine."""
    stretch: Fraction
    """At least the Euclidean length of that part's coefficients."""
    offset: Fraction
    """The multiple of the deviation."""


class NormedLeads:
    """Bounds what is left of leads, by the winner and the final residual."""

    def __init__(self, case: Case, precision: int) -> None:
        self._case, self._forward, self._precision = case, case.forward, precision
        self._scale = case.forward.whole("logits.norm.scale")
        self._shift = case.forward.whole("logits.norm.shift")
        self._rivals: dict[int, list[RivalLead]] = {}

    def left(self, residual: RowBall, winner: int, epsilon: Fraction) -> list[Fraction]:
        """Return, for each candidate but the winner, a number that is positive only if the lead is kept."""
        norm = cast("LayerNorm", self._case.claim.architecture.norm)
        found, unit = centred(residual, norm.epsilon, self._precision), 1 << self._precision
        parts, rivals = self._affine(found), self._rivals_of(winner)
        reckon(parts, [epsilon] * len(rivals), *([one.slope, one.offset] for one in paid(rivals, NUMBER)))
        lead, moved = parts.pop(winner), ceiling(unit * epsilon.numerator, epsilon.denominator)
        below = max(found.deviation - found.off - moved, found.least)
        above = found.deviation + 1 + found.off + moved
        return [
            lead
            - part
            - rival.stretch * residual.radius
            - unit * epsilon * rival.slope
            + rival.offset * (below if rival.offset >= 0 else above)
            for part, rival in zip(parts, rivals, strict=True)
        ]

    def _affine(self, row: CentredRow) -> list[Fraction]:
        """Return the products of the candidates' rows, times the scale, with the centred midpoints."""
        point = scaled(vector(row.numbers, len(row.numbers)), self._scale)
        candidates = paid(self._case.claim.task.candidates, NUMBER)
        return [dot(self._forward.output_row(token), point) for token in candidates]

    def _rivals_of(self, winner: int) -> list[RivalLead]:
        spend(NUMBER)
        if winner not in self._rivals:
            first, *others = self._candidates(winner)
            self._rivals[winner] = [self._rival(first, other) for other in others]
        return self._rivals[winner]

    def _candidates(self, winner: int) -> list[int]:
        """Return the candidates, the winner first."""
        candidates = list(paid(self._case.claim.task.candidates))
        return [candidates.pop(winner), *candidates]

    def _rival(self, one: int, other: int) -> RivalLead:
        rows = [self._forward.output_row(token) for token in (one, other)]
        apart = mix([1, -1], rows, self._case.claim.architecture.width)
        slopes, offset = centred_vector(scaled(apart, self._scale)), dot(self._shift, apart)
        if self._case.claim.architecture.logit_bias:
            first, second = (self._forward.row("logits.bias", token).fractions() for token in (one, other))
            offset += first[0] - second[0]
        return RivalLead(*_lengths(slopes), offset)


def _lengths(row: Vector) -> tuple[Fraction, Fraction]:
    """Return the sum of absolute values, and a number no less than the Euclidean length."""
    spend_numbers(2 * len(row.numbers), row.bits * (2 + row.bits // 900))
    square = sum(number * number for number in row.numbers)
    length = root_above(ceiling(square << 32, row.denominator * row.denominator))
    return Fraction(sum(map(abs, row.numbers)), row.denominator), Fraction(length, 1 << 16)
