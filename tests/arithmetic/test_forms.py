from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.arithmetic.forms import (
    BOUNDS,
    Bound,
    Form,
    Region,
    Sign,
    make_form,
    sign_of,
)
from circuitproof.errors import DeclarationError

integers = st.integers(-6, 6)
forms = st.builds(Form, integers, st.tuples(integers, integers))
radii = st.fractions(Fraction(1, 4), 4, max_denominator=4)
bounds = st.builds(Bound, forms, st.sampled_from(list(BOUNDS.values())))
regions = st.builds(Region, radii, st.lists(bounds, max_size=3).map(tuple), st.booleans())
shares = st.tuples(*[st.sampled_from([Fraction(k, 4) for k in range(-4, 5)])] * 2)


def keeps(region: Region, point: tuple[Fraction, ...]) -> bool:
    """Say by definition whether a point is in a region."""
    size = max(map(abs, point))
    inside = size < region.radius if region.is_open else size <= region.radius
    return inside and all(
        sign_of(b.form.constant + sum(a * x for a, x in zip(b.form.slopes, point, strict=True))) & b.sign
        for b in region.bounds
    )


@given(forms, shares)
def test_a_form_is_its_constant_and_slopes(form, point):
    """The value by definition."""
    assert form.at(point) == form.constant + sum(a * x for a, x in zip(form.slopes, point, strict=True))


@given(st.lists(integers, min_size=1, max_size=4), st.integers(1, 5))
def test_a_factor_does_not_change_a_form(numbers, factor):
    """Only signs matter, so proportional forms are one key."""
    assert make_form(numbers) == make_form([factor * number for number in numbers])


@given(regions, forms, shares)
def test_every_sign_that_a_form_takes_in_a_region_is_known(region, form, share):
    """Soundness of everything above it: no sign is left out."""
    point = tuple(region.radius * part for part in share)
    if keeps(region, point):
        assert sign_of(form.at(point)) & region.signs(form)


@given(forms, radii, st.booleans())
def test_the_signs_in_a_ball_are_just_those_at_its_corners_and_between(form, radius, is_open):
    """The closed formula against the corners; an open ball does not have them."""
    values = [form.at(tuple(radius * c for c in corner)) for corner in product((-1, 1), repeat=2)]
    low, high = min(values), max(values)
    if low == high:
        wanted = sign_of(low)
    elif is_open:
        middle = [low + (high - low) * Fraction(k, 1000) for k in range(1, 1000)]
        wanted = Sign(0)
        for value in (*middle, *([Fraction(0)] if low < 0 < high else [])):
            wanted |= sign_of(value)
    else:
        wanted = sign_of(low) | sign_of(high) | (Sign.EQUAL if low <= 0 <= high else Sign(0))
    assert Region(radius, is_open=is_open).signs_in_ball(form) == wanted


@given(radii, bounds, st.integers(1, 4))
def test_a_bound_is_known_of_its_form_and_of_the_negated_one(radius, bound, factor):
    """In whichever direction and scale the form is asked for."""
    region = Region(radius, (bound,))
    larger = Form(factor * bound.form.constant, tuple(factor * slope for slope in bound.form.slopes))
    if bound.form.spread():  # the sign of a constant is no question
        assert region.signs(larger).is_within(bound.sign)
        assert region.signs(bound.form.negated()).is_within(bound.sign.mirrored())


@given(st.sampled_from(list(BOUNDS.values())))
def test_mirroring_twice_changes_nothing(sign):
    """And it exchanges the two sides."""
    assert sign.mirrored().mirrored() == sign
    assert bool(sign.mirrored() & Sign.LESS) == bool(sign & Sign.MORE)


def test_a_bound_wants_signs_that_have_a_spelling():
    """All signs or none would be no bound."""
    with pytest.raises(DeclarationError, match="a bound wants one of <, <=, =, >=, >"):
        Bound(Form(0, (1,)), Sign.ANY)


@given(bounds, shares)
def test_a_bound_says_that_its_downward_form_is_not_positive(bound, point):
    """Which is what weights are put on."""
    if sign_of(bound.form.at(point)) & bound.sign:
        value = bound.downward().at(point)
        assert value < 0 if bound.is_strict else value <= 0
        assert not bound.is_equality or value == 0


@given(regions, shares)
def test_what_is_inside_is_in_the_region(region, share):
    """And on no bound, unless that is an equality."""
    point = tuple(region.radius * part for part in share)
    if region.holds_inside(point):
        assert keeps(region, point)
        assert all(b.is_equality or b.form.at(point) for b in region.bounds)
