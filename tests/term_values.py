"""The meaning of solver-neutral terms, said plainly: what they come to under values for their variables."""

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeAlias, assert_never

from circuitproof.solvers.terms import (
    Conditional,
    Conjunction,
    Disjunction,
    Negation,
    Selector,
    SmtFormula,
    Sum,
    Summand,
    Symbol,
    Truth,
    Variable,
    VariableProduct,
    ZeroComparison,
)

Assignment: TypeAlias = Mapping[Symbol, Fraction | bool]


def value_of(term: Sum, values: Assignment) -> Fraction:
    """Return what a sum comes to."""
    return term.constant + sum(
        (factor * _atom_value(atom, values) for atom, factor in term.parts), Fraction(0)
    )


def is_true(formula: SmtFormula, values: Assignment) -> bool:
    """Say whether a formula holds."""
    match formula:
        case Truth(value):
            return value
        case Selector():
            return bool(values[formula])
        case ZeroComparison(value, relation):
            return relation.holds(value_of(value, values))
        case Negation(inner):
            return not is_true(inner, values)
        case Conjunction(parts):
            return all(is_true(part, values) for part in parts)
        case Disjunction(parts):
            return any(is_true(part, values) for part in parts)
        case _:
            assert_never(formula)


def _atom_value(atom: Summand, values: Assignment) -> Fraction:
    match atom:
        case Variable():
            return Fraction(values[atom])
        case VariableProduct(left, right):
            return Fraction(values[left]) * Fraction(values[right])
        case Conditional(condition, then, otherwise):
            return value_of(then if is_true(condition, values) else otherwise, values)
        case _:
            assert_never(atom)
