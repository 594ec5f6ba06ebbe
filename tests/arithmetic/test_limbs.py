"""Limbs: whatever is done to them, they are the integers that Python gets."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.arithmetic import limbs
from circuitproof.arithmetic.limbs import factor_of, limbs_of

sizes = st.sampled_from((1, 20, 21, 22, 23, 43, 44, 45, 66, 90, 200))
integers = sizes.flatmap(
    lambda bits: (
        st.integers(-(2**bits), 2**bits)
        | st.sampled_from((0, 1, -1, 2**bits, -(2**bits), 2**bits - 1, 1 - 2**bits))
    )
)


def matrices(rows=3, columns=2):
    """Return arrays of Python integers."""
    return st.lists(integers, min_size=rows * columns, max_size=rows * columns).map(
        lambda found: np.array([*found, None], dtype=object)[:-1].reshape(rows, columns)
    )


def same(found, wanted):
    """Say whether limbs are some integers, with parts in their bounds."""
    lower, last = found.parts[:-1], found.parts[-1]
    is_canonical = ((lower >= 0) & (lower < 2**22)).all() and (np.abs(last) <= 2**22).all()
    return is_canonical and found.integers().tolist() == wanted.tolist()


@given(matrices())
def test_numbers_go_into_limbs_and_come_back(numbers):
    """Of any size and sign, and machine integers too."""
    assert same(limbs_of(numbers), numbers)
    assert (limbs_of(numbers).is_negative == (numbers < 0)).all()
    small = np.array([[int(number) % 2**63 - 2**62 for number in row] for row in numbers], dtype=np.int64)
    assert same(limbs_of(small), small)
    assert same(limbs_of(numbers)[[2, 0, 0]], numbers[[2, 0, 0]])


@given(matrices(), matrices())
def test_sums_differences_and_choices_are_those_of_python(left, right):
    """Carries run as far as they must, and what is left empty is dropped."""
    one, other = limbs_of(left), limbs_of(right)
    assert same(limbs.add(one, other), left + right)
    assert same(limbs.subtract(one, other), left - right)
    assert same(limbs.subtract(one, one), left - left)
    assert same(limbs.where(left < right, one, other), np.where(left < right, left, right))
    assert same(limbs.joined([one, other]), np.concatenate([left, right]))
    assert same(limbs.joined([one, other], 1), np.concatenate([left, right], axis=1))


@given(matrices(), st.integers(-300, 100))
def test_shifts_round_down(numbers, bits):
    """To the right beyond the last limb as well: −1 for what is negative."""
    wanted = numbers << bits if bits >= 0 else numbers >> -bits
    assert same(limbs.shift(limbs_of(numbers), bits), wanted)


@given(matrices(), matrices(), st.integers(1, 2**39), st.integers(-(2**39), 2**39))
def test_products_and_quotients_are_those_of_python(left, right, divisor, factor):
    """One by one, by a machine integer, and row by row."""
    one, other = limbs_of(left), limbs_of(right)
    assert same(limbs.multiply(one, other), left * right)
    assert same(limbs.multiply(one, other[:1]), left * right[:1])
    assert same(limbs.times(one, factor), left * factor)
    assert same(limbs.divide(one, divisor), left // divisor)
    assert same(limbs.row_products(one, other), (left * right).sum(axis=1))


@given(matrices(3, 4), matrices(4, 2))
def test_products_of_matrices_are_those_of_python(left, right):
    """Through digits of either sign."""
    assert same(limbs.product(limbs_of(left), factor_of(right)), left @ right)


def test_the_longest_sums_of_the_largest_digits_are_exact():
    """Every limb and digit at its bound, over more terms than are added at once."""
    left = np.full((2, 2500), 2**66 - 1, dtype=object)
    left[1] = -(2**66)
    right = np.full((2500, 1), 2**65 - 2**43 - 2**21, dtype=object)
    assert same(limbs.product(limbs_of(left), factor_of(right)), left @ right)


@given(matrices(), st.integers(0, 80), st.lists(st.integers(1, 2**70), min_size=3, max_size=3))
def test_quotients_by_row_are_rounded_down(numbers, bits, divisors):
    """Also where the quotient is an integer, or next to one, so that a product cannot tell."""
    exact = np.array([divisor * place for place, divisor in enumerate(divisors)], dtype=object)[:, None]
    for some in (numbers, exact + numbers * 0, exact - 1 + numbers * 0, -exact + numbers * 0):
        wanted = (some << bits) // np.array([*divisors, None], dtype=object)[:-1, None]
        assert same(limbs.quotients(limbs_of(some), bits, divisors), wanted)


def test_rows_of_very_long_numbers_are_multiplied_in_parts():
    """More products of limbs than a machine integer can add up."""
    numbers = np.full((1, 600), 2**9000 - 1, dtype=object)
    found = limbs.row_products(limbs_of(numbers), limbs_of(-numbers))
    assert same(found, -(numbers * numbers).sum(axis=1))
