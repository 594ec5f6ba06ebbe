from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from circuitproof.solvers.table import TermTable
from circuitproof.solvers.terms import ZeroComparison, ZeroRelation, symbols
from term_values import is_true, value_of

numbers = st.fractions(-4, 4, max_denominator=4)
rows = st.lists(numbers, min_size=3, max_size=3)


def unknowns(terms, count):
    """Return some variables and the same as sums."""
    made = [terms.variable("x") for _ in range(count)]
    return made, [terms.of(one) for one in made]


@given(rows, rows, numbers)
def test_a_combination_of_sums_has_the_value_of_the_combination(values, factors, constant):
    """Sums are flattened as they are made; their meaning must not change by that."""
    terms = TermTable()
    names, sums = unknowns(terms, 3)
    inner = terms.combine(zip(sums, factors, strict=True), constant)
    whole = terms.combine(((inner, Fraction(3)), (sums[0], Fraction(-2))))
    assigned = dict(zip(names, values, strict=True))
    expected = 3 * (constant + sum(a * b for a, b in zip(factors, values, strict=True))) - 2 * values[0]
    assert value_of(whole, assigned) == expected


@given(rows, rows)
def test_equal_terms_are_one_object(factors, values):
    """Hash-consing: what is built twice, in whatever order, is built once."""
    terms = TermTable()
    _, sums = unknowns(terms, 3)
    pairs = list(zip(sums, factors, strict=True))
    assert terms.combine(pairs) is terms.combine(reversed(pairs))
    first, second = (terms.above(terms.combine(pairs), terms.number(value)) for value in values[:2])
    assert (first is second) == (values[0] == values[1]) or not any(factors)
    assert terms.all_of((first, second)) is terms.all_of((first, second))


@given(rows, numbers, st.sampled_from(ZeroRelation), st.fractions(0, 1, max_denominator=3))
def test_a_comparison_that_ranges_decide_is_right_all_over_them(factors, constant, relation, size):
    """Whatever is folded away must hold at the corners and the middle of the ranges."""
    terms = TermTable()
    names, sums = unknowns(terms, 3)
    terms.ranges.update(dict.fromkeys(names, (-size, size)))
    value = terms.combine(zip(sums, factors, strict=True), constant)
    formula = terms.compare(value, relation)
    corners = [[a, b, c] for a in (-size, 0, size) for b in (-size, size) for c in (-size, size)]
    found = {relation.holds(value_of(value, dict(zip(names, corner, strict=True)))) for corner in corners}
    if not isinstance(formula, ZeroComparison):
        assert found == {formula is terms.true}


def test_what_is_known_is_folded():
    """A constant needs no solver."""
    terms = TermTable()
    two, three = terms.number(Fraction(2)), terms.number(Fraction(3))
    assert terms.above(three, two) is terms.true
    assert terms.equal(three, two) is terms.false
    assert terms.choose(terms.true, two, three) is two
    assert terms.choose(terms.false, two, three) is three
    _, (x,) = unknowns(terms, 1)
    unsure = terms.above(x, two)
    assert terms.choose(unsure, two, two) is two
    assert terms.negation(terms.negation(unsure)) is unsure
    assert terms.negation(terms.true) is terms.false
    assert terms.all_of((terms.true, unsure, unsure)) is unsure
    assert terms.all_of((terms.false, unsure)) is terms.false
    assert terms.any_of((terms.false, unsure)) is unsure
    assert terms.any_of((terms.true, unsure)) is terms.true
    assert terms.all_of(()) is terms.true
    assert terms.any_of(()) is terms.false
    assert terms.minus(x, x).is_known


def test_a_choice_lies_where_its_branches_lie():
    """The range of a choice covers both branches, and is unknown if one of them is."""
    terms = TermTable()
    (x, y), (one, other) = unknowns(terms, 2)
    terms.ranges[x] = (Fraction(-1), Fraction(2))
    condition = terms.selector("s")
    chosen = terms.choose(condition, one, terms.number(Fraction(5)))
    assert terms.range_of(chosen) == (-1, 5)
    assert terms.range_of(terms.choose(condition, one, other)) is None
    assert set(symbols(terms.equal(chosen, other))) == {condition, x, y}
    assert is_true(terms.equal(chosen, other), {condition: False, x: Fraction(0), y: Fraction(5)})


def test_a_coefficient_may_be_its_own_factor():
    """Products by one are not computed; all others are, whatever object they are."""
    terms = TermTable()
    (name,), (x,) = unknowns(terms, 1)
    half = Fraction(1, 2)
    quarter = terms.combine(((terms.combine(((x, half),)), half),))
    assert value_of(quarter, {name: Fraction(8)}) == 2
    assert terms.combine(((quarter, Fraction(4)),)) is x
