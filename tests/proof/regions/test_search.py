from dataclasses import replace
from fractions import Fraction
from functools import reduce
from operator import or_

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.arithmetic.forms import Region, Sign
from circuitproof.errors import DeclarationError
from circuitproof.proof.regions.regions import Kept, SignSplit, Unsearched, Void, is_positive, leaves
from circuitproof.proof.regions.search import (
    Effort,
    Method,
    Unstable,
    Violation,
    confirmed,
    is_closed,
    search_ball,
)
from perturbed import WIDTH, decides, grid_points, normed, question_of

radii = st.sampled_from([Fraction(1, 10), Fraction(1, 4), Fraction(1), Fraction(3)])


def confirm(question, tree, region):
    """Check a tree independently: splits exhaust, weights hold, branches are known at every leaf."""
    from circuitproof.arithmetic.forms import Bound

    if isinstance(tree, SignSplit):
        assert region.signs(tree.form).is_within(reduce(or_, (sign for sign, _ in tree.children)))
        for sign, child in tree.children:
            part = replace(region, bounds=(*region.bounds, Bound(tree.form, sign)))
            confirm(question, child, part)
        return
    if isinstance(tree, Void):
        zero = question.margins(Region(Fraction(0)), question.zero())[0]
        empty = type(zero)(0, (0,) * WIDTH)
        assert is_positive(empty, region, tree.weights)
        return
    assert isinstance(tree, Kept)
    margins = question.margins(region, tree.point)
    for margin, weights in zip(margins, tree.weights, strict=True):
        assert is_positive(margin, region, weights)


@given(normed(), radii)
def test_the_complete_search_decides_every_ball(drawn, radius):
    """Both lifts: a tree that is confirmed and no grid point contradicts, or a point that shows it."""
    question = question_of(drawn)
    if question is None:
        return
    found = search_ball(question, radius, Effort())
    if isinstance(found, Violation):
        assert max(map(abs, found.eta)) <= radius
        assert decides(drawn, found.eta) != {question.winner}
        return
    assert not isinstance(found, Unstable)
    assert is_closed(found)
    confirm(question, found, Region(radius))
    assert all(decides(drawn, eta) == {question.winner} for eta in grid_points(radius, 3))


@given(normed(), radii)
def test_the_traced_branch_never_says_more_than_the_complete_search(drawn, radius):
    """What it proves or refutes is so; where it is unstable it says what may change."""
    question = question_of(drawn)
    if question is None:
        return
    traced = search_ball(question, radius, Effort(Method.BRANCH))
    complete = search_ball(question, radius, Effort())
    if isinstance(traced, Unstable):
        assert traced.conditions
    else:
        assert isinstance(traced, Violation) == isinstance(complete, Violation)


@given(normed(), st.integers(1, 3))
def test_a_budget_leaves_parts_open_and_says_how_near_they_are(drawn, budget):
    """Below that distance the decision is kept all the same."""
    question = question_of(drawn)
    if question is None:
        return
    found = search_ball(question, Fraction(1), Effort(budget=budget))
    if isinstance(found, Violation | Unstable) or is_closed(found):
        return
    near = min(leaf.distance for leaf in leaves(found) if isinstance(leaf, Unsearched))
    below = near * Fraction(99, 100)
    assert all(decides(drawn, eta) == {question.winner} for eta in grid_points(below, 2))


def test_a_search_without_a_budget_is_refused():
    """Nothing could be closed."""
    with pytest.raises(DeclarationError, match="the budget is 0 parts"):
        Effort(budget=0)


@given(normed())
def test_a_violation_is_shown_only_after_the_exact_forward_pass_has_seen_it(drawn):
    """A mistake of the search would be an error, never a refutation."""
    question = question_of(drawn)
    if question is None:
        return
    with pytest.raises(DeclarationError, match="changes nothing"):
        confirmed(question, question.zero())


def test_signs_are_split_in_three_only_where_zero_is_a_branch_of_its_own():
    """The continuous lift and the inside of the band need two parts, which share no perturbation."""
    from circuitproof.models.operators import BandNorm, Lift

    residual, readout = [Fraction(1), Fraction(0), Fraction(-1)], [[1, 0, 0], [0, 0, 1]]
    parts = {}
    for lift, low in ((Lift.REFERENCE, 3), (Lift.CONTINUOUS, 3), (Lift.REFERENCE, Fraction(1, 2))):
        norm = BandNorm(Fraction(low), Fraction(4), lift)
        question = question_of((norm, residual, readout))
        tree = search_ball(question, Fraction(1, 8), Effort())
        signs = {sign for sign, _ in tree.children} if isinstance(tree, SignSplit) else set()
        parts[lift, low] = signs
    assert parts[Lift.REFERENCE, 3] == {Sign.LESS, Sign.EQUAL, Sign.MORE}
    assert parts[Lift.CONTINUOUS, 3] <= {Sign.AT_MOST, Sign.MORE}
    assert parts[Lift.REFERENCE, Fraction(1, 2)] == {Sign.AT_MOST, Sign.MORE}
