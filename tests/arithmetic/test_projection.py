from fractions import Fraction
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.arithmetic.projection import project
from circuitproof.errors import DeclarationError
from twin import nearest

few = st.lists(st.integers(-6, 6), min_size=1, max_size=6)
many = st.lists(st.integers(-(10**30), 10**30), min_size=1, max_size=8)
masses = st.integers(1, 12) | st.integers(1, 10**30)


def fractions_of(found):
    """Return the weights of a projection as fractions."""
    return [Fraction(weight, found.divisor) for weight in found.weights]


def by_trying_supports(values, mass):
    """Return the projection found by trying every support against the conditions that define it."""
    places = range(len(values))
    for support in chain.from_iterable(combinations(places, size) for size in range(1, len(values) + 1)):
        cut = Fraction(sum(values[place] for place in support) - mass, len(support))
        is_right = all((values[place] > cut) == (place in support) for place in places)
        if is_right:
            return [values[place] - cut if place in support else Fraction(0) for place in places]
    raise AssertionError("a projection always has a support")


@given(few | many, masses)
def test_projection_is_the_sort_formula(values, mass):
    """Integers over one divisor say the same as fractions."""
    assert fractions_of(project(values, mass)) == nearest(
        [Fraction(value) for value in values], Fraction(mass)
    )


@given(few, masses)
def test_projection_is_the_only_point_that_meets_its_conditions(values, mass):
    """A third way that neither sorts nor accumulates: each support is tried."""
    assert fractions_of(project(values, mass)) == by_trying_supports(values, mass)


@given(few | many, masses)
def test_weights_are_not_negative_and_have_the_mass(values, mass):
    """It is a point of the simplex."""
    found = project(values, mass)
    assert min(found.weights) >= 0
    assert sum(found.weights) == mass * found.divisor


@given(few | many, masses)
def test_the_support_is_where_the_weights_are_positive(values, mass):
    """Given it, the weights are affine in the values; a place of weight zero is not in it."""
    found = project(values, mass)
    assert found.support == tuple(place for place, weight in enumerate(found.weights) if weight > 0)
    assert found.divisor == len(found.support)


@given(few | many, masses, st.integers(-(10**9), 10**9))
def test_a_common_shift_changes_nothing(values, mass, shift):
    """Only differences count."""
    assert project([value + shift for value in values], mass) == project(values, mass)


@given(few | many, masses, st.integers(1, 10**9))
def test_a_common_factor_comes_out(values, mass, factor):
    """Values and mass are in the same unit, whatever it is."""
    scaled = project([value * factor for value in values], mass * factor)
    assert fractions_of(scaled) == [weight * factor for weight in fractions_of(project(values, mass))]


def test_a_value_that_just_fails_to_enter_stays_out():
    """At the boundary of a support its weight would be zero."""
    assert project((5, 3), 2).support == (0,)
    assert project((5, 4), 2).support == (0, 1)


@pytest.mark.parametrize(("values", "mass"), [((), 1), ((1, 2), 0), ((1,), -1)])
def test_nothing_to_project_or_no_mass_is_refused(values, mass):
    """There is no such point, or it is all zeros and has no support."""
    with pytest.raises(
        DeclarationError,
        match=rf"cannot project {len(values)} values onto mass {mass}; want some, and positive",
    ):
        project(values, mass)
