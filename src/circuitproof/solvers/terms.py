"""Solver-neutral terms: sums over variables, products and choices, and formulas that compare sums with zero.

A number is always a `Sum`; without parts it is a constant. A product has two variables for factors, so terms
never nest deeply and a text of them is as long as they are. A `Terms` table makes terms, each distinct one
once: equality is identity.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TypeAlias, assert_never

Interval: TypeAlias = tuple[Fraction, Fraction]


class ZeroRelation(StrEnum):
    """How a sum is compared with zero."""

    AT_LEAST = ">="
    ABOVE = ">"
    EQUAL = "="

    def holds(self, number: Fraction) -> bool:
        match self:
            case ZeroRelation.AT_LEAST:
                return number >= 0
            case ZeroRelation.ABOVE:
                return number > 0
            case ZeroRelation.EQUAL:
                return number == 0
            case _:
                assert_never(self)

    def decided(self, span: Interval) -> bool | None:
        """Say whether every number of a range stands in this relation to zero, or none, or neither."""
        low, high = span
        if self is not ZeroRelation.EQUAL and self.holds(low):
            return True
        is_apart = low > 0 or high < 0 if self is ZeroRelation.EQUAL else not self.holds(high)
        return False if is_apart else None


@dataclass(frozen=True, slots=True, eq=False)
class Variable:
    """An unknown real number."""

    name: str
    number: int


@dataclass(frozen=True, slots=True, eq=False)
class VariableProduct:
    """The product of two variables."""

    left: Variable
    right: Variable
    number: int


@dataclass(frozen=True, slots=True, eq=False)
class Conditional:
    """One number where a condition holds, another where it does not."""

    condition: "SmtFormula"
    then: "Sum"
    otherwise: "Sum"
    number: int


Summand: TypeAlias = Variable | VariableProduct | Conditional


@dataclass(frozen=True, slots=True, eq=False)
class Sum:
    """A constant plus atoms with coefficients other than zero, in the order in which the atoms were made."""

    constant: Fraction
    parts: tuple[tuple[Summand, Fraction], ...]

    @property
    def is_known(self) -> bool:
        return not self.parts


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """True or false."""

    value: bool


@dataclass(frozen=True, slots=True, eq=False)
class Selector:
    """An unknown truth value."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class ZeroComparison:
    """A sum compared with zero."""

    value: Sum
    relation: ZeroRelation


@dataclass(frozen=True, slots=True, eq=False)
class Negation:
    """What holds where a formula does not."""

    formula: "SmtFormula"


@dataclass(frozen=True, slots=True, eq=False)
class Conjunction:
    """Two or more formulas that all hold."""

    parts: "tuple[SmtFormula, ...]"


@dataclass(frozen=True, slots=True, eq=False)
class Disjunction:
    """Two or more formulas of which some holds."""

    parts: "tuple[SmtFormula, ...]"


SmtFormula: TypeAlias = Truth | Selector | ZeroComparison | Negation | Conjunction | Disjunction
Symbol: TypeAlias = Variable | Selector
SmtNode: TypeAlias = Summand | Sum | SmtFormula


def parts_of(formula: SmtFormula) -> Iterator[Summand | Selector]:
    """Walk the variables, products and choices of a formula, repeats and what they are made of included."""
    match formula:
        case Truth():
            return
        case Selector():
            yield formula
        case ZeroComparison(value):
            yield from _parts_of_sum(value)
        case Negation(inner):
            yield from parts_of(inner)
        case Conjunction(parts) | Disjunction(parts):
            for part in parts:
                yield from parts_of(part)
        case _:
            assert_never(formula)


def symbols(formula: SmtFormula) -> Iterator[Symbol]:
    """Walk the variables of a formula, repeats included."""
    return (part for part in parts_of(formula) if isinstance(part, Variable | Selector))


def _parts_of_sum(value: Sum) -> Iterator[Summand | Selector]:
    for atom, _ in value.parts:
        yield atom
        match atom:
            case Variable():
                pass
            case VariableProduct(left, right):
                yield from (left, right)
            case Conditional(condition, then, otherwise):
                yield from parts_of(condition)
                yield from _parts_of_sum(then)
                yield from _parts_of_sum(otherwise)
            case _:
                assert_never(atom)
