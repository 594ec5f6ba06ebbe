from fractions import Fraction
from itertools import combinations, product

from hypothesis import given
from hypothesis import strategies as st

from circuitproof.arithmetic.linear import Constraint, Infeasible, Programme, minimise

numbers = st.integers(-4, 4)
widths = st.integers(1, 3)


@st.composite
def programmes(draw, width=widths):
    """Draw a small programme; ties and degenerate corners are common among such small numbers."""
    size = draw(width)
    row = st.tuples(*[numbers] * (size + 1))
    rows = draw(st.lists(st.builds(Constraint, row, st.booleans()), max_size=4))
    ends = draw(st.tuples(*[st.tuples(st.integers(-2, 0), st.integers(0, 2))] * size))
    return Programme(draw(row), tuple(rows), ends)


def value(row, point):
    """Return an affine function at a point."""
    return row[0] + sum((a * x for a, x in zip(row[1:], point, strict=True)), Fraction(0))


def least_on_box(row, ends):
    """Return the least value of an affine function on a box."""
    return row[0] + sum(min(a * low, a * high) for a, (low, high) in zip(row[1:], ends, strict=True))


def is_feasible(programme, point):
    """Say whether a point meets the constraints and lies in the box."""
    meets = all(
        value(c.numbers, point) == 0 if c.is_equality else value(c.numbers, point) <= 0
        for c in programme.constraints
    )
    return meets and all(low <= x <= high for x, (low, high) in zip(point, programme.ends, strict=True))


def combined(programme, weights, objective):
    """Return the objective plus the weighted constraints."""
    rows = [
        (objective, Fraction(1)),
        *((c.numbers, w) for c, w in zip(programme.constraints, weights, strict=True)),
    ]
    return [sum((row[k] * w for row, w in rows), Fraction(0)) for k in range(len(objective))]


@given(programmes())
def test_weights_and_point_show_the_optimum(programme):
    """No trust in the method is needed: the answer carries its own proof, whichever it is."""
    found = minimise(programme)
    pairs = zip(programme.constraints, found.weights, strict=True)
    assert all(weight >= 0 or constraint.is_equality for constraint, weight in pairs)
    if isinstance(found, Infeasible):
        nothing = (0,) * len(programme.objective)
        assert least_on_box(combined(programme, found.weights, nothing), programme.ends) > 0
        return
    assert is_feasible(programme, found.point)
    assert value(programme.objective, found.point) == found.value
    assert (
        least_on_box(combined(programme, found.weights, programme.objective), programme.ends) == found.value
    )


def corners(programme):
    """Walk all points where as many lines as there are variables meet: Cramer's rule in the plane."""
    lines = [c.numbers for c in programme.constraints]
    for place, (low, high) in enumerate(programme.ends):
        unit = tuple(int(place == other) for other in range(2))
        lines += [(-low, *unit), (-high, *unit)]
    for (c1, a1, b1), (c2, a2, b2) in combinations(lines, 2):
        if det := a1 * b2 - a2 * b1:
            yield Fraction(b1 * c2 - b2 * c1, det), Fraction(a2 * c1 - a1 * c2, det)


@given(programmes(width=st.just(2)))
def test_the_slow_twin_tries_every_corner(programme):
    """In the plane the optimum is at a corner, and there are few."""
    points = [point for point in corners(programme) if is_feasible(programme, point)]
    points += [p for p in product(*programme.ends) if is_feasible(programme, tuple(map(Fraction, p)))]
    found = minimise(programme)
    if isinstance(found, Infeasible):
        assert not points
    else:
        assert found.value == min(value(programme.objective, point) for point in points)


def test_a_programme_without_constraints_is_solved_by_the_ends():
    """Each variable goes where the objective likes it."""
    found = minimise(Programme((1, 2, -3), (), ((-1, 1), (0, 5))))
    assert (found.value, found.point, found.weights) == (1 - 2 - 15, (-1, 5), ())
