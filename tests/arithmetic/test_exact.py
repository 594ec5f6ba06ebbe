from fractions import Fraction
from operator import add as plus

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import twin
from circuitproof.arithmetic.exact import BandBranches, Exact, SideBranch, Signs, Supports
from circuitproof.arithmetic.grid import Grid, grid_of_fractions, zeros
from circuitproof.arithmetic.protocol import Context
from circuitproof.errors import NotExactError
from circuitproof.models.operators import (
    Attention,
    BandNorm,
    Gelu,
    GeluForm,
    LayerNorm,
    LeakyRelu,
    Lift,
    NoNorm,
    Relu,
)

coarse = st.integers(-8, 8).map(lambda number: Fraction(number, 4))
rationals = coarse | st.fractions(-100, 100, max_denominator=60)
shares = st.fractions(0, 3, max_denominator=9)
sizes = st.integers(1, 4)
BANDS = [(Fraction(1, 2), Fraction(3, 2)), (Fraction(11, 10), Fraction(21, 10)), (Fraction(2), Fraction(2))]
norms = st.builds(lambda band, lift: BandNorm(*band, lift), st.sampled_from(BANDS), st.sampled_from(Lift))


def matrices(rows, columns, numbers=rationals):
    """Draw nested lists of fractions."""
    return st.lists(st.lists(numbers, min_size=columns, max_size=columns), min_size=rows, max_size=rows)


def grid_of(rows, columns):
    """Return nested lists as a grid."""
    return grid_of_fractions(rows, columns)


def values_of(grid):
    """Return a grid as nested lists."""
    return [list(row) for row in grid.fractions()]


@st.composite
def maps(draw):
    """Draw rows, a weight and a bias that fit."""
    rows, into, out = draw(st.integers(0, 4)), draw(sizes), draw(sizes)
    return draw(matrices(rows, into)), draw(matrices(out, into)), draw(matrices(1, out))[0]


@given(maps(), st.booleans())
def test_an_affine_map_is_products_of_rows_and_a_bias(drawn, has_bias):
    """Weights are [out, in]."""
    rows, weight, bias = drawn
    grid = grid_of([bias], len(bias)) if has_bias else None
    found = Exact().affine(grid_of(rows, len(weight[0])), grid_of(weight, len(weight[0])), grid)
    offset = bias if has_bias else [Fraction(0)] * len(bias)
    assert values_of(found) == [
        list(map(plus, [twin.dot(one, row) for one in weight], offset)) for row in rows
    ]


@given(matrices(3, 2), st.lists(st.integers(0, 2)))
def test_constants_rows_and_sums_are_those_of_the_grid(rows, chosen):
    """An exact value is the number itself."""
    exact, grid = Exact(), grid_of(rows, 2)
    assert values_of(exact.constant(grid)) == rows
    assert values_of(exact.take(grid, chosen)) == [rows[place] for place in chosen]
    assert values_of(exact.add(grid, grid)) == [[2 * number for number in row] for row in rows]


@given(
    matrices(3, 2),
    st.lists(st.lists(st.tuples(st.integers(0, 2), shares), max_size=4).map(tuple), max_size=4),
)
def test_a_mix_is_a_sum_of_rows_with_weights(values, rows):
    """Rows may occur twice, and a sum of none is zero."""
    wanted = [
        [sum((weight * values[source][place] for source, weight in row), Fraction(0)) for place in range(2)]
        for row in rows
    ]
    found = Exact().mix(rows, grid_of(values, 2))
    assert found.shape == (len(rows), 2)
    assert values_of(found) == wanted


def test_a_row_that_attends_nowhere_is_zero_even_without_any_values():
    """A program may attend nowhere on every prompt, and then no value is computed."""
    assert values_of(Exact().mix([(), ()], zeros(0, 3))) == [[0] * 3] * 2
    assert Exact().mix([], zeros(0, 3)).shape == (0, 3)


@st.composite
def attentions(draw):
    """Draw queries, keys, values and contexts over them."""
    rows, width = draw(sizes), draw(sizes)
    queries, keys, values = (draw(matrices(rows, width)) for _ in range(3))
    places = st.integers(0, rows - 1)
    pairs = st.lists(st.tuples(places, places), min_size=1, max_size=4)
    contexts = st.builds(
        lambda query, read: Context(query, *(tuple(rows) for rows in zip(*read, strict=True))), places, pairs
    )
    return queries, keys, values, draw(st.lists(contexts, max_size=4))


