"""Random programs and prompts, small enough that rules overlap, match and fail to match."""

from fractions import Fraction

from hypothesis import strategies as st

from circuitproof.programs.syntax import (
    TOKEN_FEATURES,
    Comparison,
    Condition,
    Feature,
    Otherwise,
    Program,
    Rule,
)

EQUALITIES = (Comparison.EQUAL, Comparison.UNEQUAL)

numbers = st.one_of(st.integers(0, 6), st.integers(0, 60_000))
members = st.sets(numbers, min_size=1, max_size=4).map(lambda chosen: tuple(sorted(chosen)))
weights = st.one_of(
    st.just(Fraction(0)), st.integers(0, 3).map(Fraction), st.fractions(0, 5, max_denominator=12)
)
prompts = st.lists(st.integers(0, 5), min_size=1, max_size=8).map(tuple)


def _scalar_conditions(feature):
    allowed = EQUALITIES if feature in TOKEN_FEATURES else tuple(set(Comparison) - {Comparison.AMONG})
    return st.builds(Condition, st.just(feature), st.sampled_from(sorted(allowed)), numbers)


compared = sorted(set(Feature) - {Feature.TOKEN_MATCH})
conditions = st.one_of(
    st.builds(Condition, st.just(Feature.TOKEN_MATCH), st.sampled_from(EQUALITIES), st.booleans()),
    st.builds(Condition, st.sampled_from(compared), st.just(Comparison.AMONG), members),
    st.sampled_from(compared).flatmap(_scalar_conditions),
)
rules = st.builds(Rule, weights, st.lists(conditions, max_size=3).map(tuple))
programs = st.builds(Program, weights, st.lists(rules, max_size=4).map(tuple), st.sampled_from(Otherwise))
