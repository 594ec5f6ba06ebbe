import struct
from fractions import Fraction
from operator import add as plus

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.arithmetic import grid as grids
from circuitproof.arithmetic.grid import (
    Grid,
    Row,
    add,
    grid_of_float32,
    grid_of_fractions,
    grid_of_rows,
    make_row,
    matmul,
    multiply,
    multiply_columns,
    rotate,
    uniform,
    zeros,
)
from circuitproof.errors import DeclarationError, NumericError

sizes = st.integers(0, 4)
exponents = st.integers(-200, 200)
denominators = st.integers(1, 12) | st.integers(1, 10**20)
entries = st.integers(-9, 9) | st.integers(-(2**62), 2**62) | st.integers(-(2**200), 2**200)
rationals = st.fractions(max_denominator=50) | st.fractions()
finite_bits = st.integers(0, 2**32 - 1).filter(lambda bits: (bits >> 23) & 0xFF != 0xFF)
SLICING = (0, 1 << 12)
"""The most products that are done plainly: with none every product is sliced."""


@st.composite
def grid_of(draw, rows=sizes, columns=sizes):
    """Draw a grid of machine integers or of Python's."""
    height, width = draw(rows), draw(columns)
    is_machine = draw(st.booleans())
    numbers = st.integers(-(2**62), 2**62) if is_machine else entries
    drawn = draw(st.lists(numbers, min_size=height * width, max_size=height * width))
    made = np.array(drawn, dtype=np.int64 if is_machine else object).reshape(height, width)
    below = draw(st.lists(denominators, min_size=height, max_size=height))
    return Grid(made, draw(exponents), tuple(below))


def values_of(grid):
    """Return the entries by the definition, cell by cell."""
    power = Fraction(2) ** grid.exponent
    return [
        [int(number) * power / below for number in row]
        for row, below in zip(grid.numbers, grid.denominators, strict=True)
    ]


def product_of(left, right):
    """Return the product of two nested lists by the definition."""
    columns = list(zip(*right, strict=True))
    return [[sum(map(Fraction.__mul__, row, column), Fraction(0)) for column in columns] for row in left]


def whole_numbers(rows):
    """Return a grid of integers."""
    return Grid(np.array(rows, dtype=object), 0, (1,) * len(rows))


@given(grid_of())
def test_fractions_are_the_entries_of_the_definition(grid):
    """Numbers, a power of two and a denominator per row: three ways to be off by one."""
    assert [list(row) for row in grid.fractions()] == values_of(grid)
    assert [list(row.fractions()) for row in grid.rows()] == values_of(grid)
    assert grid.shape == grid.numbers.shape


@pytest.mark.parametrize(
    ("numbers", "below", "found"),
    [(np.zeros(2), (1, 1), "2,"), (np.zeros((2, 1)), (1,), "2, 1"), (np.zeros((1, 1, 1)), (1,), "1, 1, 1")],
)
def test_a_grid_is_a_matrix_with_a_denominator_per_row(numbers, below, found):
    """Anything else would be broadcast silently somewhere."""
    with pytest.raises(
        DeclarationError,
        match=rf"wants a matrix and a denominator per row, got shape \({found}\) and {len(below)} denom",
    ):
        Grid(numbers, 0, below)


@given(grid_of(rows=st.integers(1, 4)), st.data())
def test_take_returns_rows_in_the_order_asked(grid, data):
    """Repeats and none at all included."""
    chosen = data.draw(st.lists(st.integers(0, grid.shape[0] - 1)))
    taken = grid.take(chosen)
    assert taken.shape == (len(chosen), grid.shape[1])
    assert values_of(taken) == [values_of(grid)[row] for row in chosen]


@given(grid_of())
def test_transposing_exchanges_rows_and_columns(grid):
    """Denominators belong to rows, so they must be made equal first."""
    turned = grid.transposed()
    assert turned.shape == grid.shape[::-1]
    assert values_of(turned) == [[row[place] for row in values_of(grid)] for place in range(grid.shape[1])]