@given(attentions(), st.fractions(Fraction(1, 9), 5, max_denominator=9))
def test_attention_is_scores_sparsemax_and_a_weighted_sum(drawn, scale):
    """The three steps, each against its definition; a key may occur twice, and have values of its own."""
    queries, keys, values, contexts = drawn
    width, exact = len(queries[0]), Exact()
    scores = exact.scores(grid_of(queries, width), grid_of(keys, width), contexts, scale)
    wanted = [
        [scale * twin.dot(queries[query], keys[key]) for key in chosen] for query, chosen, *_ in contexts
    ]
    assert [list(row.fractions()) for row in scores] == wanted
    weights = exact.attention(scores, Attention.SPARSEMAX)
    shares_of = [twin.sparsemax(row) for row in wanted]
    assert [list(row.fractions()) for row in weights] == shares_of
    mixed = exact.weigh(weights, contexts, grid_of(values, width))
    assert values_of(mixed) == [
        [twin.dot(row, [values[key][place] for key in chosen]) for place in range(width)]
        for row, (_, _, chosen, *_) in zip(shares_of, contexts, strict=True)
    ]


@given(attentions())
def test_the_witness_of_sparsemax_is_where_it_attends(drawn):
    """One support per row, in order."""
    queries, keys, _, contexts = drawn
    width, exact = len(queries[0]), Exact()
    scores = exact.scores(grid_of(queries, width), grid_of(keys, width), contexts, Fraction(1))
    weights = exact.attention(scores, Attention.SPARSEMAX)
    positive = [tuple(place for place, one in enumerate(row.fractions()) if one) for row in weights]
    assert exact.witnesses == [Supports(tuple(positive))]


def test_softmax_is_not_exact():
    """Exponentials of rationals are irrational."""
    with pytest.raises(
        NotExactError, match="softmax attention has no exact value; want sparsemax or program heads"
    ):
        Exact().attention((), Attention.SOFTMAX)


@given(matrices(3, 4), st.sampled_from([Relu(), LeakyRelu(Fraction(1, 100)), LeakyRelu(Fraction(2, 3))]))
def test_an_activation_bends_every_number(rows, activation):
    """And its witness is the sign, zero where both branches give zero."""
    exact = Exact()
    found = exact.activate(grid_of(rows, 4), activation)
    assert values_of(found) == [[twin.bend(activation, number) for number in row] for row in rows]
    (signs,) = exact.witnesses
    assert isinstance(signs, Signs)
    assert signs.signs.tolist() == [[(number > 0) - (number < 0) for number in row] for row in rows]


@pytest.mark.parametrize("kind", [np.int64, object])
@pytest.mark.parametrize("activation", [Relu(), LeakyRelu(Fraction(1, 100))], ids=str)
def test_an_activation_of_machine_integers_does_not_overflow(activation, kind):
    """The numerator and denominator of a slope are multiplied in."""
    numbers = np.array([[2**62, -(2**62), 0]], dtype=kind)
    found = Exact().activate(Grid(numbers, 3, (7,)), activation)
    assert values_of(found) == [[twin.bend(activation, Fraction(int(n) * 8, 7)) for n in numbers[0]]]


def test_gelu_is_not_exact():
    """Nor is its approximation by tanh."""
    for form in GeluForm:
        with pytest.raises(NotExactError, match="GELU has no exact value; want ReLU or leaky ReLU"):
            Exact().activate(zeros(1, 1), Gelu(form))


@st.composite
def banded(draw):
    """Draw rows to be normed and a gain; small numbers make zeros and exact boundaries common."""
    width = draw(st.integers(2, 6))
    numbers = draw(st.sampled_from([coarse, rationals, st.just(Fraction(0))]))
    rows, scale, shift = (draw(matrices(draw(st.integers(0, 3)), width, numbers)), *draw(matrices(2, width)))
    return rows, scale, shift


def normalise(norm, rows, gain):
    """Return BandNorm of rows and what it recorded."""
    exact, width = Exact(), len(gain[0])
    found = exact.normalise(grid_of(rows, width), norm, tuple(grid_of([one], width) for one in gain))
    assert found.shape == (len(rows), width)
    (branches,) = exact.witnesses
    assert isinstance(branches, BandBranches)
    return values_of(found), branches.sides


@given(norms, banded())
def test_band_norm_is_its_definition(norm, drawn):
    """Centre, both sides into the band, centre, scale and shift."""
    rows, scale, shift = drawn
    found, _ = normalise(norm, rows, (scale, shift))
    assert found == [
        [
            one * factor + offset
            for one, factor, offset in zip(twin.band_norm(norm, row), scale, shift, strict=True)
        ]
        for row in rows
    ]


