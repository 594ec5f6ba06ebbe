"""Robustness at the final residual of a circuit without a final norm: the exact radius of a decision."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from circuitproof.prove.evidence import Radius
from circuitproof.prove.fold import Fold


@dataclass(frozen=True, slots=True)
class Directions:
    """The rows of the output embedding for the candidates, exactly."""

    rows: tuple[tuple[Fraction, ...], ...]

    def apart(self, one: int, other: int) -> Fraction:
        """Return ‖u_one − u_other‖₁: how fast a perturbation can close the margin between them."""
        return sum((abs(a - b) for a, b in zip(self.rows[one], self.rows[other], strict=True)), Fraction(0))


def radii(folds: Sequence[Fold], rows: Directions) -> tuple[Radius, ...]:
    """Return the exact radius of each clear decision; folds that repeat are computed once."""
    speeds = {
        (y, t): rows.apart(y, t) for y in range(len(rows.rows)) for t in range(len(rows.rows)) if y != t
    }
    known = {fold: _radius(fold, speeds) for fold in dict.fromkeys(folds)}
    return tuple(known[fold] for fold in folds)


def violation(fold: Fold, rows: Directions, epsilon: Fraction) -> tuple[Fraction, ...]:
    """Return a perturbation of size at most `epsilon` after which the decision is not the clear one it was.

    For a tie it is zero. Otherwise it pushes every coordinate against the margin that falls first, by the
    radius: the competitor then draws level.
    """
    width = len(rows.rows[0])
    if not fold.is_clear:
        return (Fraction(0),) * width
    y = fold.winner
    ratios = {
        t: (fold.logits[y] - logit) / rows.apart(y, t)
        for t, logit in enumerate(fold.logits)
        if t != y and rows.apart(y, t)
    }
    nearest = min(ratios, key=lambda t: ratios[t])
    step = min(ratios[nearest], epsilon)
    return tuple(
        step if other > own else -step if own > other else Fraction(0)
        for own, other in zip(rows.rows[y], rows.rows[nearest], strict=True)
    )


def _radius(fold: Fold, speeds: dict[tuple[int, int], Fraction]) -> Radius:
    y = fold.winner
    finite = [
        (fold.logits[y] - logit) / speeds[y, t]
        for t, logit in enumerate(fold.logits)
        if t != y and speeds[y, t]
    ]
    return Radius(min(finite, default=None))
