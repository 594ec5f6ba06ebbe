from fractions import Fraction
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from circuitproof.arithmetic.exact import Exact
from circuitproof.arithmetic.grid import grid_of_fractions
from circuitproof.models.operators import LeakyRelu
from circuitproof.proof.patterns.deferred import Deferred

numbers = st.fractions(-3, 3, max_denominator=4)


@st.composite
def chains(draw):
    """Draw rows and affine maps that fit each other."""
    widths = draw(st.lists(st.integers(1, 4), min_size=2, max_size=5))
    count = draw(st.integers(1, 9))

    def matrix(height, width):
        row = st.lists(numbers, min_size=width, max_size=width)
        return grid_of_fractions(draw(st.lists(row, min_size=height, max_size=height)), width)

    maps = [
        (matrix(out, into), matrix(1, out) if draw(st.booleans()) else None) for into, out in pairwise(widths)
    ]
    return matrix(count, widths[0]), maps


@given(chains())
def test_maps_that_wait_give_the_same_numbers(drawn):
    """In whichever order they are multiplied."""
    rows, maps = drawn
    exact, deferred = Exact(), Deferred()
    plain, waiting = rows, deferred.constant(rows)
    for weight, bias in maps:
        plain, waiting = exact.affine(plain, weight, bias), deferred.affine(waiting, weight, bias)
    assert waiting.settled().fractions() == plain.fractions()
    repeated = [0] * (rows.shape[0] + 1)
    assert deferred.take(waiting, repeated).settled().fractions() == exact.take(plain, repeated).fractions()
    both = deferred.add(waiting, waiting)
    assert both.settled().fractions() == exact.add(plain, plain).fractions()
    slope = LeakyRelu(Fraction(1, 100))
    bent = deferred.activate(waiting, slope).settled()
    assert bent.fractions() == exact.activate(plain, slope).fractions()
    mixes = [((0, Fraction(1)),), ((0, Fraction(1, 3)),), ()]
    mixed = deferred.mix(mixes, waiting).settled()
    assert mixed.fractions() == exact.mix(mixes, plain).fractions()
    assert deferred.mix(mixes[:1], waiting).settled().fractions() == exact.mix(mixes[:1], plain).fractions()