@given(grid_of())
def test_a_uniform_grid_is_the_same_over_one_denominator(grid):
    """What a product needs of its right side."""
    even = uniform(grid)
    assert len(set(even.denominators)) <= 1
    assert values_of(even) == values_of(grid)


@given(st.lists(entries, max_size=4), exponents, denominators)
def test_a_row_holds_what_it_was_made_of(numbers, exponent, below):
    """The power of two goes up into the numbers or down into the denominator."""
    row = make_row(numbers, exponent, below)
    assert list(row.fractions()) == [number * Fraction(2) ** exponent / below for number in numbers]
    assert row.over(6).fractions() == row.fractions()
    assert row.over(6).denominator == 6 * row.denominator


@given(st.lists(st.lists(entries, min_size=3, max_size=3), max_size=4), st.data())
def test_rows_become_a_grid(rows, data):
    """Each keeps its own denominator."""
    made = [Row(tuple(row), data.draw(denominators)) for row in rows]
    grid = grid_of_rows(made, 3)
    assert grid.shape == (len(rows), 3)
    assert values_of(grid) == [list(row.fractions()) for row in made]


@given(st.lists(st.lists(rationals, min_size=2, max_size=2), max_size=4))
def test_fractions_become_a_grid(rows):
    """Reading back what was written."""
    grid = grid_of_fractions(rows, 2)
    assert grid.shape == (len(rows), 2)
    assert values_of(grid) == rows


def test_zeros_are_zeros():
    """Of any shape."""
    assert values_of(zeros(2, 3)) == [[0] * 3] * 2
    assert zeros(0, 3).shape == (0, 3)


@given(st.lists(st.lists(finite_bits, min_size=3, max_size=3), max_size=4))
def test_floats_are_read_to_the_last_bit(rows):
    """Whatever the bits: subnormals, minus zero, the smallest beside the largest."""
    grid = grid_of_float32(np.array(rows, dtype=np.uint32).reshape(len(rows), 3))
    assert grid.shape == (len(rows), 3)
    assert values_of(grid) == [[decoded(bits) for bits in row] for row in rows]


def decoded(bits):
    """Return the value of an FP32 bit pattern, by another decoder."""
    return Fraction(struct.unpack("<f", struct.pack("<I", bits))[0])


@pytest.mark.parametrize(
    ("bits", "value"),
    [
        (0x0000_0001, Fraction(1, 2**149)),
        (0x8000_0001, -Fraction(1, 2**149)),
        (0x007F_FFFF, Fraction(2**23 - 1, 2**149)),
        (0x0080_0000, Fraction(1, 2**126)),
        (0x7F7F_FFFF, Fraction((2**24 - 1) * 2**104)),
        (0xFF7F_FFFF, -Fraction((2**24 - 1) * 2**104)),
        (0x8000_0000, Fraction(0)),
        (0x3F80_0000, Fraction(1)),
    ],
)
def test_the_ends_of_the_float_range_are_exact(bits, value):
    """Written out by hand: least and largest, subnormal and normal, and minus zero, which is zero."""
    assert grid_of_float32(np.array([[bits]], dtype=np.uint32)).fractions() == ((value,),)


@pytest.mark.parametrize("gap", [0, 37, 38, 39, 40, 253])
def test_machine_integers_are_left_where_they_would_overflow(gap):
    """Exponents that lie far apart need more than 64 bits; 38 binary places are the last that fit."""
    bits = np.array([[(1 << 23) | 0x7F_FFFF, ((1 + gap) << 23) | 0x7F_FFFF, 0x8000_0000]], dtype=np.uint32)
    grid = grid_of_float32(bits)
    assert (grid.numbers.dtype == object) == (gap > 38)
    assert values_of(grid) == [[decoded(int(one)) for one in bits[0]]]


@pytest.mark.parametrize("bits", [0x7F80_0000, 0xFF80_0000, 0x7FC0_0000, 0x7F80_0001, 0xFFFF_FFFF])
def test_what_is_no_number_is_refused(bits):
    """NaN of any payload and both infinities."""
    with pytest.raises(NumericError, match="a weight is NaN or infinite"):
        grid_of_float32(np.array([[0, bits]], dtype=np.uint32))


