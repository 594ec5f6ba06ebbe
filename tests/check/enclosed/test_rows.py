"""Rows of enclosed numbers: the integers of the table, and balls that hold what they say."""

import math
import random
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import enclosed_twin as twin
from circuitproof_check.enclosed import rows
from circuitproof_check.enclosed.maps import TOGETHER, AffineMap
from circuitproof_check.enclosed.rows import KeyScores, RowBall
from circuitproof_check.exact import from_fractions

PRECISIONS = st.sampled_from([16, 23, 64, 150])
FLOATS = st.one_of(
    st.floats(-8, 8, width=32), st.floats(width=32, allow_nan=False, allow_infinity=False)
).map(Fraction)


def midpoints(width: int, bits: int = 90):
    """Return integers, small and large."""
    return st.lists(st.integers(-(1 << bits), 1 << bits) | st.integers(-9, 9), min_size=width, max_size=width)


RADII = st.integers(0, 5) | st.integers(0, 1 << 80)


@settings(deadline=None)
@given(st.data(), PRECISIONS, st.integers(1, 4), st.integers(1, 3))
def test_an_affine_map_of_many_rows_is_that_of_each(data, precision, width, height):
    """Signs, fields of every length, weights from 2^-149 to 2^127, and more rows than are packed together."""
    count = data.draw(st.sampled_from([1, 2, TOGETHER + 3]))
    numbers = data.draw(st.lists(FLOATS, min_size=width * height, max_size=width * height))
    bias = data.draw(st.none() | st.lists(FLOATS, min_size=height, max_size=height))
    chance = random.Random(data.draw(st.integers(0, 99)))  # noqa: S311  # rows, not keys
    found = [
        (
            [chance.randint(-(1 << 90), 1 << chance.randint(1, 90)) for _ in range(width)],
            chance.randint(0, 99),
        )
        for _ in range(count)
    ]
    made = AffineMap(
        from_fractions(numbers), width, None if bias is None else from_fractions(bias), precision
    )
    images = made.apply([RowBall(tuple(one), radius) for one, radius in found])
    matrix = [numbers[start : start + width] for start in range(0, len(numbers), width)]
    for row, image in zip(found, images, strict=True):
        assert (list(image.midpoints), image.radius) == twin.image(matrix, bias, row, precision)


@given(st.data(), PRECISIONS, st.integers(1, 6))
def test_a_layer_norm_is_that_of_the_table(data, precision, width):
    """With any spread, radius, epsilon, scale and shift."""
    numbers, radius = data.draw(midpoints(width)), data.draw(RADII)
    epsilon = data.draw(st.sampled_from([Fraction(1, 10**5), Fraction(7, 3), Fraction(1, 10**3)]))
    scale, shift = (data.draw(st.lists(FLOATS, min_size=width, max_size=width)) for _ in range(2))
    vectors = from_fractions(scale), from_fractions(shift)
    found = rows.layer_normed(RowBall(tuple(numbers), radius), epsilon, *vectors, precision)
    wanted = twin.layer_norm((numbers, radius), epsilon, scale, shift, precision)
    assert (list(found.midpoints), found.radius) == wanted


@given(st.data(), st.integers(1, 3), st.integers(0, 2))
def test_a_rotation_is_that_of_the_table(data, half, rest):
    """Also by tables that are no cosines and sines."""
    numbers, radius = data.draw(midpoints(2 * half + rest)), data.draw(RADII)
    cosines, sines = (data.draw(st.lists(FLOATS, min_size=half, max_size=half)) for _ in range(2))
    found = rows.rotated(RowBall(tuple(numbers), radius), from_fractions(cosines), from_fractions(sines))
    assert (list(found.midpoints), found.radius) == twin.rotation((numbers, radius), cosines, sines)


@given(st.data(), PRECISIONS, st.integers(1, 5))
def test_weights_of_keys_are_those_of_the_table(data, precision, count):
    """Near each other, far apart, and equal."""
    near = st.integers(-(4 << precision), 4 << precision)
    scores = data.draw(st.lists(near | st.integers(-3, 3), min_size=count, max_size=count))
    off = data.draw(RADII)
    for mine, other in ((rows.softmax, twin.softmax), (rows.sparsemax, twin.sparsemax)):
        found = mine(KeyScores(tuple(scores), off), precision)
        assert (list(found.midpoints), found.off) == other(scores, off, precision)


@given(st.data(), st.integers(1, 4), st.integers(0, 4))
def test_a_mix_is_that_of_the_table(data, width, count):
    """Of none, zeros without a radius."""
    found = [(data.draw(midpoints(width)), data.draw(RADII)) for _ in range(count)]
    weights = [data.draw(st.fractions(-3, 3, max_denominator=20)) for _ in range(count)]
    mixed = rows.mix(weights, [RowBall(tuple(one), radius) for one, radius in found], width)
    assert (list(mixed.midpoints), mixed.radius) == twin.mix(weights, found, width)


@given(st.data(), PRECISIONS, st.integers(1, 4))
def test_a_row_of_a_tensor_has_a_radius_just_where_it_was_rounded(data, precision, width):
    """A weight that is a multiple of the unit stays as it is."""
    numbers = data.draw(st.lists(FLOATS, min_size=width, max_size=width))
    found = rows.of_tensor(from_fractions(numbers), precision)
    assert (list(found.midpoints), found.radius) == twin.of_tensor(numbers, precision)


