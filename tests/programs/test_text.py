import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.errors import InputError
from circuitproof.programs.syntax import Comparison, Condition, Feature, Otherwise, Program, Rule
from circuitproof.programs.text import parse, to_text
from program_strategies import programs

SAMPLE = """\
default 0
add 1 when key_token in {366, 705} and relative_distance <= 3
add 1/2 when token_match
add 1/3 when not token_match
add 2
otherwise self
"""
SAMPLE_PROGRAM = Program(
    Fraction(0),
    (
        Rule(
            Fraction(1),
            (
                Condition(Feature.KEY_TOKEN, Comparison.AMONG, (366, 705)),
                Condition(Feature.RELATIVE_DISTANCE, Comparison.AT_MOST, 3),
            ),
        ),
        Rule(Fraction(1, 2), (Condition(Feature.TOKEN_MATCH, Comparison.EQUAL, value=True),)),
        Rule(Fraction(1, 3), (Condition(Feature.TOKEN_MATCH, Comparison.EQUAL, value=False),)),
        Rule(Fraction(2)),
    ),
    Otherwise.SELF,
)
FEATURES = "one of " + ", ".join(Feature)
COMPARISONS = "one of ==, !=, <, <=, >, >=, in"
WEIGHT = "a weight of at least 0 such as 1 or 1/2"
WHOLE = "a whole number from 0"


def in_a_rule(conditions):
    """Return a program text whose only rule has these conditions, from column 12 of line 2."""
    return f"default 0\nadd 1 when {conditions}\notherwise self\n"


@given(programs)
def test_parsing_what_was_printed_gives_the_program_back(program):
    """The text is the stored form, so nothing may be lost in it."""
    assert parse(to_text(program)) == program


@given(programs)
def test_printing_is_a_fixed_point_of_reading_and_printing(program):
    """A stored text does not change when it is read and stored again, so its digest stays."""
    text = to_text(program)
    assert to_text(parse(text)) == text


def test_the_printed_form_is_the_documented_one():
    """People read it, so its look is a promise."""
    assert to_text(SAMPLE_PROGRAM) == SAMPLE


def test_the_documented_form_means_what_it_says():
    """The law of the round trip alone would allow a parser and a printer that are wrong together."""
    assert parse(SAMPLE) == SAMPLE_PROGRAM


def test_comments_blank_lines_and_spaces_mean_nothing():
    """People lay out and annotate what they write by hand."""
    spaced = "# quotes\r\n\n" + SAMPLE.replace("\n", "   # why\r\n\n").replace(" ", "  ").replace(", ", "\t,")
    assert parse(spaced) == SAMPLE_PROGRAM


def test_the_last_line_needs_no_newline():
    """A list of lines joined by newlines is the same text."""
    assert parse("\n".join(SAMPLE.splitlines())) == SAMPLE_PROGRAM


def test_a_set_may_be_written_in_any_order():
    """A set has no order; the program holds it sorted."""
    assert parse(SAMPLE.replace("366, 705", "705, 366")) == SAMPLE_PROGRAM


def test_a_weight_may_be_a_decimal():
    """A decimal is an exact number too."""
    assert parse("default 0.25\notherwise nowhere") == Program(Fraction(1, 4), (), Otherwise.NOWHERE)


@pytest.mark.parametrize("comparison", [Comparison.EQUAL, Comparison.UNEQUAL])
@pytest.mark.parametrize("value", [True, False])
def test_token_match_may_be_compared_in_full(comparison, value):
    """The release can hold all four, and each has its own text."""
    text = in_a_rule(f"token_match {comparison} {str(value).lower()}")
    assert parse(text).rules[0].conditions == (Condition(Feature.TOKEN_MATCH, comparison, value),)


