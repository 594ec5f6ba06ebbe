"""BandNorm on forms: which branch each side takes at a point, and the signs that make it right in a region.

A side c whose mass Σ max(c, 0) is above the band, or below it with the continuous lift, is max(c − τ, 0)
for a threshold τ: above where τ ≥ 0, below where τ ≤ 0. No sign of a single coordinate is then needed, only
the support of the projection. Within the band the side is max(c, 0). At the edges of the band both
neighbours agree, and so do both signs of a coordinate within it. The reference lift alone tells zero from a
positive coordinate.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

import numpy as np

from circuitproof.arithmetic.form_matrix import (
    UP,
    Columns,
    FormMatrix,
    SampledRegion,
    projected,
    reduced,
    settle,
)
from circuitproof.arithmetic.forms import Sign
from circuitproof.models.operators import BandNorm

_DOWN = (Sign.LESS, Sign.AT_LEAST)
_BOTH = (Sign.LESS, Sign.EQUAL, Sign.MORE)


def band(sampled: SampledRegion, matrix: FormMatrix, norm: BandNorm) -> FormMatrix:
    """Return a row centred, with both sides brought into the band, and centred again."""
    centre = _centred(matrix.over(lcm(norm.low.denominator, norm.high.denominator)))
    mirror = FormMatrix(-centre.numbers, centre.denominator)
    positions = [_position(sampled, side, norm) for side in (centre, mirror)]
    is_lifted = [position < 0 and norm.lift.shares_equally for position in positions]
    parts = _BOTH if all(is_lifted) else _DOWN if is_lifted[1] else UP
    flipped = tuple(part.mirrored() for part in parts)
    positive = _side(sampled, centre, norm, (positions[0], 0, parts))
    negative = _side(sampled, mirror, norm, (positions[1], 1, flipped))
    common = lcm(positive.denominator, negative.denominator)
    first, second = (side.over(common // side.denominator).numbers for side in (positive, negative))
    return reduced(_centred(FormMatrix(first - second, common)))


def _centred(matrix: FormMatrix) -> FormMatrix:
    count = matrix.numbers.shape[1]
    total = matrix.numbers.sum(axis=1)
    return FormMatrix(matrix.numbers * count - total[:, None], matrix.denominator * count)


def _position(sampled: SampledRegion, side: FormMatrix, norm: BandNorm) -> int:
    """Return -1, 0 or 1: where a side's mass lies at the point, below the band, in it, or above."""
    values, common = sampled.values(side)
    mass = Fraction(sum(max(value, 0) for value in values), side.denominator * common)
    return (mass > norm.high) - (mass < norm.low)


def _side(
    sampled: SampledRegion, side: FormMatrix, norm: BandNorm, branch: tuple[int, int, tuple[Sign, ...]]
) -> FormMatrix:
    """Bring the positive side of centred forms into the band, by the branch that it takes at the point.

    A branch is the position, the first of every second place that takes an empty side's mass, and how to
    split where a sign is open.
    """
    position, spare, parts = branch
    if position > 0:
        return projected(sampled, side, norm.high, Sign.AT_LEAST)
    if position < 0 and not norm.lift.shares_equally:
        return projected(sampled, side, norm.low, Sign.AT_MOST)
    is_up = sampled.signs_at(side) > 0
    positive = np.flatnonzero(is_up).tolist()
    mass = side.numbers[:, positive].sum(axis=1)
    low, high = (int(bound * side.denominator) for bound in (norm.low, norm.high))
    if position == 0:
        signs = [Sign.AT_LEAST if up else Sign.AT_MOST for up in is_up]
        edges = [_edge(mass, low, Sign.AT_LEAST), _edge(mass, high, Sign.AT_MOST)]
        settle(sampled, [Columns(side.numbers, signs, parts), *edges])
        return FormMatrix(np.where(is_up, side.numbers, 0), side.denominator)
    signs = [Sign.MORE if up else Sign.AT_MOST for up in is_up]
    settle(sampled, [Columns(side.numbers, signs, parts), _edge(mass, low, Sign.AT_MOST)])
    return _lifted(
        FormMatrix(np.where(is_up, side.numbers, 0), side.denominator), positive, (mass, low), spare
    )


def _edge(mass: np.ndarray, bound: int, sign: Sign) -> Columns:
    """Return the demand that the mass lies on one side of a bound."""
    beyond = mass.copy()
    beyond[0] -= bound
    return Columns(beyond[:, None], [sign], is_whole=True)


def _lifted(
    side: FormMatrix, positive: Sequence[int], missing: tuple[np.ndarray, int], spare: int
) -> FormMatrix:
    """Add what a side lacks equally to its positive places, or to every second place where it has none."""
    mass, low = missing
    takers = list(positive) or list(range(spare, side.numbers.shape[1], 2))
    share = -mass
    share[0] += low
    raised = side.numbers * len(takers)
    raised[:, takers] += share[:, None]
    return FormMatrix(raised, side.denominator * len(takers))
