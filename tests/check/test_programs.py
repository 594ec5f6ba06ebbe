"""Programs as the checker reads them, against their lines evaluated as Python."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bundle_maker as maker
from circuitproof.programs.text import to_text
from circuitproof_check.main import Outcome, check
from circuitproof_check.programs import parse_program
from circuitproof_check.reading import ForgedError
from program_strategies import programs as declared_programs
from program_strategies import prompts
from program_twin import dense_row

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
    st.builds("{} {} {}".format, st.sampled_from(FEATURES), st.sampled_from(["==", "!="]), small)
    | st.builds(
        "{} {} {}".format, st.sampled_from(FEATURES[:4]), st.sampled_from(["<", "<=", ">", ">="]), small
    )
    | st.builds("{} in {{{}, {}}}".format, st.sampled_from(FEATURES), small, st.integers(5, 9))
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
    program = parse_program(lines, "here", 10**18)
    for query in range(len(prompt)):
        assert list(program.row(prompt, query)) == maker.naive_row(lines, prompt, query)


@given(declared_programs, prompts)
def test_a_row_of_the_whole_language_is_that_of_the_definition(program, prompt):
    """Scans, counts, brackets and parentheses, in the text that a bundle carries."""
    judged = parse_program(to_text(program).splitlines(), "here", 10**18)
    for query in range(len(prompt)):
        assert list(judged.row(prompt, query)) == dense_row(program, prompt, query)


def test_blanks_and_parentheses_that_change_nothing_are_read():
    """A bundle may be written by another hand."""
    lines = ["default 0", "add 1 when ((key_token==3)) and(  key_position<2 )", "otherwise self"]
    assert parse_program(lines, "here", 10**18).row([3, 3, 3], 2) == (Fraction(1, 2), Fraction(1, 2), 0)


def test_a_row_without_weight_attends_to_itself_or_nowhere():
    """The last line says which; it is never implicit."""
    assert parse_program(["default 0", "otherwise self"], "here", 9).row([7, 7], 1) == (0, 1)
    assert parse_program(["default 0", "otherwise nowhere"], "here", 9).row([7, 7], 1) == (0, 0)


def test_a_row_is_divided_by_its_sum():
    """The default counts at every key."""
    lines = ["default 1", "add 1/2 when key_token in {3} and relative_distance >= 1", "otherwise self"]
    assert parse_program(lines, "here", 10**18).row([3, 4], 1) == (Fraction(3, 5), Fraction(2, 5))


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
        ["default 1", "add 1 when key_token in {3", "otherwise self"],
        ["default 1", "add 1 when key_token in 3}", "otherwise self"],
        ["default 1", "add 1 when key_token in {3,}", "otherwise self"],
        ["default 1", "add 1 when key_token == -1", "otherwise self"],
        ["default 1", "add 1 when key_token == \u0663", "otherwise self"],
        ["default 1", "add 1 when key_token", "otherwise self"],
        ["default 1", "add 1 when key_token 3", "otherwise self"],
        ["default 1", "add 1 when token_match == 1", "otherwise self"],
        ["default 1", "add 1 when token_match ==", "otherwise self"],
        ["default 1", "add 1 when token_match in {1}", "otherwise self"],
        ["default 1", "add 1 when token_match token_match", "otherwise self"],
        ["default 1", "add 1 when token_match or", "otherwise self"],
        ["default 1", "add 1 when not", "otherwise self"],
        ["default 1", "add 1 when first", "otherwise self"],
        ["default 1", "add 1 when first {3}", "otherwise self"],
        ["default 1", "add 1 when (token_match", "otherwise self"],
        ["default 1", "add 1 when token_match)", "otherwise self"],
        ["default 1", "add 1 when ()", "otherwise self"],
        ["default 1", "add 1 when unmatched {3}", "otherwise self"],
        ["default 1", "add 1 when unmatched {3: }", "otherwise self"],
        ["default 1", "add 1 when partner 3: 4", "otherwise self"],
        ["default 1", "add 1 when key_count {3} == 1", "otherwise self"],
        ["default 1", "add 1 when key_count {3} up 2 == 1", "otherwise self"],
        ["default 1", "add 1 when key_count {3} up to == 1", "otherwise self"],
        ["default 1", "add 1 when key_count {3: 4} up to 2 == 1", "otherwise self"],
        ["default 1", "add 1 when key_depth {3} up to 2 == 1", "otherwise self"],
        ["default 1", "add 1 when value_depth {3: 4} up to 2 == 1", "otherwise self"],
        ["default 1", "add 1/0", "otherwise self"],
        ["default 1", "add 1 # comment", "otherwise self"],
    ],
    ids=str,
)
def test_what_is_not_a_program_is_refused(lines):
    """A line that is not understood must not be a line that does nothing."""
    with pytest.raises(ForgedError):
        parse_program(lines, "here", 10**18)


def test_a_condition_without_measure_is_refused(tmp_path):
    """Any text must end in an answer, whatever its depth."""
    lines = ["default 1", "add 0 when not token_match", "otherwise nowhere"]
    bundle = maker.proving(maker.fitting(programs={"0.0": lines}), "equivalence")
    bundle.claim["programs"]["0.0"][1] = f"add 0 when {'(' * 100_000}token_match{')' * 100_000}"
    outcome, reason = check(bundle.write(tmp_path / "bundle"))
    assert outcome is Outcome.INVALID
    assert "conditions are not nested deeply" in reason
