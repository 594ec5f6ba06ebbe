from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.arithmetic.exact import Exact
from circuitproof.arithmetic.grid import grid_of_fractions
from circuitproof.models.operators import Attention, BandNorm, LeakyRelu, Lift, Relu
from circuitproof.solvers.assertions import AssertionLog, AssertionSource
from circuitproof.solvers.pieces import Pieces, Unknowns, comparators
from definitions import conditions_hold, solved, unknown_row
from term_values import is_true, value_of
from twin import band_norm, bend, sparsemax

coarse = st.fractions(-3, 3, max_denominator=2)
rows = st.lists(coarse, min_size=2, max_size=4)
pairs = st.lists(st.tuples(coarse, coarse), min_size=2, max_size=4).map(
    lambda both: tuple(zip(*both, strict=True))
)
lifts = st.sampled_from(Lift)
NORM = {lift: BandNorm(Fraction(1), Fraction(2), lift) for lift in Lift}


def pieces(count, unknowns=Unknowns.DEFINED):
    """Return the operators over new variables, the variables, and the same as sums."""
    log = AssertionLog()
    names, sums = unknown_row(log.terms, count)
    return Pieces(log.group(AssertionSource.NORM), unknowns), names, sums


def outputs(made, sums, names, values):
    """Return the values of sums when the inputs have these values."""
    known = solved(made.group.log, dict(zip(names, values, strict=True)))
    return [value_of(one, known) for one in sums], known


@given(rows)
def test_sparsemax_with_every_branch_kept_is_sparsemax(values):
    """The sorting network and the sort formula say the same as sorting."""
    made, names, sums = pieces(len(values))
    found, _ = outputs(made, made.sparsemax(sums, None), names, values)
    assert found == sparsemax(values)


@given(rows, lifts)
def test_bandnorm_with_every_branch_kept_is_bandnorm(values, lift):
    """Both lifts, the empty side and masses on the edge of the band included."""
    made, names, sums = pieces(len(values))
    found, _ = outputs(made, made.band(sums, NORM[lift], None), names, values)
    assert found == band_norm(NORM[lift], values)


@given(coarse)
def test_rectify_with_every_branch_kept_bends_at_zero(number):
    """LeakyReLU and, with slope zero, ReLU."""
    for activation, slope in ((LeakyRelu(Fraction(1, 4)), Fraction(1, 4)), (Relu(), Fraction(0))):
        made, names, (value,) = pieces(1)
        found, _ = outputs(made, [made.rectify(value, slope, None)], names, [number])
        assert found == [bend(activation, number)]


@given(pairs)
def test_a_traced_sparsemax_holds_at_its_trace_and_is_right_wherever_its_conditions_hold(both):
    """A certificate's region may end early, but inside it the linear outputs are the operator's."""
    values, others = both
    (support,) = traced(values, sparse).supports
    made, names, sums = pieces(len(values))
    weights = made.sparsemax(sums, support)
    found, known = outputs(made, weights, names, values)
    assert found == sparsemax(values)
    assert conditions_hold(made.group.log, known)
    found, known = outputs(made, weights, names, others)
    assert not conditions_hold(made.group.log, known) or found == sparsemax(others)


@given(pairs, lifts)
def test_a_traced_bandnorm_holds_at_its_trace_and_is_right_wherever_its_conditions_hold(both, lift):
    """The reference lift jumps, so its region must leave out the points where another branch begins."""
    values, others = both
    one, zero = ([[Fraction(number)] * len(values)] for number in (1, 0))
    gain = tuple(grid_of_fractions(row, len(values)) for row in (one, zero))
    (sides,) = traced(values, lambda exact, grid: exact.normalise(grid, NORM[lift], gain)).sides
    made, names, sums = pieces(len(values))
    banded = made.band(sums, NORM[lift], sides)
    found, known = outputs(made, banded, names, values)
    assert found == band_norm(NORM[lift], values)
    assert conditions_hold(made.group.log, known)
    found, known = outputs(made, banded, names, others)
    assert not conditions_hold(made.group.log, known) or found == band_norm(NORM[lift], others)


@pytest.mark.parametrize("sign", [-1, 0, 1])
def test_a_traced_sign_is_a_condition(sign):
    """At zero both branches are right, so zero belongs to each."""
    made, names, (value,) = pieces(1)
    bent = made.rectify(value, Fraction(1, 2), sign)
    for number in (-2, 0, 2):
        (found,), known = outputs(made, [bent], names, [Fraction(number)])
        assert conditions_hold(made.group.log, known) == (number <= 0 if sign < 0 else number >= 0)
        assert found == (Fraction(number, 2) if sign < 0 else number)


def sparse(exact, grid):
    """Run sparsemax on the only row."""
    return exact.attention(tuple(grid.rows()), Attention.SPARSEMAX)


def traced(values, run):
    """Return the branches that exact numbers take."""
    exact = Exact()
    run(exact, grid_of_fractions([values], len(values)))
    return exact.witnesses[0]


@given(rows, st.fractions(-1, 1, max_denominator=4))
def test_an_implied_threshold_can_only_be_the_right_one(values, wrong):
    """With the operator's own numbers everything asserted holds, and no other output fits the sums."""
    made, names, sums = pieces(len(values), Unknowns.IMPLIED)
    weights = made.sparsemax(sums, None)
    log = made.group.log
    cut = next(one for one in log.owners)
    best = max(value - weight for value, weight in zip(values, sparsemax(values), strict=True) if weight)
    known = {**dict(zip(names, values, strict=True)), cut: best}
    assert [value_of(one, complete(log, known)) for one in weights] == sparsemax(values)
    assert holds(log, complete(log, known))
    assert wrong == 0 or not holds(log, complete(log, {**known, cut: best + wrong}))


def complete(log, known):
    """Return values for all variables whose definition follows from `known`, right or not."""
    values = dict(known)
    for group in log.groups:
        for assertion in group.assertions:
            parts = getattr(getattr(assertion.formula, "value", None), "parts", ())
            new = [atom for atom, _ in parts if atom in log.owners and atom not in values]
            if len(new) == 1:
                rest = value_of(assertion.formula.value, {**values, new[0]: Fraction(0)})
                values[new[0]] = -rest / dict(parts)[new[0]]
    return values


def holds(log, values):
    """Say whether everything asserted is true under values."""
    return all(is_true(one.formula, values) for group in log.groups for one in group.assertions)


@pytest.mark.parametrize("count", range(1, 9))
def test_the_network_sorts(count):
    """It is enough to sort zeros and ones."""
    for bits in product((0, 1), repeat=count):
        values = list(bits)
        for left, right in comparators(count):
            values[left], values[right] = max(values[left], values[right]), min(values[left], values[right])
        assert values == sorted(bits, reverse=True)