def in_ball(numbers: list[int], radius: int, chance: random.Random) -> list:
    """Return a point near the surface of a ball, in units: along an axis, a diagonal, or anywhere."""
    kind = chance.randrange(3)
    place = chance.randrange(len(numbers))
    steps = [
        [chance.gauss(0, 1), float(at == place), chance.choice([-1.0, 1.0])][kind]
        for at in range(len(numbers))
    ]
    size = math.hypot(*steps) * (1 + 1e-9)
    return [
        mpmath.mpf(one) + radius * mpmath.mpf(step) / size for one, step in zip(numbers, steps, strict=True)
    ]


def distance(numbers, values):
    """Return how far a row is from what it stands for."""
    pairs = zip(numbers, values, strict=True)
    return mpmath.sqrt(sum((mpmath.mpf(one) - value) ** 2 for one, value in pairs))


@pytest.mark.parametrize("seed", range(150))
def test_a_ball_holds_the_image_of_every_point_of_the_ball_before(seed):
    """The table's radii are enough: points near the surface, with few bits and large radii, were tried."""
    chance = random.Random(seed)  # noqa: S311  # rows, not keys
    p, width = chance.choice([16, 20, 30]), chance.randint(2, 5)
    unit, spread = 1 << p, 10 ** chance.uniform(-4, 1)
    numbers = [int(chance.gauss(0, spread) * unit) for _ in range(width)]
    radius = chance.choice([0, 1, chance.randrange(1, unit // 50), chance.randrange(1, unit)])
    with mpmath.workdps(60):
        point = in_ball(numbers, radius, chance)
        row = RowBall(tuple(numbers), radius)
        scale, shift = [chance.randint(-9, 9) for _ in range(width)], [chance.randint(-9, 9)] * width
        epsilon = Fraction(1, 10**5)
        vectors = from_fractions(list(map(Fraction, scale))), from_fractions(list(map(Fraction, shift)))
        normed = rows.layer_normed(row, epsilon, *vectors, p)
        mean = sum(point) / width
        deviation = mpmath.sqrt(sum((x - mean) ** 2 for x in point) / width / unit**2 + mpmath.mpf(10) ** -5)
        values = [(x - mean) / deviation * a + b * unit for x, a, b in zip(point, scale, shift, strict=True)]
        assert distance(normed.midpoints, values) <= normed.radius
        for form in ("tanh", "exact"):
            bent = rows.activated(row, f"gelu {form}", p)
            assert distance(bent.midpoints, [unit * gelu(form, x / unit) for x in point]) <= bent.radius


def gelu(form: str, x):
    """Return a form of GELU."""
    if form == "tanh":
        c, a = mpmath.mpf("0.7978845608028654"), mpmath.mpf("0.044715")
        return x / 2 * (1 + mpmath.tanh(c * (x + a * x**3)))
    return x / 2 * (1 + mpmath.erf(x / mpmath.sqrt(2)))


@pytest.mark.parametrize("seed", range(150))
def test_attention_holds_what_moved_queries_keys_and_values_give(seed):
    """The query anywhere in its ball, each key moved along it, each value anywhere."""
    chance = random.Random(seed)  # noqa: S311  # rows, not keys
    p, width, count = chance.choice([16, 20, 30]), chance.randint(1, 4), chance.randint(1, 5)
    unit, scale = 1 << p, Fraction(chance.randint(1, 30), 8)

    def drawn() -> RowBall:
        numbers = tuple(int(chance.gauss(0, 1) * unit) for _ in range(width))
        return RowBall(numbers, chance.choice([0, 1, chance.randrange(1, unit // 100)]))

    query, keys, values = drawn(), [drawn() for _ in range(count)], [drawn() for _ in range(count)]
    with mpmath.workdps(60):
        asked = in_ball(list(query.midpoints), query.radius, chance)
        length = mpmath.sqrt(sum(x * x for x in asked)) * (1 + mpmath.mpf(10) ** -9)
        scores = []
        for key in keys:
            turn = chance.choice([-1, 1]) * key.radius / length
            moved = [one + turn * x for one, x in zip(key.midpoints, asked, strict=True)]
            product = sum(a * b for a, b in zip(moved, asked, strict=True))
            scores.append(mpmath.mpf(scale.numerator) / scale.denominator * product / unit**2)
        read = [in_ball(list(value.midpoints), value.radius, chance) for value in values]
        known = rows.scores(query, keys, scale, p)
        for share, weights in ((rows.softmax, softmax(scores)), (rows.sparsemax, sparsemax(scores))):
            shares = share(known, p)
            pairs = zip(shares.midpoints, weights, strict=True)
            assert sum(abs(unit * weight - one) for one, weight in pairs) <= shares.off
            mixed = rows.weighted(shares, values, p, width)
            true = [sum(a * row[at] for a, row in zip(weights, read, strict=True)) for at in range(width)]
            assert distance(mixed.midpoints, true) <= mixed.radius


def softmax(scores):
    """Return the weights of scores."""
    raised = [mpmath.exp(score - max(scores)) for score in scores]
    return [one / sum(raised) for one in raised]


def sparsemax(scores):
    """Return the point of the simplex nearest to scores."""
    ordered = sorted(scores, reverse=True)
    cuts = [(sum(ordered[:count]) - 1) / count for count in range(1, len(scores) + 1)]
    return [max(score - max(cuts), mpmath.mpf(0)) for score in scores]
