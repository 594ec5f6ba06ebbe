from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.solvers.table import TermTable
from circuitproof.solvers.terms import VariableProduct, ZeroComparison, ZeroRelation, parts_of
from term_values import is_true, value_of

numbers = st.fractions(-4, 4, max_denominator=4)
rows = st.lists(numbers, min_size=3, max_size=3)


def unknowns(terms, count):
    """Return some variables and the same as sums."""
    made = [terms.variable("x") for _ in range(count)]
    return made, [terms.of(one) for one in made]


@given(rows, st.sampled_from(ZeroRelation))
def test_formulas_mean_what_they_say(values, relation):
    """The plain meaning of every kind of formula."""
    terms = TermTable()
    names, sums = unknowns(terms, 3)
    assigned = dict(zip(names, values, strict=True))
    one, other = terms.compare(sums[0], relation), terms.above(sums[1], sums[2])
    first, second = relation.holds(values[0]), values[1] > values[2]
    assert is_true(one, assigned) == first
    assert is_true(terms.all_of((one, other)), assigned) == (first and second)
    assert is_true(terms.any_of((one, other)), assigned) == (first or second)
    assert is_true(terms.negation(one), assigned) != first
    chosen = terms.choose(other, sums[0], sums[1])
    assert value_of(chosen, assigned) == (values[0] if second else values[1])


def test_a_product_is_the_same_in_either_order_and_has_no_range():
    """x·y is y·x; a range of a product is never guessed."""
    terms = TermTable()
    (x, y), _ = unknowns(terms, 2)
    product = terms.product(x, y)
    assert product is terms.product(y, x)
    terms.ranges.update({x: (Fraction(1), Fraction(2)), y: (Fraction(1), Fraction(2))})
    formula = terms.compare(terms.of(product), ZeroRelation.ABOVE)
    assert isinstance(formula, ZeroComparison)
    assert set(parts_of(formula)) == {product, x, y}
    assert isinstance(next(parts_of(formula)), VariableProduct)
    assert value_of(terms.of(product), {x: Fraction(2), y: Fraction(-3)}) == -6


@pytest.mark.parametrize(
    ("span", "decided"),
    [
        ((1, 2), (True, True, False)),
        ((-2, -1), (False, False, False)),
        ((0, 2), (True, None, None)),
        ((-1, 0), (None, False, None)),
    ],
)
def test_relations_are_decided_at_the_ends_of_a_range(span, decided):
    """Zero itself belongs to ≥ and not to >, at either end."""
    ends = (Fraction(span[0]), Fraction(span[1]))
    assert tuple(relation.decided(ends) for relation in ZeroRelation) == decided
