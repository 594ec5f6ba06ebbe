from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from circuitproof.arithmetic.forms import BOUNDS, Bound, Form, Region, Sign, make_form, sign_of
from circuitproof.proof.regions.polyhedra import Reached, guess, keep_positive, nearest, nothing, sample
from circuitproof.proof.regions.regions import Void, is_positive

integers = st.integers(-5, 5)
forms = st.builds(Form, integers, st.tuples(integers, integers)).filter(Form.spread)
bounds = st.builds(Bound, forms, st.sampled_from(list(BOUNDS.values())))
radii = st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1), Fraction(5, 3)])
regions = st.builds(Region, radii, st.lists(bounds, min_size=1, max_size=4).map(tuple))


def holds(region, point):
    """Say whether a point is in a closed ball and keeps all bounds."""
    kept = all(sign_of(bound.form.at(point)) & bound.sign for bound in region.bounds)
    return kept and max(map(abs, point)) <= region.radius


@given(regions)
def test_a_region_has_a_point_or_weights_that_show_it_empty(region):
    """Strict bounds, equalities and all; never neither, never both."""
    found = sample(region)
    if isinstance(found, Void):
        assert is_positive(nothing(region), region, found.weights)
    else:
        assert holds(region, found)


@given(regions)
def test_a_guess_is_never_wrong_about_emptiness(region):
    """It may not tell; what it tells is checked."""
    found = guess(region)
    if isinstance(found, Void):
        assert is_positive(nothing(region), region, found.weights)
        assert isinstance(sample(region), Void)
    elif found is not None:
        assert max(map(abs, found)) <= region.radius


def test_deviations_that_cancel_out_are_not_all_positive():
    """A guess shows it, though they no longer cancel out once they are rounded."""
    values = [[pow(3 + own, 50 + place, 2**61 - 1) - 2**60 for place in range(9)] for own in range(3)]
    totals = [sum(column) for column in zip(*values, strict=True)]
    deviations = [
        make_form([3 * own - total for own, total in zip(value, totals, strict=True)]) for value in values
    ]
    region = Region(
        Fraction(1), tuple(Bound(form, Sign.MORE) for form in (*deviations, make_form(values[0])))
    )
    found = guess(region)
    assert isinstance(found, Void)
    assert found.weights[-1] == 0
    assert is_positive(nothing(region), region, found.weights)


@given(regions, forms)
def test_a_form_is_kept_positive_or_a_point_is_against_it(region, goal):
    """Weights if it is positive, a point of the region if it is not, or the region is empty."""
    found = keep_positive(goal, region)
    if isinstance(found, Reached):
        assert holds(region, found.point)
        assert goal.at(found.point) <= 0
    elif isinstance(found, Void):
        assert is_positive(nothing(region), region, found.weights)
    else:
        assert is_positive(goal, region, found)


@given(regions, forms)
def test_the_nearest_radius_is_the_least_that_reaches(region, goal):
    """Just there the closed region is reached, and below it weights show that it is not."""
    found = nearest(goal, region)
    weak = {Sign.LESS: Sign.AT_MOST, Sign.MORE: Sign.AT_LEAST}
    closed = tuple(Bound(bound.form, weak.get(bound.sign, bound.sign)) for bound in region.bounds)
    if found.radius is None:
        assert not isinstance(keep_positive(goal, Region(Fraction(10**6), closed)), Reached)
        return
    assert isinstance(keep_positive(goal, Region(found.radius, closed)), Reached) or not found.radius
    if found.radius:
        shorter = Region(found.radius * Fraction(999, 1000), closed)
        assert not isinstance(keep_positive(goal, shorter), Reached)


def test_a_form_that_only_touches_zero_on_a_strict_bound_is_positive():
    """An infimum that is not attained is proved, and with a weak bound it is reached."""
    goal = Form(0, (1, 0))
    strict = Region(Fraction(1), (Bound(goal, Sign.MORE),))
    assert is_positive(goal, strict, keep_positive(goal, strict))
    assert keep_positive(goal, Region(Fraction(1), (Bound(goal, Sign.AT_LEAST),))) == Reached((0, -1))