@pytest.mark.parametrize(
    ("text", "place", "sentence"),
    [
        ("", (1, 1), "found the end of the text, want 'default'"),
        ("# nothing\n", (2, 1), "found the end of the text, want 'default'"),
        ("add 1\notherwise self", (1, 1), "found 'add', want 'default'"),
        ("default", (1, 8), f"found the end of the line, want {WEIGHT}"),
        ("default -1", (1, 9), f"found '-1', want {WEIGHT}"),
        ("default key_token", (1, 9), f"found 'key_token', want {WEIGHT}"),
        ("default 1/0", (1, 9), "found '1/0', want a denominator other than 0"),
        ("default " + "9" * 5000, (1, 9), "a weight of 5000 characters is too long to be read"),
        ("default 0 1", (1, 11), "found '1', want the end of the line"),
        ("default 0", (1, 10), "found the end of the text, want 'add' or 'otherwise'"),
        ("default 0\n  subtract 1", (2, 3), "found 'subtract', want 'add' or 'otherwise'"),
        ("default 0\ndefault 0", (2, 1), "found 'default', want 'add' or 'otherwise'"),
        ("default 0\notherwise", (2, 10), "found the end of the line, want one of self, nowhere"),
        ("default 0\notherwise last", (2, 11), "found 'last', want one of self, nowhere"),
        ("default 0\notherwise self self", (2, 16), "found 'self', want the end of the line"),
        ("default 0\notherwise self\nadd 1", (3, 1), "found 'add', want the end of the text"),
        ("default 0\nadd 1 if token_match", (2, 7), "found 'if', want 'when' or the end of the line"),
        ("default 0\nadd $1", (2, 5), "found '$', want a word, a number or a sign"),
        ("default 0\nadd \u0661", (2, 5), "found '\u0661', want a word, a number or a sign"),
        (in_a_rule(""), (2, 12), f"found the end of the line, want {FEATURES}"),
        (in_a_rule("value == 1"), (2, 12), f"found 'value', want {FEATURES}"),
        (in_a_rule("token_match and"), (2, 27), f"found the end of the line, want {FEATURES}"),
        (in_a_rule("token_match or token_match"), (2, 24), "found 'or', want 'and' or the end of the line"),
        (in_a_rule("not key_token == 1"), (2, 16), "found 'key_token', want 'token_match'"),
        (in_a_rule("token_match < 1"), (2, 24), "found '<', want 'and' or the end of the line"),
        (in_a_rule("token_match == 1"), (2, 27), "found '1', want one of true, false"),
        (in_a_rule("key_position 3"), (2, 25), f"found '3', want {COMPARISONS}"),
        (in_a_rule("key_position = 3"), (2, 25), "found '=', want a word, a number or a sign"),
        (in_a_rule("key_position == -1"), (2, 28), f"found '-1', want {WHOLE}"),
        (in_a_rule("key_position == 1/2"), (2, 28), f"found '1/2', want {WHOLE}"),
        (
            in_a_rule("key_position == " + "9" * 5000),
            (2, 28),
            "a number of 5000 digits is too long to be read",
        ),
        (in_a_rule("key_token in 3"), (2, 25), "found '3', want '{'"),
        (in_a_rule("key_token in {}"), (2, 26), f"found '}}', want {WHOLE}"),
        (in_a_rule("key_token in {3 4}"), (2, 28), "found '4', want ',' or '}'"),
        (
            in_a_rule("key_token in {3, 3}"),
            (2, 12),
            "condition 'key_token in ...': (3, 3), want increasing numbers",
        ),
        (in_a_rule("key_token < 5"), (2, 12), "condition 'key_token < ...': tokens have no order"),
    ],
)
def test_a_mistake_is_refused_at_its_place_with_what_was_wanted(text, place, sentence):
    """A person mends the text from this sentence alone."""
    line, column = place
    with pytest.raises(InputError, match=re.escape(f"program, line {line}, column {column}: {sentence}")):
        parse(text)


def test_a_refusal_names_the_text_it_is_about():
    """A file may hold many programs."""
    with pytest.raises(InputError, match=r"^claim\.json\.programs\[2\], line 1, column 1: "):
        parse("", "claim.json.programs[2]")


@given(
    st.integers(0, len(SAMPLE)),
    st.integers(0, 12),
    st.sampled_from(["", " ", "\n", "7", "/", "#", "not", "{"]),
)
def test_any_text_is_either_a_program_or_an_input_error(start, length, insertion):
    """Nothing that comes from outside may fail in another way; each text here is the sample, damaged once."""
    try:
        program = parse(SAMPLE[:start] + insertion + SAMPLE[start + length :])
    except InputError:
        return
    assert parse(to_text(program)) == program