@given(norms, banded())
@example(
    BandNorm(Fraction(1), Fraction(2), Lift.REFERENCE),
    ([[Fraction(0)] * 3], [Fraction(1)] * 3, [Fraction(0)] * 3),
)
def test_the_witness_of_band_norm_is_where_each_side_was_and_what_is_positive_in_it(norm, drawn):
    """Enough to redo the norm with additions alone."""
    rows, scale, shift = drawn
    _, sides = normalise(norm, rows, (scale, shift))
    assert len(sides) == len(rows)
    for row, pair in zip(rows, sides, strict=True):
        middle = twin.centred(row)
        for spare, (sign, branch) in enumerate(zip((1, -1), pair, strict=True)):
            side = [sign * number for number in middle]
            mass = sum(number for number in side if number > 0)
            result = twin.band_side(norm, side, spare)
            positive = tuple(place for place, number in enumerate(result) if number > 0)
            assert branch == SideBranch((mass > norm.high) - (mass < norm.low), positive)


@pytest.mark.parametrize("lift", Lift)
@pytest.mark.parametrize(
    ("mass", "position"),
    [("1/2", -1), ("999999/1000000", -1), ("1", 0), ("3/2", 0), ("2", 0), ("2000001/1000000", 1), ("5", 1)],
)
def test_the_ends_of_the_band_are_inside(mass, position, lift):
    """A row of mass exactly low or exactly high is left as it is."""
    norm, mass = BandNorm(Fraction(1), Fraction(2), lift), Fraction(mass)
    row = [mass, -mass]
    found, sides = normalise(norm, [row], ([Fraction(1)] * 2, [Fraction(0)] * 2))
    kept = min(max(mass, norm.low), norm.high)
    assert found == [[kept, -kept]]
    assert sides == ((SideBranch(position, (0,)), SideBranch(position, (1,))),)


@pytest.mark.parametrize("width", [2, 3, 5])
def test_a_row_of_equal_numbers_is_lifted_on_even_and_odd_places(width):
    """The reference's rule for a side with nothing on it, by hand: shares of the mass, then centred."""
    low = Fraction(3)
    norm = BandNorm(low, Fraction(4), Lift.REFERENCE)
    found, sides = normalise(norm, [[Fraction(7)] * width], ([Fraction(1)] * width, [Fraction(0)] * width))
    even, odd = range(0, width, 2), range(1, width, 2)
    assert found == [[low / len(even) if place in even else -low / len(odd) for place in range(width)]]
    assert sides == ((SideBranch(-1, tuple(even)), SideBranch(-1, tuple(odd))),)


def test_a_row_of_equal_numbers_is_lifted_to_zero_by_the_continuous_rule():
    """Both sides get the same shares, which cancel."""
    norm = BandNorm(Fraction(3), Fraction(4), Lift.CONTINUOUS)
    found, sides = normalise(norm, [[Fraction(7)] * 3], ([Fraction(1)] * 3, [Fraction(5)] * 3))
    assert found == [[5, 5, 5]]
    assert sides == ((SideBranch(-1, (0, 1, 2)), SideBranch(-1, (0, 1, 2))),)


def test_no_rows_are_normed_to_no_rows():
    """A node that no prompt needs."""
    for lift in Lift:
        found, sides = normalise(BandNorm(Fraction(1), Fraction(2), lift), [], ([Fraction(1)] * 2,) * 2)
        assert (found, sides) == ([], ())


def test_no_norm_leaves_rows_alone():
    """There is no gain to apply either."""
    grid = grid_of([[Fraction(1, 3)]], 1)
    assert Exact().normalise(grid, NoNorm(), (zeros(1, 1), zeros(1, 1))) is grid


def test_layer_norm_is_not_exact():
    """A standard deviation is a square root."""
    with pytest.raises(NotExactError, match="LayerNorm has no exact value; remove the norms or use BandNorm"):
        Exact().normalise(zeros(1, 2), LayerNorm(Fraction(1, 100)), (zeros(1, 2), zeros(1, 2)))


def test_witnesses_are_listed_in_the_order_of_computation():
    """A trace that somebody can follow."""
    exact = Exact()
    exact.activate(zeros(1, 1), Relu())
    exact.attention((), Attention.SPARSEMAX)
    exact.normalise(
        zeros(1, 2), BandNorm(Fraction(1), Fraction(2), Lift.REFERENCE), (zeros(1, 2), zeros(1, 2))
    )
    assert [type(witness) for witness in exact.witnesses] == [Signs, Supports, BandBranches]
