"""Vectors and matrices of integers over a common denominator, against plain fractions."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

import bundle_maker as maker
from circuitproof_check.exact import Matrix, dot, from_fractions, mix, projected, rectified, total, vector

numbers = st.fractions(min_value=-(10**6), max_value=10**6, max_denominator=1000)
vectors = st.lists(numbers, min_size=1, max_size=6)


@given(st.lists(st.integers(-(2**70), 2**70), min_size=1, max_size=6), st.integers(1, 2**40))
def test_equal_vectors_are_equal_objects(entries, denominator):
    """Values are remembered under what they read, so a value must have one spelling."""
    assert vector(entries, denominator) == from_fractions([Fraction(entry, denominator) for entry in entries])


@given(st.data(), st.integers(1, 5), st.integers(1, 5))
def test_a_packed_product_is_the_product(data, height, width):
    """Also when a later vector needs wider slots than the first."""
    whole = st.integers(-(2**60), 2**60)
    entries = data.draw(st.lists(whole, min_size=height * width, max_size=height * width))
    matrix = Matrix(vector(entries, 7), width)
    for bits in (3, 100, 3):
        point = data.draw(st.lists(st.integers(-(2**bits), 2**bits), min_size=width, max_size=width))
        rows = [entries[row * width : (row + 1) * width] for row in range(height)]
        wanted = [sum(a * b for a, b in zip(row, point, strict=True)) for row in rows]
        assert matrix.apply(vector(point, 3)) == vector(wanted, 21)


def test_a_packed_product_holds_the_extreme_sums():
    """The largest sums of either sign fill a slot to its last bit."""
    most = 2**63 - 1
    for sign in (1, -1):
        matrix = Matrix(vector([sign * most] * 6), 3)
        assert matrix.apply(vector([most] * 3)) == vector([sign * 3 * most * most] * 2)


@given(vectors, st.fractions(min_value=Fraction(1, 9), max_value=20, max_denominator=9))
def test_a_projection_is_that_of_the_slow_twin(entries, mass):
    """Sparsemax is the case of mass one."""
    found = projected(from_fractions(entries), mass).fractions()
    assert list(found) == maker.naive_projection(entries, mass)


def test_sparsemax_of_equal_scores_is_uniform():
    """A tie has no favourite."""
    assert projected(vector([5, 5, 5]), Fraction(1)) == vector([1, 1, 1], 3)


@given(vectors, st.sampled_from([Fraction(0), Fraction(1, 100)]))
def test_rectifying_scales_what_is_not_positive(entries, slope):
    """Slope zero is the plain rectifier."""
    wanted = [entry if entry > 0 else slope * entry for entry in entries]
    assert list(rectified(from_fractions(entries), slope).fractions()) == wanted


@given(st.lists(st.tuples(numbers, st.tuples(numbers, numbers)), max_size=4))
def test_a_mix_is_the_weighted_sum(pairs):
    """Of nothing it is zero."""
    weights = [weight for weight, _ in pairs]
    found = mix(weights, [from_fractions(entries) for _, entries in pairs], 2).fractions()
    assert found == tuple(sum((w * e[i] for w, e in pairs), Fraction(0)) for i in range(2))


def test_sums_and_inner_products_of_small_vectors():
    """Examples that can be checked by hand."""
    assert total([vector([1, 2], 2), vector([1, 0], 3)], 2) == vector([5, 6], 6)
    assert dot(vector([1, 2], 2), vector([4, 3], 5)) == 1
