from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from circuitproof.proof.evidence import Radius


@given(st.fractions(0, 3, max_denominator=6), st.fractions(Fraction(1, 6), 3, max_denominator=6))
def test_a_radius_exceeds_an_epsilon_only_if_it_is_larger(radius, epsilon):
    """At equality a perturbation of that size draws level, so the decision is lost."""
    assert Radius(radius).exceeds(epsilon) == (radius > epsilon)
    assert Radius(None).exceeds(epsilon)


def test_a_radius_of_zero_is_not_an_infinite_one():
    """Both are falsy in places; they say opposite things."""
    assert str(Radius(Fraction(0))) == "0"
    assert str(Radius(None)) == "infinite"
    assert not Radius(Fraction(0)).exceeds(Fraction(1, 10**9))
