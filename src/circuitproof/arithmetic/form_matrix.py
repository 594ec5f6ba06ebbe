"""Rows of forms on a region: which signs they have at a point, and whether these hold everywhere in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np

from circuitproof.arithmetic.forms import Form, Region, Sign, make_form
from circuitproof.arithmetic.grid import Grid, Integers
from circuitproof.arithmetic.projection import project

UP = (Sign.AT_MOST, Sign.MORE)
"""How a region is split unless an operator wants it otherwise. Where both branches agree at zero, the upper
part could be closed too; open, it is empty where only zero is left of it, and the search ends there."""


@dataclass(frozen=True, slots=True, eq=False)
class FormMatrix:
    """A row of forms over one positive denominator: column j holds the constant of form j, then slopes."""

    numbers: Integers
    denominator: int

    def grid(self) -> Grid:
        return Grid(self.numbers, 0, (self.denominator,) * len(self.numbers))

    def over(self, factor: int) -> "FormMatrix":
        """Return the same forms with numbers and denominator multiplied by `factor`."""
        return FormMatrix(self.numbers * factor, self.denominator * factor)


@dataclass(frozen=True, slots=True)
class SignCondition:
    """A form of an operator whose sign must be known, and the parts to split a region into if it is not."""

    operator: str
    place: int
    """The column that the form is about, or -1 where it is about the whole row."""
    form: Form
    known: Sign
    parts: tuple[Sign, ...]

    @property
    def open_parts(self) -> tuple[Sign, ...]:
        """Return the parts, as far as what is known leaves them open; each is less than what is known."""
        parts = tuple(dict.fromkeys(part & self.known for part in self.parts if part & self.known))
        if self.known not in parts:
            return parts
        return tuple(sign for sign in (Sign.LESS, Sign.EQUAL, Sign.MORE) if sign & self.known)


class OpenSignError(Exception):
    """A branch is not known in the whole region: split the region on the condition's form."""

    def __init__(self, condition: SignCondition) -> None:
        super().__init__(f"the sign of a form of the {condition.operator} is open")
        self.condition = condition


class MisplacedError(Exception):
    """The sample point is not in its region, as can be seen: take another."""


@dataclass(frozen=True, slots=True)
class SampledRegion:
    """What an operator is applied to: a region and a point of it, and where to list open conditions."""

    region: Region
    point: tuple[Fraction, ...]
    operator: str
    traced: list[SignCondition] | None

    def values(self, matrix: FormMatrix) -> tuple[list[int], int]:
        """Return the forms at the point, as integers over a factor of the matrix's denominator."""
        common = lcm(*(entry.denominator for entry in self.point))
        moves = [entry.numerator * (common // entry.denominator) for entry in self.point]
        return list(matrix.numbers[0] * common + np.array(moves, dtype=object) @ matrix.numbers[1:]), common

    def signs_at(self, matrix: FormMatrix) -> Integers:
        """Return -1, 0 or 1 for each form: its sign in the region where it has one, else that at the point.

        The point may lie a little outside a region that is cut by an equality, so what is known goes first.
        """
        values = np.array(self.values(matrix)[0], dtype=object)
        signs = (values > 0).astype(int) - (values < 0).astype(int)
        for place, known in enumerate(self.signs(matrix.numbers)):
            if known in _SINGLE:
                signs[place] = _SINGLE[known]
        return signs

    def signs(self, numbers: Integers) -> list[int]:
        """Return the signs that the region leaves to each column of a matrix, as values of `Sign`."""
        radius = self.region.radius
        middles = numbers[0] * radius.denominator
        spreads = np.abs(numbers[1:]).sum(axis=0) * radius.numerator
        low, high = middles - spreads, middles + spreads
        is_open = (spreads > 0) if self.region.is_open else np.zeros(len(low), dtype=bool)
        has_zero = (low <= 0) & (high >= 0) & ~(is_open & ((low == 0) | (high == 0)))
        found = (
            (low < 0) * Sign.LESS.value + has_zero * Sign.EQUAL.value + (high > 0) * Sign.MORE.value
        ).tolist()
        if not self.region.bounds:
            return found
        return [
            sign if sign in _SINGLE else int(self.region.signs(make_form(numbers[:, place].tolist())))
            for place, sign in enumerate(found)
        ]


_SINGLE = {Sign.LESS.value: -1, Sign.EQUAL.value: 0, Sign.MORE.value: 1}


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Forms of an operator, the signs that its branch wants of them, and how to split where they differ."""

    numbers: Integers
    wanted: Sequence[Sign]
    parts: tuple[Sign, ...] = UP
    is_whole: bool = False
    """The forms are about the whole row, not a column each."""


def settle(sampled: SampledRegion, asked: Sequence[Columns]) -> None:
    """Demand that all forms have the signs wanted of them in the whole region.

    Otherwise stop with the form that is least sure of its sign, or list all that are not sure of it.
    """
    unsure: list[tuple[float, SignCondition]] = []
    for columns in asked:
        known_signs = sampled.signs(columns.numbers)
        for place, (known, wanted) in enumerate(zip(known_signs, columns.wanted, strict=True)):
            if known & ~wanted.value:
                form = make_form(columns.numbers[:, place].tolist())
                where = -1 if columns.is_whole else place
                condition = SignCondition(sampled.operator, where, form, Sign(known), columns.parts)
                unsure.append((_balance(form, sampled.region.radius), condition))
    if not unsure:
        return
    if sampled.traced is not None:
        sampled.traced.extend(condition for _, condition in unsure)
        return
    condition = min(unsure, key=lambda entry: entry[0])[1]
    if len(condition.open_parts) < 2:  # noqa: PLR2004  # both sides of a cut
        raise MisplacedError("the branch at the sample point is nowhere in the region: the point is outside")
    raise OpenSignError(condition)


def _balance(form: Form, radius: Fraction) -> float:
    """Return how far zero is from the middle of a form's range, from 0 to 1."""
    return float(abs(Fraction(form.constant, form.spread() or 1)) / radius)


def projected(sampled: SampledRegion, matrix: FormMatrix, mass: Fraction, cut: Sign | None) -> FormMatrix:
    """Return the non-negative numbers of sum `mass` nearest to the forms.

    Given the support S, they are c_i − τ with τ = (Σ_S c − mass)/|S|, and S is right where c_i ≥ τ for its
    members and c_i ≤ τ for the others. With `cut` also τ must have that sign.
    """
    fine = matrix.over(mass.denominator)
    values, common = sampled.values(fine)
    units = mass.numerator * (fine.denominator // mass.denominator)
    support = list(project(values, units * common).support)
    size = len(support)
    threshold: Any = fine.numbers[:, support].sum(axis=1)
    threshold[0] -= units
    above = fine.numbers * size - threshold[:, None]
    wanted = [Sign.AT_LEAST if place in support else Sign.AT_MOST for place in range(len(values))]
    asked = [Columns(above, wanted)]
    if cut is not None:
        asked.append(Columns(threshold[:, None], [cut], is_whole=True))
    settle(sampled, asked)
    kept = np.zeros(above.shape, dtype=object)
    kept[:, support] = above[:, support]
    return FormMatrix(kept, fine.denominator * size)


def reduced(matrix: FormMatrix) -> FormMatrix:
    """Return the same forms in lowest terms."""
    common = gcd(matrix.denominator, *matrix.numbers.ravel().tolist())
    return FormMatrix(matrix.numbers // common, matrix.denominator // common)
