from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.arithmetic.forms import BOUNDS, Bound, Form, Region, Sign, sign_of
from circuitproof.errors import DeclarationError
from circuitproof.proof.regions.regions import (
    Kept,
    SignSplit,
    Unsearched,
    Void,
    Widening,
    is_positive,
    leaves,
    searched_radius,
    tree_to_json,
)

integers = st.integers(-5, 5)
forms = st.builds(Form, integers, st.tuples(integers, integers))
bounds = st.builds(Bound, forms, st.sampled_from(list(BOUNDS.values())))
weights = st.fractions(-2, 3, max_denominator=2)
shares = st.tuples(*[st.sampled_from([Fraction(k, 4) for k in range(-4, 5)])] * 2)
HALF = Fraction(1, 2)
FORM = Form(1, (2, -3))
LEAF = Kept((HALF, Fraction(0)), ((Fraction(0),), (HALF,)))
SPLIT = SignSplit(FORM, ((Sign.AT_MOST, LEAF), (Sign.MORE, Void((Fraction(1),)))))


@given(forms, st.lists(bounds, max_size=3), st.data())
def test_a_form_that_weights_show_positive_is_positive(goal, chosen, data):
    """The one rule that every proof rests on, against points of the region."""
    region = Region(Fraction(1), tuple(chosen), data.draw(st.booleans()))
    given_weights = tuple(data.draw(weights) for _ in chosen)
    if not is_positive(goal, region, given_weights):
        return
    for share in data.draw(st.lists(shares, max_size=20)):
        inside = max(map(abs, share)) < 1 or not region.is_open
        if inside and all(sign_of(bound.form.at(share)) & bound.sign for bound in chosen):
            assert goal.at(share) > 0


@pytest.mark.parametrize(
    ("goal", "bound", "weight", "is_open", "holds"),
    [
        (Form(1, (1,)), Bound(Form(0, (1,)), Sign.MORE), 0, False, False),
        (Form(1, (1,)), Bound(Form(0, (1,)), Sign.MORE), 0, True, True),
        (Form(0, (1,)), Bound(Form(0, (1,)), Sign.MORE), 1, False, True),
        (Form(0, (1,)), Bound(Form(0, (1,)), Sign.AT_LEAST), 1, False, False),
        (Form(1, (-2,)), Bound(Form(0, (1,)), Sign.EQUAL), 2, False, True),
        (Form(1, (2,)), Bound(Form(0, (1,)), Sign.EQUAL), -2, False, True),
        (Form(1, (2,)), Bound(Form(0, (1,)), Sign.AT_LEAST), -2, False, False),
        (Form(0, (0,)), Bound(Form(3, (1,)), Sign.LESS), 1, False, True),
        (Form(0, (0,)), Bound(Form(1, (1,)), Sign.LESS), 1, False, True),
        (Form(0, (0,)), Bound(Form(1, (1,)), Sign.AT_MOST), 1, False, False),
        (Form(0, (0,)), Bound(Form(1, (1,)), Sign.AT_MOST), 1, True, True),
        (Form(0, (0,)), Bound(Form(3, (1,)), Sign.LESS), 0, True, False),
    ],
)
def test_an_infimum_of_zero_counts_where_it_is_not_attained(goal, bound, weight, is_open, holds):
    """Strict bounds with weight, open balls, equalities of either sign; each beside its refusal."""
    assert is_positive(goal, Region(Fraction(1), (bound,), is_open), (Fraction(weight),)) is holds


def test_a_tree_as_it_stands_in_a_certificate():
    """Rationals are strings; children are named by their bounds."""
    assert tree_to_json(SPLIT) == {
        "sign": ["1", "2", "-3"],
        "children": {
            "<=": {"point": ["1/2", "0"], "weights": [["0"], ["1/2"]]},
            ">": {"void": ["1"]},
        },
    }


def test_what_was_not_searched_is_no_evidence():
    """A tree with such a part cannot be written at all."""
    part = Unsearched(HALF)
    with pytest.raises(DeclarationError, match="proves nothing"):
        tree_to_json(SignSplit(FORM, ((Sign.AT_MOST, LEAF), (Sign.MORE, part))))
    assert searched_radius(SignSplit(FORM, ((Sign.MORE, part),)), Fraction(2)) == HALF
    assert searched_radius(SPLIT, Fraction(2)) == 2


def test_coordinates_that_change_nothing_are_zero_in_a_wider_tree():
    """The tree stays the same statement about more coordinates."""
    wide = Widening((1, 3), 4).tree(SPLIT)
    assert isinstance(wide, SignSplit)
    assert wide.form == Form(1, (0, 2, 0, -3))
    assert [type(leaf) for leaf in leaves(wide)] == [Kept, Void]
    assert next(leaves(wide)) == Kept((0, HALF, 0, 0), LEAF.weights)
    assert Widening((0,), 1).tree(Unsearched(HALF)) == Unsearched(HALF)
