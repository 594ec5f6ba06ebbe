"""Regions of perturbations η: a ball, cut by bounds on affine forms; what is known of a sign in one.

A form is a tuple of integers, the constant and a slope per coordinate of η; only its sign matters, so it is
kept in lowest terms. Nothing is searched for here: a sign is known from the ball, by a closed formula, or
from a bound on that very form, or it is not known.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd

from circuitproof_check.exact import common_multiple, longest
from circuitproof_check.work import NUMBER, STEP, key, paid, spend, spend_numbers, weight

Form = tuple[int, ...]
SignSet = frozenset[int]
"""Some of -1, 0 and 1."""

BOUNDS: dict[str, SignSet] = {
    "<": frozenset({-1}),
    "<=": frozenset({-1, 0}),
    "=": frozenset({0}),
    ">=": frozenset({0, 1}),
    ">": frozenset({1}),
}
_ANY: SignSet = frozenset({-1, 0, 1})


def form_of(entries: Sequence[Fraction]) -> Form:
    """Return the form of rationals, multiplied by what makes them integers."""
    common = common_multiple([entry.denominator for entry in paid(entries)])
    spend_numbers(len(entries), common.bit_length())
    return lowest([entry.numerator * (common // entry.denominator) for entry in entries])


def lowest(numbers: Sequence[int]) -> Form:
    """Return a form divided by the greatest common divisor of its numbers."""
    spend(len(numbers) * weight(longest(numbers)))
    common = gcd(*numbers) or 1
    return tuple(number // common for number in numbers)


def negated(form: Form) -> Form:
    spend(STEP * len(form))
    return tuple(-number for number in form)


@dataclass(frozen=True, slots=True)
class Region:
    """The η with ‖η‖∞ at most `radius` that keep the bounds."""

    radius: Fraction
    bounds: tuple[tuple[Form, SignSet], ...] = ()
    known: dict[bytes, SignSet] = field(default_factory=dict[bytes, SignSet])
    """What the bounds say, by the key of a form; of a form and its negation, that of the larger tuple."""

    def within(self, form: Form, signs: SignSet) -> "Region":
        """Return the part where a form has one of these signs."""
        upright = _upright(form)
        name, turned = key(upright), signs if upright == form else _mirrored(signs)
        spend(2 * NUMBER * (1 + len(self.known)))
        known = {**self.known, name: self.known.get(name, _ANY) & turned}
        return Region(self.radius, (*self.bounds, (form, signs)), known)

    def signs(self, form: Sequence[int]) -> SignSet:
        """Return signs that include every one that the form has in the region."""
        in_ball = self._in_ball(form)
        if len(in_ball) == 1 or not self.known:
            return in_ball
        least = lowest(form)
        upright = _upright(least)
        known = self.known.get(key(upright), _ANY)
        return in_ball & (known if upright == least else _mirrored(known))

    def _in_ball(self, form: Sequence[int]) -> SignSet:
        spend(len(form) * (STEP + longest(form) // 100))
        middle, spread = form[0] * self.radius.denominator, sum(map(abs, form[1:])) * self.radius.numerator
        low, high = middle - spread, middle + spread
        return frozenset([-1] * (low < 0) + [0] * (low <= 0 <= high) + [1] * (high > 0))

    def shows_positive(self, goal: Form, weights: Sequence[Fraction]) -> bool:
        """Say whether weights on the bounds, one each, show that a form is positive in the region.

        A bound says of a form that it is at most zero, below it, or zero; adding it with its weight can only
        lower the goal. The sum has its minimum over the ball in closed form. A minimum of zero is not reached
        where a strict bound has weight.
        """
        spend(STEP * (len(weights) + len(self.bounds)))
        bits = sum(share.numerator.bit_length() + share.denominator.bit_length() for share in weights)
        bits += max((longest(form) for form, _ in self.bounds), default=0)
        spend(len(goal) * (1 + len(weights)) * (NUMBER + weight(longest(goal) + bits)))
        total = [Fraction(number) for number in goal]
        is_strict = False
        for (form, signs), share in zip(self.bounds, weights, strict=True):
            downward = negated(form) if 1 in signs else form
            total = [one + share * other for one, other in zip(total, downward, strict=True)]
            is_strict = is_strict or (share != 0 and len(signs) == 1 and 0 not in signs)
        spread = sum(map(abs, total[1:]), Fraction(0))
        least = total[0] - self.radius * spread
        return least > 0 or (least == 0 and is_strict)

    def may_be_negative(self) -> tuple[bool, ...]:
        """Say for each bound whether it is an equality, whose weight may have any sign."""
        spend(STEP * len(self.bounds))
        return tuple(signs == BOUNDS["="] for _, signs in self.bounds)


def union(signs: Iterable[SignSet]) -> SignSet:
    """Return every sign that is in one of some sets."""
    return frozenset(sign for some in signs for sign in some)


def _upright(form: Form) -> Form:
    return max(form, negated(form))


def _mirrored(signs: SignSet) -> SignSet:
    return frozenset(-sign for sign in signs)
