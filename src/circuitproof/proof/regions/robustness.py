"""Robustness at the final residual of a circuit without a final norm: the exact radius of a decision."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from circuitproof.proof.enclosed import NOT_KNOWN, Enclosed, NotKnown, Ternary
from circuitproof.proof.evidence import Radius
from circuitproof.proof.fold import Fold
from circuitproof.proof.known import decides


@dataclass(frozen=True, slots=True)
class Directions:
    """The rows of the output embedding for the candidates, exactly."""

    rows: tuple[tuple[Fraction, ...], ...]
    _known: dict[tuple[int, int], Fraction] = field(
        default_factory=dict[tuple[int, int], Fraction], init=False, repr=False, compare=False
    )

    def apart(self, one: int, other: int) -> Fraction:
        """Return ‖u_one − u_other‖₁: how fast a perturbation can close the margin between them."""
        key = (min(one, other), max(one, other))
        if key not in self._known:
            pairs = zip(self.rows[one], self.rows[other], strict=True)
            self._known[key] = sum((abs(a - b) for a, b in pairs), Fraction(0))
        return self._known[key]


def radii(folds: Sequence[Fold], rows: Directions) -> tuple[Radius, ...]:
    """Return the exact radius of each clear decision; folds that repeat are computed once."""
    known = {fold: Radius(min(_ratios(fold, rows).values(), default=None)) for fold in dict.fromkeys(folds)}
    return tuple(known[fold] for fold in folds)


def enclosed_radius(
    found: Enclosed, rows: Directions
) -> tuple[Fraction, Fraction, tuple[Fraction, ...]] | None:
    """Return bounds on the radius of a known decision, and what changes it; nothing if nothing does.

    The lead over a competitor is known up to twice the radius of the logits, so each ratio of lead and
    distance lies between two numbers, and the least of all ratios between the least of these.
    """
    reach = 2 * found.radius
    y, known = _leads(found)
    leads = {t: (lead, apart) for t, lead in known.items() if (apart := rows.apart(y, t))}
    if not leads:
        return None
    nearest = min(leads, key=lambda t: (leads[t][0] + reach) / leads[t][1])
    upper = (leads[nearest][0] + reach) / leads[nearest][1]
    lower = min((lead - reach) / apart for lead, apart in leads.values())
    return lower, upper, _push(rows, (y, nearest), upper)


def keeps(found: Enclosed, rows: Directions, epsilon: Fraction) -> Ternary:
    """Say whether every perturbation of size at most `epsilon` keeps an enclosed decision."""
    if isinstance(found.decision, NotKnown):
        return NOT_KNOWN
    reach = 2 * found.radius
    y, leads = _leads(found)
    if all(lead - reach > epsilon * rows.apart(y, t) for t, lead in leads.items()):
        return True
    return NOT_KNOWN if known_violation(found, rows, epsilon) is None else False


def _leads(found: Enclosed) -> tuple[int, dict[int, Fraction]]:
    """Return the candidate that leads, and by how much it does over each other, between midpoints."""
    y, midpoints = found.leader, found.midpoints
    return y, {t: midpoints[y] - other for t, other in enumerate(midpoints) if t != y}


def known_violation(found: Enclosed, rows: Directions, epsilon: Fraction) -> tuple[Fraction, ...] | None:
    """Return a perturbation towards some competitor after which the decision is known to be another."""
    y, midpoints = found.leader, found.midpoints
    for other in range(len(midpoints)):
        eta = _push(rows, (y, other), epsilon)
        moved = [
            midpoint + sum((a * b for a, b in zip(row, eta, strict=True)), Fraction(0))
            for midpoint, row in zip(midpoints, rows.rows, strict=True)
        ]
        if decides(Enclosed(tuple(moved), found.radius), y) is False:
            return eta
    return None


def violation(fold: Fold, rows: Directions, epsilon: Fraction) -> tuple[Fraction, ...]:
    """Return a perturbation of size at most `epsilon` after which the decision is not the clear one it was.

    For a tie it is zero. Otherwise it pushes every coordinate against the margin that falls first, by the
    radius: the competitor then draws level.
    """
    if not fold.is_clear:
        return (Fraction(0),) * len(rows.rows[0])
    ratios = _ratios(fold, rows)
    nearest = min(ratios, key=lambda t: ratios[t])
    return _push(rows, (fold.winner, nearest), min(ratios[nearest], epsilon))


def _push(rows: Directions, places: tuple[int, int], step: Fraction) -> tuple[Fraction, ...]:
    """Return the perturbation of a size that takes most from the first candidate for the second."""
    winner, nearest = (rows.rows[place] for place in places)
    return tuple(
        step if other > own else -step if own > other else Fraction(0)
        for own, other in zip(winner, nearest, strict=True)
    )


def _ratios(fold: Fold, rows: Directions) -> dict[int, Fraction]:
    """Return for each competitor that a perturbation can raise to the winner the least size of one."""
    y, numbers, below = fold.winner, fold.row.numbers, fold.row.denominator
    speeds = {t: rows.apart(y, t) for t in range(len(numbers)) if t != y}
    return {
        t: Fraction((numbers[y] - numbers[t]) * speed.denominator, below * speed.numerator)
        for t, speed in speeds.items()
        if speed
    }
