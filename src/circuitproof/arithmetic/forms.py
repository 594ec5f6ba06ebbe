"""Affine forms in a perturbation, and regions of perturbations: a ball cut by the signs of forms."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntFlag
from fractions import Fraction
from math import gcd, lcm

from circuitproof.errors import DeclarationError


class Sign(IntFlag):
    """The signs that a number may have; the named unions are the ways a form can be bounded."""

    LESS = 1
    EQUAL = 2
    MORE = 4
    AT_MOST = LESS | EQUAL
    AT_LEAST = EQUAL | MORE
    ANY = LESS | EQUAL | MORE

    def mirrored(self) -> "Sign":
        """Return the signs of the negated number."""
        return (self & Sign.EQUAL) | (Sign.MORE if self & Sign.LESS else 0) | (self & Sign.MORE) >> 2

    def is_within(self, other: "Sign") -> bool:
        """Say whether every sign here is one there."""
        return not self & ~other


BOUNDS = {"<": Sign.LESS, "<=": Sign.AT_MOST, "=": Sign.EQUAL, ">=": Sign.AT_LEAST, ">": Sign.MORE}
"""How bounds on a form are spelled."""


@dataclass(frozen=True, slots=True)
class Form:
    """The number constant + Σ slopes[i] · η_i in integers: only its sign matters, so nothing is below."""

    constant: int
    slopes: tuple[int, ...]

    def at(self, point: Sequence[Fraction]) -> Fraction:
        common = lcm(*(entry.denominator for entry in point))
        whole = (entry.numerator * (common // entry.denominator) for entry in point)
        moved = sum(slope * entry for slope, entry in zip(self.slopes, whole, strict=True))
        return Fraction(self.constant * common + moved, common)

    def spread(self) -> int:
        """Return how far the form moves from its constant in a ball of radius one."""
        return sum(map(abs, self.slopes))

    def negated(self) -> "Form":
        return Form(-self.constant, tuple(-slope for slope in self.slopes))


def make_form(numbers: Sequence[int]) -> Form:
    """Return the form of a constant and slopes, divided by their greatest common divisor.

    >>> make_form((4, 2, -6))
    Form(constant=2, slopes=(1, -3))
    """
    entries = tuple(map(int, numbers))
    common = gcd(*entries) or 1
    return Form(entries[0] // common, tuple(entry // common for entry in entries[1:]))


@dataclass(frozen=True, slots=True)
class Bound:
    """A form and the signs it may have."""

    form: Form
    sign: Sign

    def __post_init__(self) -> None:
        if self.sign not in BOUNDS.values():
            raise DeclarationError(f"a bound wants one of {', '.join(BOUNDS)}, got signs {self.sign!r}")

    @property
    def is_strict(self) -> bool:
        return not self.sign & Sign.EQUAL

    @property
    def is_equality(self) -> bool:
        return self.sign is Sign.EQUAL

    def is_kept_inside(self, point: Sequence[Fraction]) -> bool:
        """Say whether a perturbation keeps the bound, and if it is not an equality, with room to spare."""
        sign = sign_of(self.form.at(point))
        return sign.is_within(self.sign) and (self.is_equality or sign is not Sign.EQUAL)

    def downward(self) -> Form:
        """Return the form, negated if need be, that the bound says is at most zero, below it, or zero."""
        return self.form.negated() if self.sign & Sign.MORE else self.form


@dataclass(frozen=True, slots=True)
class Region:
    """The perturbations in a ball that keep some bounds. The ball is closed unless it `is_open`."""

    radius: Fraction
    bounds: tuple[Bound, ...] = ()
    is_open: bool = False
    _known: dict[Form, Sign] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        known: dict[Form, Sign] = {}
        for bound in self.bounds:
            form, is_turned = _upright(bound.form)
            sign = bound.sign.mirrored() if is_turned else bound.sign
            known[form] = known.get(form, Sign.ANY) & sign
        object.__setattr__(self, "_known", known)

    def signs(self, form: Form) -> Sign:
        """Return the signs that the ball leaves to a form, less those that a bound on just it excludes.

        Each sign that the form takes in the region is among them; some may be among them that it does not
        take.
        """
        upright, is_turned = _upright(form)
        known = self._known.get(upright, Sign.ANY)
        return self.signs_in_ball(form) & (known.mirrored() if is_turned else known)

    def signs_in_ball(self, form: Form) -> Sign:
        """Return the signs that a form takes in the ball, in closed form."""
        middle, spread = form.constant * self.radius.denominator, form.spread() * self.radius.numerator
        if not spread:
            return sign_of(middle)
        least, most = middle - spread, middle + spread
        signs = (Sign.LESS if least < 0 else Sign(0)) | (Sign.MORE if most > 0 else Sign(0))
        has_zero = least < 0 < most if self.is_open else least <= 0 <= most
        return signs | Sign.EQUAL if has_zero else signs

    def holds_inside(self, point: Sequence[Fraction]) -> bool:
        """Say whether a perturbation is in the region and on no bound that is not an equality."""
        size = max(map(abs, point), default=Fraction(0))
        is_inside = size < self.radius if self.is_open else size <= self.radius
        return is_inside and all(bound.is_kept_inside(point) for bound in self.bounds)


def sign_of(number: Fraction | int) -> Sign:
    return Sign.MORE if number > 0 else Sign.LESS if number < 0 else Sign.EQUAL


def _upright(form: Form) -> tuple[Form, bool]:
    """Return the form or its negation, whichever has a positive first slope, in lowest terms; and which."""
    is_turned = next((slope < 0 for slope in form.slopes if slope), False)
    chosen = form.negated() if is_turned else form
    return make_form((chosen.constant, *chosen.slopes)), is_turned
