"""Solving definitions by hand: what a ledger says about its variables, without a solver."""

from fractions import Fraction

from circuitproof.solvers.assertions import AssertionLog
from circuitproof.solvers.table import TermTable
from circuitproof.solvers.terms import Sum, Variable, ZeroComparison, ZeroRelation, symbols
from term_values import is_true, value_of


def solved(ledger: AssertionLog, known: dict | None = None) -> dict:
    """Return the value of every variable, given those that nothing defines.

    Each definition is `variable = value` in terms of what came before; everything asserted must then hold.
    """
    values = dict(known or {})
    assertions = [assertion for group in ledger.groups for assertion in group.assertions]
    for assertion in assertions:
        new = [one for one in dict.fromkeys(symbols(assertion.formula)) if one not in values]
        if assertion.is_condition or not new:
            continue
        (unknown,) = new
        assert isinstance(unknown, Variable)
        assert isinstance(assertion.formula, ZeroComparison)
        assert assertion.formula.relation is ZeroRelation.EQUAL
        rest = value_of(assertion.formula.value, {**values, unknown: Fraction(0)})
        factor = dict(assertion.formula.value.parts)[unknown]
        values[unknown] = -rest / factor
    for assertion in assertions:
        assert assertion.is_condition or is_true(assertion.formula, values)
    return values


def conditions_hold(ledger: AssertionLog, values: dict) -> bool:
    """Say whether every traced condition is true under values."""
    return all(
        is_true(assertion.formula, values)
        for group in ledger.groups
        for assertion in group.assertions
        if assertion.is_condition
    )


def unknown_row(terms: TermTable, count: int) -> tuple[list[Variable], list[Sum]]:
    """Return variables and the same as sums."""
    made = [terms.variable("x") for _ in range(count)]
    return made, [terms.of(one) for one in made]
