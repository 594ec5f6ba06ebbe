"""Attacks: perturbations that change a decision, looked for along the corners that its margins fear most."""

from collections.abc import Iterator
from fractions import Fraction

from circuitproof.arithmetic.form_matrix import SignCondition
from circuitproof.arithmetic.forms import Form, Region
from circuitproof.proof.effort import UNHURRIED, Pace
from circuitproof.proof.regions.disturbed import Point, Question

_ROUNDS = 24
"""How often an attack corrects its aim."""
FAR = 1 << 12
"""How many times the first aim an attack goes at most."""
_AWAY = 4
"""How many times what is perturbed a coordinate is pushed."""
_PUSHED = 64
"""How many coordinates are pushed."""
_HALVINGS = 11
"""How often the way to a perturbation that was found is halved."""


def attack(question: Question, pace: Pace = UNHURRIED) -> Point | None:
    """Return a perturbation that changes the decision, small if possible; nothing if none is found.

    Each competitor is aimed at along the corner that its margin fears most, by the branches at the last aim.
    """
    competitors = range(len(question.disturbed.candidates) - 1)
    found = [eta for place in competitors for eta in _aims(question, place, pace)]
    return min(found, key=size_of, default=None)


def push(question: Question, pace: Pace = UNHURRIED) -> Point | None:
    """Return a perturbation that changes the decision by moving one coordinate far; nothing if none does.

    Where a norm is saturated, margins have no slope to aim along, but what outweighs all else is seen.
    """
    away = _short(question.disturbed.scale() * _AWAY or Fraction(1))
    signs = [(place, sign) for place in range(min(question.disturbed.variables, _PUSHED)) for sign in (-1, 1)]
    found: list[Point] = []
    for place, sign in pace.steps("pushes", signs):
        far = tuple(sign * away if other == place else entry for other, entry in enumerate(question.zero()))
        if not question.is_kept(far):
            found.extend(_nearer(question, far))
    return min(found, key=size_of, default=None)


def _aims(question: Question, competitor: int, pace: Pace) -> Iterator[Point]:
    """Walk corners of growing balls until one changes the decision, then halve the way back a few times."""
    point, limit = question.zero(), Fraction(0)
    for _ in range(_ROUNDS):
        if pace.is_over:
            return
        margin = local_margins(question, point)[0][competitor]
        if not margin.spread():
            return
        size = max(Fraction(margin.constant, margin.spread()), size_of(point) * Fraction(9, 8))
        limit = limit or size * FAR
        point = _corner(margin, _short(size))
        if size > limit:
            return
        if not question.is_kept(point):
            yield from _nearer(question, point)
            return


def _nearer(question: Question, point: Point) -> Iterator[Point]:
    low, high = Fraction(0), Fraction(1)
    yield point
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        shorter = tuple(entry * middle for entry in point)
        if question.is_kept(shorter):
            low = middle
        else:
            high = middle
            yield shorter


def _corner(margin: Form, size: Fraction) -> Point:
    """Return the perturbation of some size that lowers a margin the most."""
    return tuple(-size if slope > 0 else size if slope < 0 else Fraction(0) for slope in margin.slopes)


def local_margins(
    question: Question, point: Point, radius: Fraction = Fraction(1)
) -> tuple[tuple[Form, ...], list[SignCondition]]:
    """Return margins by the branches at a point, and the conditions of these that do not hold in a ball."""
    conditions: list[SignCondition] = []
    region = Region(max(radius, size_of(point)))
    return question.margins(region, point, conditions), conditions


def size_of(point: Point) -> Fraction:
    """Return the largest absolute value of a perturbation."""
    return max(map(abs, point), default=Fraction(0))


def _short(number: Fraction) -> Fraction:
    """Return a short rational just above a positive one."""
    scale = Fraction(2) ** (24 - number.numerator.bit_length() + number.denominator.bit_length())
    return Fraction(int(number * scale) + 1) / scale
