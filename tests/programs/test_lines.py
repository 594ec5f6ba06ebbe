"""Programs as they are stored: exactly the grammar of the certificate format."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.errors import DeclarationError, InputError
from circuitproof.programs.atoms import Condition
from circuitproof.programs.features import Comparison, Feature
from circuitproof.programs.lines import parse_lines, to_lines
from circuitproof.programs.syntax import Otherwise, Program, Rule
from circuitproof.programs.text import parse
from program_strategies import accepts, programs

VOCABULARY = 50


def rule(condition: str) -> list[str]:
    """Return the lines of a program of one rule."""
    return ["default 0", f"add 1 when {condition}", "otherwise self"]


def within(levels: int, atom: str = "token_match") -> str:
    """Return a condition in so many parentheses."""
    return "(" * levels + atom + ")" * levels


def deep(levels: int) -> str:
    """Return a condition of so many levels."""
    return "not " * levels + "key_token == 1"


ACCEPTED = [
    ["default 0", "otherwise self"],
    ["default 00/01", "otherwise nowhere"],
    [f"default {'9' * 100}/{'9' * 100}", "otherwise self"],
    ["  default   1 ", "add 1/2", "add1", " otherwise self  "],
    rule(f"key_position == {'9' * 18}"),
    rule("key_token in{49,0}and not token_match"),
    rule("key_count {1, 2} up to 3 in {3, 0} or query_depth {1: 2, 1: 3} up to 1 >= 1"),
    rule("unmatched {1: 2} or partner {1: 2, 3: 2}"),
    rule("token_match == true and token_match != false"),
    rule("first last nearest key_token != 4"),
    rule(within(31)),
    rule(deep(16)),
    rule("not " * 17 + "token_match"),
    rule("((token_match and key_token == 1) and key_token == 2)"),
]
REFUSED = {
    "no lines": [],
    "no default": ["otherwise self"],
    "no fallback": ["default 0"],
    "an unknown fallback": ["default 0", "otherwise none"],
    "a line after the fallback": ["default 0", "otherwise self", "add 1"],
    "an empty line": ["default 0", "", "otherwise self"],
    "a blank line": ["default 0", "  ", "otherwise self"],
    "two lines in one": ["default 0\nadd 1", "otherwise self"],
    "a line end at the end": ["default 0", "otherwise self\n"],
    "a return": ["default 0\r", "otherwise self"],
    "a tab": ["default\t0", "otherwise self"],
    "a comment": ["default 0  # nothing", "otherwise self"],
    "a decimal": ["default 0.5", "otherwise self"],
    "a sign before a number": ["default -1", "otherwise self"],
    "a large letter": ["Default 0", "otherwise self"],
    "another alphabet's digit": ["default \u0661", "otherwise self"],
    "a denominator of zero": ["default 1/00", "otherwise self"],
    "a fraction with blanks": ["default 1 / 2", "otherwise self"],
    "a fraction of fractions": ["default 1/2/3", "otherwise self"],
    "101 digits above": [f"default {'0' * 101}", "otherwise self"],
    "101 digits below": [f"default 1/{'9' * 101}", "otherwise self"],
    "19 digits": rule(f"key_position == {'0' * 19}"),
    "a fraction where a number is meant": rule("key_position == 1/2"),
    "a token beyond the vocabulary": rule("key_token == 50"),
    "a member beyond the vocabulary": rule("query_token in {1, 50}"),
    "a counted token beyond the vocabulary": rule("key_count {50} up to 1 == 1"),
    "a closer beyond the vocabulary": rule("unmatched {1: 50}"),
    "tokens in order": rule("key_token < 5"),
    "a member twice": rule("key_position in {1, 01}"),
    "a pair twice": rule("partner {1: 2, 1: 2}"),
    "no member": rule("key_token in {}"),
    "a comma too many": rule("key_token in {1,}"),
    "a token that opens and closes": rule("unmatched {1: 2, 2: 3}"),
    "a count up to nothing": rule("key_count {1} up to 0 == 0"),
    "a count compared with more than its bound": rule("key_count {1} up to 2 == 3"),
    "a truth in words": rule("token_match == yes"),
    "a match in order": rule("token_match < true"),
    "a match among": rule("token_match in {1}"),
    "nothing after when": rule(""),
    "words that join nothing": rule("token_match and"),
    "a parenthesis too many": rule("(token_match))"),
    "33 that stand in each other": rule(within(32)),
    "17 levels": rule(deep(17)),
    "17 levels over a match": rule("not " * 18 + "token_match"),
}


@pytest.mark.parametrize("lines", ACCEPTED)
def test_what_the_grammar_has_is_accepted(lines):
    """And means what the same text means."""
    assert accepts(lines, VOCABULARY)
    assert parse_lines(lines, "program", VOCABULARY) == parse("\n".join(lines))


@pytest.mark.parametrize("lines", REFUSED.values(), ids=REFUSED)
def test_what_the_grammar_lacks_is_refused(lines):
    """A stored program has one form, which every reader knows."""
    assert not accepts(lines, VOCABULARY)
    with pytest.raises(InputError, match="programs"):
        parse_lines(lines, "programs", VOCABULARY)


@given(programs)
def test_what_is_written_is_accepted_and_read_back(program):
    """Whatever program can be held can be stored."""
    lines = to_lines(program)
    assert accepts(lines, 10**18)
    assert parse_lines(lines, "program", 10**18) == program


@given(st.lists(st.text("adeflnorstu_ 01/{}(),:=<>!\t.#", max_size=20), max_size=4))
def test_any_lines_are_judged_without_a_crash(lines):
    """A file from elsewhere may hold anything."""
    assert accepts(lines, VOCABULARY) in (True, False)


def test_a_refusal_names_the_line_and_the_column():
    """So that it is found in a file of many programs."""
    with pytest.raises(InputError, match=r"^0\.1, line 2, column 6: found '#', want small letters"):
        parse_lines(["default 0", "add 1# one", "otherwise self"], "0.1", VOCABULARY)
    with pytest.raises(InputError, match=r"^0\.1, line 2 is empty"):
        parse_lines(["default 0", " ", "otherwise self"], "0.1", VOCABULARY)


@pytest.mark.parametrize("weight", [Fraction(10**100), Fraction(1, 10**100)])
def test_a_weight_that_cannot_be_written_cannot_be_held(weight):
    """The text of a program has room for a hundred digits above and below."""
    with pytest.raises(DeclarationError, match="rule: a weight of more than 100 digits"):
        Rule(weight)
    with pytest.raises(DeclarationError, match="default: a weight of more than 100 digits"):
        Program(weight, (), Otherwise.SELF)


def test_a_number_that_cannot_be_written_cannot_be_held():
    """The same for tokens, positions and counts."""
    assert Condition(Feature.KEY_POSITION, Comparison.EQUAL, 10**18 - 1)
    with pytest.raises(DeclarationError, match="a number of more than 18 digits"):
        Condition(Feature.KEY_POSITION, Comparison.EQUAL, 10**18)


def test_a_decimal_written_by_hand_keeps_to_the_digits_of_a_fraction():
    """Its denominator is a power of ten, one digit longer than what stands behind the point."""
    assert parse(f"default 0.{'0' * 98}1\notherwise self").default == Fraction(1, 10**99)
    with pytest.raises(InputError, match="a weight of more than 100 digits"):
        parse(f"default 0.{'0' * 99}1\notherwise self")
