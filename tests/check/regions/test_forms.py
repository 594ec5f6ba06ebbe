"""Regions in the checker: what is known of a sign, and what weights show, against points of the region."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from circuitproof_check.regions.forms import BOUNDS, Region, form_of, lowest, union

integers = st.integers(-6, 6)
forms = st.tuples(integers, integers, integers).map(lowest)
bounds = st.lists(st.tuples(forms, st.sampled_from(list(BOUNDS.values()))), max_size=3)
radii = st.fractions(Fraction(1, 4), 4, max_denominator=4)
shares = st.lists(st.tuples(*[st.sampled_from([Fraction(k, 4) for k in range(-4, 5)])] * 2), max_size=20)
weights = st.lists(st.fractions(-2, 3, max_denominator=2), min_size=3, max_size=3)


def cut(radius, drawn):
    """Return the region with these bounds."""
    region = Region(radius)
    for form, signs in drawn:
        region = region.within(form, signs)
    return region


def value(form, point):
    """Return a form at a point."""
    return form[0] + sum(a * x for a, x in zip(form[1:], point, strict=True))


def sign(number):
    """Return -1, 0 or 1."""
    return (number > 0) - (number < 0)


def points(region, drawn, chosen):
    """Return the points that are in the region, by definition."""
    found = [tuple(region.radius * part for part in share) for share in chosen]
    return [p for p in found if all(sign(value(form, p)) in signs for form, signs in drawn)]


@given(radii, bounds, forms, shares)
def test_no_sign_that_a_form_has_in_a_region_is_left_out(radius, drawn, form, chosen):
    """Splits are checked by it, and branches."""
    region = cut(radius, drawn)
    assert {sign(value(form, point)) for point in points(region, drawn, chosen)} <= region.signs(form)


@given(radii, bounds, forms, weights, shares)
def test_a_form_that_weights_show_positive_is_positive(radius, drawn, goal, given_weights, chosen):
    """Every proof rests on it. Weights of inequalities are not negative, which is a rule of its own."""
    region, used = cut(radius, drawn), given_weights[: len(drawn)]
    allowed = zip(used, region.may_be_negative(), strict=True)
    if all(weight >= 0 or free for weight, free in allowed) and region.shows_positive(goal, used):
        assert all(value(goal, point) > 0 for point in points(region, drawn, chosen))


@given(radii, forms, st.sampled_from(list(BOUNDS.values())), st.integers(1, 4))
def test_a_bound_is_known_of_multiples_of_its_form(radius, form, signs, factor):
    """Of the negated form too, mirrored; where the ball alone decides, that is enough."""
    region = cut(radius, [(form, signs)])
    if len(Region(radius).signs(form)) > 1:
        assert region.signs([factor * number for number in form]) <= signs
        assert region.signs([-factor * number for number in form]) <= {-one for one in signs}


def test_an_infimum_of_zero_counts_only_with_weight_on_a_strict_bound():
    """The difference between an open and a closed part."""
    goal = (0, 1)
    assert Region(Fraction(1)).within(goal, BOUNDS[">"]).shows_positive(goal, [Fraction(1)])
    assert not Region(Fraction(1)).within(goal, BOUNDS[">="]).shows_positive(goal, [Fraction(1)])
    assert not Region(Fraction(1)).within((0, 0), BOUNDS["<"]).shows_positive((0, 1), [Fraction(0)])


def test_forms_of_rationals_are_integers_in_lowest_terms():
    """Only signs matter."""
    assert form_of([Fraction(1, 2), Fraction(-3, 4)]) == (2, -3)
    assert lowest([0, 0]) == (0, 0)
    assert union([BOUNDS["<"], BOUNDS[">="]]) == {-1, 0, 1}
