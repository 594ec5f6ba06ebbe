from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.solvers.assertions import Assertion, AssertionLog, AssertionSource
from circuitproof.solvers.cvc5 import Cvc5
from circuitproof.solvers.queries import Query, QueryCase, QueryMeaning
from circuitproof.solvers.results import Satisfiable, Unsatisfiable
from circuitproof.solvers.smtlib import formula_text, number_text, query_text, script_text, sum_text
from circuitproof.solvers.table import TermTable
from circuitproof.solvers.terms import ZeroRelation
from circuitproof.solvers.z3 import Z3
from term_values import is_true

SOLVERS = (Z3(), Cvc5())
numbers = st.fractions(-3, 3, max_denominator=3)


def test_terms_are_written_plainly():
    """One spelling for each kind of term."""
    terms = TermTable()
    x, y = terms.variable("x"), terms.variable("y")
    assert number_text(Fraction(-22, 5)) == "(- (/ 22.0 5.0))"
    assert sum_text(terms.number(Fraction(0))) == "0.0"
    assert sum_text(terms.combine(((terms.of(x), Fraction(2)), (terms.of(y), Fraction(1))), Fraction(1))) == (
        "(+ (* 2.0 x_1) y_2 1.0)"
    )
    is_above = terms.compare(terms.of(x), ZeroRelation.ABOVE)
    chosen = terms.choose(is_above, terms.of(terms.product(x, y)), terms.of(y))
    assert sum_text(chosen) == "(ite (> x_1 0.0) (* x_1 y_2) y_2)"
    both = terms.all_of((is_above, terms.negation(terms.selector("s"))))
    assert formula_text(both) == "(and (> x_1 0.0) (not s))"
    assert formula_text(terms.any_of((both, terms.selector("t")))) == f"(or {formula_text(both)} t)"
    assert formula_text(terms.true) == "true"


@given(st.lists(numbers, min_size=3, max_size=3), st.lists(numbers, min_size=3, max_size=3))
def test_solvers_read_a_formula_as_we_mean_it(values, factors):
    """With every variable fixed by an equation, both solvers evaluate the text as `is_true` does."""
    terms = TermTable()
    names = [terms.variable("x") for _ in values]
    sums = [terms.of(one) for one in names]
    linear = terms.combine(zip(sums, factors, strict=True), Fraction(1, 2))
    bent = terms.choose(terms.above(sums[0], sums[1]), linear, terms.of(terms.product(names[1], names[2])))
    formula = terms.any_of(
        (terms.compare(bent, ZeroRelation.AT_LEAST), terms.negation(terms.above(sums[2], linear)))
    )
    fixed = [terms.equal(one, terms.number(value)) for one, value in zip(sums, values, strict=True)]
    text = script_text(["a test"], [Assertion(one, AssertionSource.MLP) for one in (*fixed, formula)])
    expected = is_true(formula, dict(zip(names, values, strict=True)))
    for solver in SOLVERS:
        assert isinstance(solver.solve(text, [], 20), Satisfiable if expected else Unsatisfiable)


def test_a_query_says_in_words_what_its_answers_mean():
    """Whoever opens the file knows what sat and unsat say about the claim."""
    log = AssertionLog()
    terms = log.terms
    made = log.define(terms.number(Fraction(3)), AssertionSource.MLP)
    x = log.group(AssertionSource.MLP).output(made)
    meaning = QueryMeaning("prompt 4: is it wrong?", "prompt 4 is wrong", "it is right")
    query = Query(meaning, log, (QueryCase((4,), terms.above(terms.number(Fraction(0)), x), bool),))
    assert query_text(query).splitlines() == [
        "; prompt 4: is it wrong?",
        "; sat: prompt 4 is wrong",
        "; unsat: it is right",
        "; choose_0 is true where prompt 4 is a solution",
        "(set-logic QF_LRA)",
        "(declare-const mlp_1 Real)",
        "(declare-const choose_0 Bool)",
        "(assert (= 3.0 mlp_1))",
        "(assert (and choose_0 (or (not choose_0) (> 0.0 mlp_1))))",
        "(check-sat)",
    ]
    for solver in SOLVERS:
        assert solver.solve(query_text(query), [], 20) == Unsatisfiable()


@pytest.mark.parametrize("is_bilinear", [False, True])
def test_the_logic_is_nonlinear_only_with_products(is_bilinear):
    """QF_LRA where it can be."""
    terms = TermTable()
    x, y = terms.variable("x"), terms.variable("y")
    value = terms.of(terms.product(x, y)) if is_bilinear else terms.of(x)
    text = script_text([], [Assertion(terms.compare(value, ZeroRelation.ABOVE), AssertionSource.MLP)])
    assert f"(set-logic {'QF_NRA' if is_bilinear else 'QF_LRA'})" in text
