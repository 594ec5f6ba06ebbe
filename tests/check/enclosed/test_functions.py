"""exp, ln and GELU are rounded down to the last bit."""

import mpmath
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from circuitproof_check.enclosed.functions import (
    exp_ends,
    exp_floor,
    gelu_exact_floor,
    gelu_tanh_floor,
    ln2,
    ln_ends,
    ln_floor,
    pi,
)
from circuitproof_check.work import ExceededError

PRECISIONS = st.one_of(st.sampled_from([16, 17, 64, 96, 128, 1024, 4096]), st.integers(16, 300))


@st.composite
def numbers(draw):
    """Return a precision and a number in its units: tiny, usual, or so large that nothing is left of exp."""
    precision = draw(PRECISIONS)
    size = draw(st.integers(0, precision + 12))
    return precision, draw(st.integers(-(1 << size), 1 << size))


FAR = 100
"""From here on 2^p·exp(-|x|²/2)·|x| is less than 1 for all of these precisions."""


def floor_of(value, precision: int) -> int:
    """Return the floor of a number in units of 2^-p, computed with many more bits than it needs."""
    with mpmath.workprec(40 * precision + 60_000):
        return int(mpmath.floor(mpmath.ldexp(value(), precision)))


def gelu_floor(value, number: int, precision: int) -> int:
    """Return the floor of a GELU; far from zero, less than a unit is missing from x, or from 0."""
    if abs(number) >> precision >= FAR:
        return number - 1 if number > 0 else -1
    return floor_of(lambda: value(mpmath.ldexp(number, -precision)), precision)


@given(numbers())
@example((16, -1))
@example((4096, -(1 << 4097)))
def test_exp_is_rounded_down(case):
    """Every weight of softmax rests on it."""
    precision, number = case
    top = -abs(number)
    wanted = floor_of(lambda: mpmath.exp(mpmath.ldexp(top, -precision)), precision)
    assert exp_floor(top, precision) == wanted


@given(numbers(), st.integers(0, 1 << 22))
@example((16, 0), 0)
@example((4096, 1), 0)
@example((4096, 1 << 2049), 0)
@example((64, 1 << 34), 3)
def test_ln_is_rounded_down(case, more):
    """From 1 on, where it is 0; just above it is a little less than a multiple of a unit."""
    precision, number = case
    top = (1 << precision) + abs(number) + more
    with mpmath.workprec(4 * precision + 400):
        wanted = int(mpmath.floor(mpmath.ldexp(mpmath.log(mpmath.ldexp(top, -precision)), precision)))
    assert ln_floor(top, precision) == wanted


@given(numbers())
def test_the_ends_of_ln_hold_it_and_are_near(case):
    """What is said about the error is so, with few bits too."""
    precision, number = case
    top = (1 << precision) + abs(number)
    low, high = ln_ends(top, precision)
    with mpmath.workprec(4 * precision + 400):
        assert low <= mpmath.ldexp(mpmath.log(mpmath.ldexp(top, -precision)), precision) <= high
    assert high - low < 1 << (precision.bit_length() + 12 + int(precision**0.5) // 2)


@given(numbers())
def test_the_tanh_form_is_rounded_down(case):
    """Also where it is less than a unit away from the number itself, or from zero."""
    precision, number = case

    def value(x):
        c, a = mpmath.mpf(7978845608028654) / 10**16, mpmath.mpf(44715) / 10**6
        return x / (1 + mpmath.exp(-2 * c * (x + a * x**3)))

    assert gelu_tanh_floor(number, precision) == gelu_floor(value, number, precision)


@given(numbers())
def test_the_exact_form_is_rounded_down(case):
    """Φ has no closed form: mpmath's error function is another way to it."""
    precision, number = case
    wanted = gelu_floor(lambda x: x * mpmath.erfc(-x / mpmath.sqrt(2)) / 2, number, precision)
    assert gelu_exact_floor(number, precision) == wanted


@pytest.mark.parametrize("function", [gelu_tanh_floor, gelu_exact_floor])
def test_zero_is_exact_and_huge_numbers_cost_nothing(function):
    """A number of a million digits is not multiplied."""
    assert function(0, 96) == 0
    assert function(1 << 10**7, 96) == (1 << 10**7) - 1
    assert function(-(1 << 10**7), 96) == -1
    assert exp_floor(-(1 << 10**7), 96) == 0
    assert exp_floor(0, 96) == 1 << 96


@given(numbers())
def test_the_ends_of_exp_hold_it_and_are_near(case):
    """What is said about the error is so, with few bits too."""
    precision, number = case
    top, bits = -abs(number) % (40 << precision) - (40 << precision), precision
    low, high = exp_ends(top, bits)
    with mpmath.workprec(3 * precision + 200):
        value = mpmath.ldexp(mpmath.exp(mpmath.ldexp(top, -bits)), bits)
        assert low <= value <= high


def test_a_number_that_no_precision_tells_from_an_integer_ends_the_check(monkeypatch):
    """It is not taken for either; no such number is known."""
    monkeypatch.setattr("circuitproof_check.enclosed.functions._MOST_GUARD", 41)
    with pytest.raises(ExceededError, match="too near to an integer"):
        exp_floor(-1, 1000)


@pytest.mark.parametrize("bits", [64, 128, 1024, 4160])
def test_constants_are_rounded_down(bits):
    """Both are found by other series than mpmath's."""
    with mpmath.workprec(bits + 100):
        assert ln2(bits) == int(mpmath.floor(mpmath.ldexp(mpmath.log(2), bits)))
        assert pi(bits) == int(mpmath.floor(mpmath.ldexp(mpmath.pi, bits)))
