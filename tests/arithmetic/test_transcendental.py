"""Functions without rational values, rounded down: compared with mpmath at far more digits."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.arithmetic import transcendental
from circuitproof.arithmetic.transcendental import floor_exp, floor_gelu, floor_ln
from circuitproof.errors import NumericError
from circuitproof.models.operators import GeluForm
from real_twin import gelu

precisions = st.integers(16, 300)


def column(numbers):
    """Return numbers as the functions take them."""
    found = np.empty(len(numbers), dtype=object)
    found[:] = numbers
    return found


@st.composite
def arguments(draw, sign):
    """Draw a precision and integers of all sizes up to 16 units of one."""
    bits = draw(precisions)
    lengths = draw(st.lists(st.integers(1, bits + 4), min_size=1, max_size=8))
    numbers = [draw(st.integers(0, 2**length - 1)) for length in lengths]
    return bits, [one if sign > 0 or (sign == 0 and draw(st.booleans())) else -one for one in numbers]


@given(arguments(-1))
def test_exp_is_rounded_down(drawn):
    """To the very integer, where it is large and where it is below a unit."""
    bits, numbers = drawn
    with mpmath.workprec(3 * bits + 100):
        wanted = [int(mpmath.floor(mpmath.ldexp(mpmath.exp(mpmath.ldexp(t, -bits)), bits))) for t in numbers]
    assert floor_exp(column(numbers), bits).tolist() == wanted


@given(arguments(1), st.integers(-3, 3))
def test_ln_is_rounded_down(drawn, near):
    """Of numbers of all sizes, and of those next to 1, whose ln is next to nothing."""
    bits, numbers = drawn
    numbers = [number + 1 for number in numbers] + [2**bits + near]
    with mpmath.workprec(3 * bits + 100):
        wanted = [int(mpmath.floor(mpmath.ldexp(mpmath.log(mpmath.ldexp(x, -bits)), bits))) for x in numbers]
    assert floor_ln(column(numbers), bits).tolist() == wanted


def test_ln_of_what_is_not_positive_is_refused():
    """It has no value."""
    with pytest.raises(NumericError, match=r"^ln of what is not positive is wanted$"):
        floor_ln(column([1, 0]), 64)


@pytest.mark.parametrize("form", list(GeluForm))
@given(drawn=arguments(0))
def test_gelu_is_rounded_down(form, drawn):
    """Also far from zero, where it is less than a unit below x or below zero."""
    bits, numbers = drawn
    with mpmath.workprec(4 * bits + 1500):
        wanted = [int(mpmath.floor(mpmath.ldexp(gelu(form, mpmath.ldexp(x, -bits)), bits))) for x in numbers]
    assert floor_gelu(column(numbers), form, bits).tolist() == wanted


@pytest.mark.parametrize("form", list(GeluForm))
@pytest.mark.parametrize("bits", [16, 64, 200])
def test_gelu_is_rounded_down_where_it_begins_to_be_far(form, bits):
    """At every quarter up to 20: just before, hundreds of digits are needed."""
    numbers = [sign * quarters << (bits - 2) for quarters in range(80) for sign in (1, -1)]
    with mpmath.workprec(1500):
        wanted = [int(mpmath.floor(mpmath.ldexp(gelu(form, mpmath.ldexp(x, -bits)), bits))) for x in numbers]
    assert floor_gelu(column(numbers), form, bits).tolist() == wanted


@pytest.mark.parametrize("bits", [16, 64, 333])
def test_values_that_are_integers_or_far_are_known_without_computing(bits):
    """Exp of zero, exp of what is far below, GELU of zero and far from it."""
    far = (10 * bits) << bits
    assert floor_exp(column([0, -far]), bits).tolist() == [1 << bits, 0]
    for form in GeluForm:
        assert floor_gelu(column([0, far, -far]), form, bits).tolist() == [0, far - 1, -1]


def test_what_too_few_bits_do_not_tell_apart_is_computed_again(monkeypatch):
    """With one more bit than is asked for, nearly everything is open at first."""
    numbers = [-number << 40 for number in range(1, 200)]
    wanted = floor_exp(column(numbers), 64).tolist()
    monkeypatch.setattr(transcendental, "_GUARD", 17)
    assert floor_exp(column(numbers), 64).tolist() == wanted


def test_what_is_never_told_apart_is_an_error(monkeypatch):
    """A value within its error of an integer, whatever the precision, is not taken for either."""
    monkeypatch.setattr(transcendental, "_exp", lambda numbers, bits: (numbers * 0 + (1 << bits), 1))
    with pytest.raises(NumericError, match="so near to a multiple of the unit that it was not told apart"):
        floor_exp(column([-5]), 64)


@pytest.mark.parametrize("bits", [40, 100, 1000])
def test_constants_have_the_digits_that_they_are_used_with(bits):
    """Log 2, π and 1/√(2π), rounded down but for the last units."""
    with mpmath.workprec(bits + 50):
        for found, value in (
            (transcendental.log_two(bits), mpmath.log(2)),
            (transcendental._pi(bits), mpmath.pi),
            (transcendental._inverse_root_of_two_pi(bits), 1 / mpmath.sqrt(2 * mpmath.pi)),
        ):
            assert abs(found - mpmath.ldexp(value, bits)) < 1.5