def test_no_floats_give_an_empty_grid():
    """A node that no prompt needs reads no rows."""
    assert grid_of_float32(np.zeros((0, 3), dtype=np.uint32)).shape == (0, 3)


@st.composite
def pairs(draw):
    """Draw two grids that can be added: of one shape, or one of them a single row."""
    width = st.just(draw(sizes))
    height = draw(sizes)
    heights = draw(st.sampled_from([(height, height), (height, 1), (1, height)]))
    return tuple(draw(grid_of(st.just(one), width)) for one in heights)


@given(st.data(), st.integers(1, 3), st.integers(1, 2), st.integers(0, 2), st.booleans())
def test_a_rotation_turns_pairs_of_coordinates_and_leaves_the_rest(data, count, half, rest, single):
    """By the definition, entry by entry; one row of the tables serves all."""
    grid = data.draw(grid_of(st.just(count), st.just(2 * half + rest)))
    height = st.just(1 if single else count)
    cosines, sines = (data.draw(grid_of(height, st.just(half))) for _ in range(2))
    wanted = []
    for place, row in enumerate(values_of(grid)):
        cos, sin = (values_of(table)[0 if single else place] for table in (cosines, sines))
        first = [row[m] * cos[m] - row[m + half] * sin[m] for m in range(half)]
        second = [row[m + half] * cos[m] + row[m] * sin[m] for m in range(half)]
        wanted.append([*first, *second, *row[2 * half :]])
    assert values_of(rotate(grid, cosines, sines)) == wanted


@given(pairs())
def test_a_sum_is_entrywise_and_a_single_row_goes_to_every_row(grids_to_add):
    """With other exponents and other denominators on the two sides."""
    left, right = grids_to_add
    count = left.shape[0] if right.shape[0] == 1 else right.shape[0]
    first, second = (values_of(one) * (count if one.shape[0] == 1 else 1) for one in (left, right))
    total = add(left, right)
    assert total.shape == (count, left.shape[1])
    assert values_of(total) == [list(map(plus, a, b)) for a, b in zip(first, second, strict=True)]


@pytest.mark.parametrize(
    ("left", "right"),
    [((2, 3), (3, 3)), ((2, 3), (2, 2)), ((2, 3), (1, 1)), ((1, 1), (2, 3)), ((0, 3), (2, 3))],
)
def test_shapes_that_do_not_fit_are_not_added(left, right):
    """A single number is not spread over a row: a bias of the wrong width is a mistake."""
    with pytest.raises(DeclarationError) as caught:
        add(zeros(*left), zeros(*right))
    assert str(caught.value) == f"cannot add grids of shapes {left} and {right}"


@given(grid_of(), rationals)
def test_multiplying_by_a_rational_multiplies_every_entry(grid, factor):
    """Zero and negative factors too."""
    assert values_of(multiply(grid, factor)) == [[entry * factor for entry in row] for row in values_of(grid)]


@given(
    sizes.flatmap(
        lambda width: st.tuples(grid_of(sizes, st.just(width)), grid_of(st.just(1), st.just(width)))
    )
)
def test_columns_are_multiplied_by_the_entries_of_a_row(drawn):
    """The scale of a norm."""
    grid, factors = drawn
    (by,) = values_of(factors)
    wanted = [list(map(Fraction.__mul__, row, by)) for row in values_of(grid)]
    assert values_of(multiply_columns(grid, factors)) == wanted


@pytest.mark.parametrize("shape", [(2, 3), (1, 1), (1, 2), (0, 3)])
def test_columns_are_multiplied_only_by_a_row_of_their_number(shape):
    """Numpy would spread or misread the others."""
    with pytest.raises(DeclarationError) as caught:
        multiply_columns(zeros(2, 3), zeros(*shape))
    assert str(caught.value) == f"cannot multiply columns of shape (2, 3) by shape {shape}"


@st.composite
def factor_pairs(draw):
    """Draw two grids that can be multiplied, empty ones included."""
    inner = st.just(draw(sizes))
    return draw(grid_of(sizes, inner)), draw(grid_of(inner, sizes))


