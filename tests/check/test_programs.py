"""Programs as the checker reads them, against their lines evaluated as Python."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bundle_maker as maker
from circuitproof_check.programs import parse_program
from circuitproof_check.reading import ForgedError

FEATURES = (
    "key_position",
    "query_position",
    "relative_distance",
    "absolute_distance",
    "key_token",
    "query_token",
)
MATCHES = (
    "token_match",
    "not token_match",
    "token_match == true",
    "token_match != true",
    "token_match == false",
    "token_match != false",
)
small = st.integers(0, 4)
conditions = (
    st.builds(
        "{} {} {}".format,
        st.sampled_from(FEATURES),
        st.sampled_from(["==", "!=", "<", "<=", ">", ">="]),
        small,
    )
    | st.builds("{} in {{{}, {}}}".format, st.sampled_from(FEATURES), small, small)
    | st.sampled_from(MATCHES)
)
weights = st.sampled_from(["0", "1", "1/2", "7/3"])
rules = st.builds(
    lambda weight, parts: f"add {weight}" + (f" when {' and '.join(parts)}" if parts else ""),
    weights,
    st.lists(conditions, max_size=3),
)
programs = st.builds(
    lambda default, middle, last: [f"default {default}", *middle, f"otherwise {last}"],
    weights,
    st.lists(rules, max_size=3),
    st.sampled_from(["self", "nowhere"]),
)


@given(programs, st.lists(small, min_size=1, max_size=5))
def test_a_row_is_that_of_the_slow_twin(lines, prompt):
    """Every feature, comparison, match and fallback."""
    program = parse_program(lines, "here")
    for query in range(len(prompt)):
        assert list(program.row(prompt, query)) == maker.naive_row(lines, prompt, query)


def test_a_row_without_weight_attends_to_itself_or_nowhere():
    """The last line says which; it is never implicit."""
    assert parse_program(["default 0", "otherwise self"], "here").row([7, 7], 1) == (0, 1)
    assert parse_program(["default 0", "otherwise nowhere"], "here").row([7, 7], 1) == (0, 0)


def test_a_row_is_divided_by_its_sum():
    """The default counts at every key."""
    lines = ["default 1", "add 1/2 when key_token in {3} and relative_distance >= 1", "otherwise self"]
    assert parse_program(lines, "here").row([3, 4], 1) == (Fraction(3, 5), Fraction(2, 5))


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["default 1"],
        ["default x", "otherwise self"],
        ["default -1", "otherwise self"],
        ["default 0.5", "otherwise self"],
        ["defaults 1", "otherwise self"],
        ["default 1", "otherwise"],
        ["default 1", "otherwise here"],
        ["default 1", "otherwise self", "add 1"],
        ["default 1", "add 1 if token_match", "otherwise self"],
        ["default 1", "add 1 when", "otherwise self"],
        ["default 1", "add 1 when token_match and", "otherwise self"],
        ["default 1", "add 1 when token_match < true", "otherwise self"],
        ["default 1", "add 1 when key_colour == 1", "otherwise self"],
        ["default 1", "add 1 when key_token == x", "otherwise self"],
        ["default 1", "add 1 when key_token in {}", "otherwise self"],
        ["default 1", "add 1/0", "otherwise self"],
        ["default 1", "add 1 # comment", "otherwise self"],
    ],
    ids=str,
)
def test_what_is_not_a_program_is_refused(lines):
    """A line that is not understood must not be a line that does nothing."""
    with pytest.raises(ForgedError):
        parse_program(lines, "here")
