from fractions import Fraction
from itertools import product

import pytest

from circuitproof.proof.fold import Fold
from circuitproof.solvers.assertions import AssertionLog, AssertionSource
from circuitproof.solvers.queries import (
    Query,
    QueryCase,
    QueryMeaning,
    alike,
    changed,
    clear,
    maximal,
    unlike,
)
from circuitproof.solvers.table import TermTable
from term_values import is_true

ROWS = [tuple(map(Fraction, row)) for row in product((0, 1, 2), repeat=3)]


def sums(terms, row):
    """Return numbers as terms."""
    return tuple(map(terms.number, row))


@pytest.mark.parametrize("row", ROWS)
def test_decisions_are_sets_of_maximal_candidates(row):
    """Ties included: the formulas against the definition."""
    terms, found = TermTable(), Fold(row)
    for place in range(3):
        assert is_true(clear(terms, sums(terms, row), place), {}) == (found.decision == {place})
        assert is_true(maximal(terms, sums(terms, row), place), {}) == (place in found.decision)


def test_pairs_of_decisions_are_compared_as_declared():
    """Alike, changed and unlike on every pair of small rows."""
    terms = TermTable()
    for one, other in product(ROWS[::2], repeat=2):
        first, second = Fold(one), Fold(other)
        a, b = sums(terms, one), sums(terms, other)
        is_same = first.decision == second.decision
        assert is_true(alike(terms, a, b), {}) == (is_same and first.is_clear)
        assert is_true(changed(terms, a, b), {}) == (not is_same and first.is_clear)
        assert is_true(unlike(terms, a, b), {}) == (not is_same)


def test_a_query_is_true_only_of_a_chosen_case():
    """Some case must be chosen, and what is chosen must be true."""
    log = AssertionLog()
    terms = log.terms
    cases = tuple(
        QueryCase((place,), terms.selector(f"fact_{place}"), bool, frozenset({place, 9})) for place in (4, 5)
    )
    query = Query(QueryMeaning("t", "s", "u"), log, cases)
    one, other = query.selectors
    first, second = (case.formula for case in cases)
    for chosen in product((False, True), repeat=2):
        for facts in product((False, True), repeat=2):
            values = {one: chosen[0], other: chosen[1], first: facts[0], second: facts[1]}
            expected = any(chosen) and all(fact or not c for fact, c in zip(facts, chosen, strict=True))
            assert is_true(query.goal.formula, values) == expected
    assert query.goal.source is AssertionSource.DECISION
    assert query.narrowed((5,)).cases == cases[1:]
    assert query.narrowed((7,)) is query


def test_along_a_trace_every_condition_counts():
    """A traced number that became a constant is only constant where the conditions hold: they must stay."""
    log = AssertionLog()
    terms = log.terms
    group = log.group(AssertionSource.NORM)
    x = terms.of(terms.variable("x"))
    group.condition(terms.above(x, terms.number(Fraction(0))))
    query = Query(QueryMeaning("t", "s", "u"), log, (QueryCase((0,), terms.false, bool),))
    assert query.has_conditions
    assert [one.is_condition for one in query.premises] == [True]