@pytest.mark.parametrize("most", SLICING, ids=["digits", "plain"])
@given(factors=factor_pairs())
def test_a_product_is_that_of_fractions(most, factors):
    """The law, on either path."""
    left, right = factors
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grids, "_PLAIN_PRODUCTS", most)
        product = matmul(left, right)
    assert product.shape == (left.shape[0], right.shape[1])
    wanted = (
        product_of(values_of(left), values_of(right)) if right.shape[0] else values_of(zeros(*product.shape))
    )
    assert values_of(product) == wanted


def extremes(width):
    """Return the numbers next to the boundaries of digits."""
    places = (0, 1, width - 1, width, width + 1, 2 * width - 1, 2 * width, 3 * width)
    powers = {2**place for place in places}
    return sorted({sign * (power + off) for power in powers for off in (-1, 0, 1) for sign in (-1, 1)})


@pytest.mark.parametrize("inner", [1, 2, 3, 4, 7, 768, 3072])
@pytest.mark.parametrize("kind", [np.int64, object])
def test_products_are_exact_next_to_the_boundaries_of_slices(inner, kind, monkeypatch):
    """Where a digit is full, where a new one begins, and where the sign of the last digit borrows."""
    monkeypatch.setattr(grids, "_PLAIN_PRODUCTS", 0)
    numbers = [n for n in extremes(22) if kind is object or abs(n) < 2**62]
    left = np.array([[one] * inner for one in numbers], dtype=kind)
    product = matmul(Grid(left, 0, (1,) * len(numbers)), Grid(left.T, 0, (1,) * inner))
    assert product.numbers.tolist() == [[inner * one * other for other in numbers] for one in numbers]


@pytest.mark.parametrize("inner", [1, 768, 1023, 3072])
@pytest.mark.parametrize("bits", [24, 53, 61, 300])
def test_the_largest_digits_of_both_signs_add_up_exactly(inner, bits, monkeypatch):
    """Alternating signs and full digits: every partial sum of FP64 must be an integer it can hold."""
    monkeypatch.setattr(grids, "_PLAIN_PRODUCTS", 0)
    full = 2**bits - 1
    left = [[full - place % 3 if place % 2 else -full for place in range(inner)], [-full] * inner]
    right = [[full - place % 5, -(2 ** (bits - 1)) - place % 2] for place in range(inner)]
    product = matmul(whole_numbers(left), whole_numbers(right))
    columns = list(zip(*right, strict=True))
    assert product.numbers.tolist() == [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in left
    ]


@pytest.mark.parametrize("seed", range(4))
def test_a_product_of_floats_at_full_width_is_exact(seed):
    """FP32 weights as they are read, 768 and 3,072 wide, large enough to be sliced without being asked."""
    draw = np.random.default_rng(seed)
    inner = (768, 3072)[seed % 2]
    left, right = (
        grid_of_float32(
            (draw.standard_normal(shape) * 2.0 ** draw.integers(-9, 9, shape)).astype("<f4").view("<u4")
        )
        for shape in ((3, inner), (inner, 3))
    )
    assert left.numbers.size * 3 > SLICING[1]
    assert values_of(matmul(left, right)) == product_of(values_of(left), values_of(right))


@pytest.mark.parametrize("bits", [(27_000, 27_000), (60_000, 60_000), (60_000, 24), (24, 60_000)])
def test_numbers_with_very_many_digits_do_not_overflow_the_sum_of_products(bits, monkeypatch):
    """A thousand sums of products no longer fit a machine integer; then Python multiplies."""
    monkeypatch.setattr(grids, "_PLAIN_PRODUCTS", 0)
    one, other = (2**size - 1 for size in bits)
    assert matmul(whole_numbers([[one]]), whole_numbers([[-other]])).numbers.tolist() == [[-one * other]]


def test_shapes_that_do_not_fit_are_not_multiplied():
    """The inner sizes must be the same."""
    with pytest.raises(DeclarationError, match=r"cannot multiply grids of shapes \(2, 3\) and \(2, 3\)"):
        matmul(zeros(2, 3), zeros(2, 3))
