"""What is known of a decision from midpoints and a radius."""

from collections.abc import Sequence
from fractions import Fraction

from circuitproof_check.work import NUMBER, spend


def leader(midpoints: Sequence[int] | Sequence[Fraction], radius: int) -> int | None:
    """Return the place of the candidate that leads each other by more than two radii, if one does."""
    spend(NUMBER * len(midpoints))
    best = max(range(len(midpoints)), key=midpoints.__getitem__)
    others = [midpoint for place, midpoint in enumerate(midpoints) if place != best]
    return best if midpoints[best] - max(others) > 2 * radius else None
