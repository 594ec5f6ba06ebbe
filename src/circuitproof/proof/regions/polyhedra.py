"""Exact questions about regions of perturbations: is one empty, is a form positive in it, how near is it?

A region is a ball cut by bounds, some of them strict. Each question is a linear programme or a few of them,
and each answer that something is not there comes with weights that show it, after Farkas and Motzkin
(`regions.is_positive`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from circuitproof.arithmetic.forms import Bound, Form, Region, Sign
from circuitproof.arithmetic.linear import Constraint, Infeasible, Optimum, Programme, minimise
from circuitproof.proof.regions.regions import FarkasWeights, Void, combined, is_positive

_STEPS = 1 << 20
_SHORT_BITS = 40
"""Radii on the way to the right one are cut to so many bits, so that numbers stay small."""


@dataclass(frozen=True, slots=True)
class Reached:
    """A perturbation of the region at which a form is not positive."""

    point: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Nearest:
    """The infimum of ‖η‖ where a form is at most zero within bounds, shown by weights; none if never."""

    radius: Fraction | None
    weights: FarkasWeights


def sample(region: Region) -> Void | tuple[Fraction, ...]:
    """Return a perturbation of a region, its ball closed, well inside if possible, or why there is none."""
    found = _deepest(region, region.bounds, is_eager=False)
    if found.point is None:
        return Void(found.weights)
    return _deepest(region, region.bounds, is_eager=True).point or found.point


def guess(region: Region) -> tuple[Fraction, ...] | Void | None:
    """Return what `sample` would, from forms rounded to a few digits, or nothing if that does not tell.

    A perturbation found so keeps equalities only nearly; it proves nothing, and need not: branches are read
    off at it, and then known or not. Weights are checked exactly.
    """
    totals = [_total(bound.form, region.radius) for bound in region.bounds]
    rounded = [
        Bound(_rounded(bound.form, region.radius, total), bound.sign)
        for bound, total in zip(region.bounds, totals, strict=True)
    ]
    found = _deepest(Region(Fraction(1)), rounded, is_eager=True)
    if found.point is not None:
        point = tuple(Fraction(round(entry * _STEPS), _STEPS) * region.radius for entry in found.point)
        if all(_nearly_keeps(bound, point, region.radius) for bound in region.bounds):
            return point
    weights = _short([weight / total for weight, total in zip(found.weights, totals, strict=True)])
    if is_positive(nothing(region), region, weights):
        return Void(weights)
    return _contradiction(region, [place for place, weight in enumerate(weights) if weight])


def _contradiction(region: Region, places: Sequence[int]) -> Void | None:
    """Return weights that show some of a region's bounds to be against each other, or nothing.

    Forms that cancel out exactly, as deviations from their mean do, no longer do so once they are rounded:
    which ones they are is still seen.
    """
    if not places:
        return None
    found = _deepest(region, [region.bounds[place] for place in places], is_eager=False)
    if found.point is not None:
        return None
    weights = dict(zip(places, found.weights, strict=True))
    return Void(tuple(weights.get(place, Fraction(0)) for place in range(len(region.bounds))))


def _guess_weights(goal: Form, region: Region) -> FarkasWeights | None:
    """Return weights that show a form positive in a region, found from rounded forms and checked exactly."""
    totals = [_total(form, region.radius) for form in (goal, *(bound.form for bound in region.bounds))]
    rows = [
        Constraint(_numbers(_rounded(bound.downward(), region.radius, total)), bound.is_equality)
        for bound, total in zip(region.bounds, totals[1:], strict=True)
    ]
    aim = _numbers(_rounded(goal, region.radius, totals[0]))
    found = minimise(Programme(aim, tuple(rows), ((-1, 1),) * len(goal.slopes)))
    if isinstance(found, Infeasible) or found.value <= 0:
        return None
    pairs = zip(found.weights, totals[1:], strict=True)
    weights = _short([weight * totals[0] / total for weight, total in pairs])
    return weights if is_positive(goal, region, weights) else None


def _short(weights: Sequence[Fraction]) -> FarkasWeights:
    """Return weights with few digits, none with another sign."""
    largest = max(map(abs, weights), default=Fraction(0))
    if not largest:
        return tuple(weights)
    unit = Fraction(2) ** (largest.numerator.bit_length() - largest.denominator.bit_length() - _SHORT_BITS)
    return tuple(round(weight / unit) * unit for weight in weights)


def _numbers(form: Form) -> tuple[int, ...]:
    return (form.constant, *form.slopes)


def _total(form: Form, radius: Fraction) -> int:
    return sum(map(abs, _scaled(form, radius))) or 1


def _rounded(form: Form, radius: Fraction, total: int) -> Form:
    constant, *slopes = (number * _STEPS // total for number in _scaled(form, radius))
    return Form(constant, tuple(slopes))


def nothing(region: Region) -> Form:
    return Form(0, (0,) * len(region.bounds[0].form.slopes))


def _nearly_keeps(bound: Bound, point: Sequence[Fraction], radius: Fraction) -> bool:
    value = bound.form.at(point)
    if bound.is_equality:
        return abs(value) * 1000 <= bound.form.spread() * radius
    return bound.is_kept_inside(point)


@dataclass(frozen=True, slots=True)
class _Depth:
    """A perturbation that keeps bounds, if there is one, and weights that show that none is deeper."""

    point: tuple[Fraction, ...] | None
    weights: FarkasWeights


def _deepest(region: Region, bounds: Sequence[Bound], *, is_eager: bool) -> _Depth:
    """Return the perturbation that keeps strict bounds by the most, relative to how far they range.

    With `is_eager` it is to keep all inequalities by something, which may be more than is asked.
    """
    scaled = [_scaled(bound.downward(), region.radius) for bound in bounds]
    is_deep = [bound.is_strict or (is_eager and not bound.is_equality) for bound in bounds]
    rows = [
        Constraint((*numbers, (sum(map(abs, numbers)) or 1) if deep else 0), bound.is_equality)
        for bound, numbers, deep in zip(bounds, scaled, is_deep, strict=True)
    ]
    width = len(scaled[0]) - 1
    objective = (0,) * (width + 1) + (-1,)
    found = minimise(Programme(objective, tuple(rows), ((-1, 1),) * (width + 1)))
    if isinstance(found, Infeasible) or (any(is_deep) and found.value >= 0):
        return _Depth(None, found.weights)
    return _Depth(_unscaled(found.point[:width], region.radius), found.weights)


def keep_positive(goal: Form, region: Region) -> FarkasWeights | Void | Reached:
    """Return weights that show a form positive in a region, or why that is empty, or a point against it."""
    if goal.constant > region.radius * goal.spread():
        return (Fraction(0),) * len(region.bounds)
    if (quick := _guess_weights(goal, region)) is not None:
        return quick
    found = _least(goal, region)
    if isinstance(found, Infeasible):
        return Void(found.weights)
    if found.value > 0:
        return found.weights
    if not any(bound.is_strict for bound in region.bounds):
        return Reached(_unscaled(found.point, region.radius))
    return _touching(goal, region)


def _least(goal: Form, region: Region) -> Optimum | Infeasible:
    rows = [
        Constraint(_scaled(bound.downward(), region.radius), bound.is_equality) for bound in region.bounds
    ]
    ends = ((-1, 1),) * len(goal.slopes)
    return minimise(Programme(_scaled(goal, region.radius), tuple(rows), ends))


def _touching(goal: Form, region: Region) -> FarkasWeights | Void | Reached:
    """Decide whether strict bounds leave anything where a form is at most zero."""
    found = _deepest(region, (*region.bounds, Bound(goal, Sign.AT_MOST)), is_eager=False)
    if found.point is not None:
        return Reached(found.point)
    *weights, last = found.weights
    return tuple(weight / last for weight in weights) if last else Void(tuple(weights))


def nearest(goal: Form, region: Region) -> Nearest:
    """Return the least radius of a closed ball where a form is at most zero, bounds taken as not strict.

    Weights that show the form positive in a ball bound the radius from below by their own ratio of constant
    to spread. Going there and asking again ends at the right radius, since there are finitely many such
    weights.
    """
    radius, best, weights = Fraction(0), Fraction(0), (Fraction(0),) * len(region.bounds)
    while True:
        found = _least(goal, Region(radius, region.bounds))
        if isinstance(found, Optimum) and found.value <= 0:
            return Nearest(radius, weights)
        weights = found.weights
        shown = goal if isinstance(found, Optimum) else nothing(region)
        constant, spread = combined(shown, region.bounds, weights)
        if not spread:
            return Nearest(None, weights)
        ratio = constant / spread
        radius = ratio if ratio == best else max(shortened(ratio), radius)
        best = ratio


def shortened(number: Fraction) -> Fraction:
    """Return a short rational just below a positive one."""
    shift = _SHORT_BITS - number.numerator.bit_length() + number.denominator.bit_length()
    factor = Fraction(2) ** shift
    return Fraction(int(number * factor)) / factor


def _scaled(form: Form, radius: Fraction) -> tuple[int, ...]:
    """Return a form in η as one in ξ = η / radius, times the radius's denominator."""
    return (form.constant * radius.denominator, *(slope * radius.numerator for slope in form.slopes))


def _unscaled(point: Sequence[Fraction], radius: Fraction) -> tuple[Fraction, ...]:
    return tuple(entry * radius for entry in point)
