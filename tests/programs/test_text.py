import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.errors import InputError
from circuitproof.programs.atoms import MATCH, Bracketed, Brackets, Condition, Link, PairEnd, Tally
from circuitproof.programs.features import Comparison, Feature
from circuitproof.programs.syntax import (
    AllOf,
    AnyOf,
    Not,
    Otherwise,
    Pick,
    Program,
    Rule,
    Scan,
    negate,
)
from circuitproof.programs.text import Limits, formula_text, parse, to_text
from program_strategies import formulas, programs

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
CONDITION = (
    "a condition: 'not', first, last, nearest, '(' or one of key_position, query_position, "
    "relative_distance, absolute_distance, key_token, query_token, token_match, key_count, key_depth, "
    "query_count, query_depth, unmatched, partner"
)
MORE = "'and', 'or' or the end of the line"
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
        ("default " + "9" * 5000, (1, 9), "found a weight of 5000 digits, want at most 100"),
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
        (in_a_rule(""), (2, 12), f"found the end of the line, want {CONDITION}"),
        (in_a_rule("value == 1"), (2, 12), f"found 'value', want {CONDITION}"),
        (in_a_rule("token_match and"), (2, 27), f"found the end of the line, want {CONDITION}"),
        (in_a_rule("token_match or"), (2, 26), f"found the end of the line, want {CONDITION}"),
        (in_a_rule("token_match xor token_match"), (2, 24), f"found 'xor', want {MORE}"),
        (in_a_rule("not"), (2, 15), f"found the end of the line, want {CONDITION}"),
        (in_a_rule("first 3"), (2, 18), f"found '3', want {CONDITION}"),
        (in_a_rule("()"), (2, 13), f"found ')', want {CONDITION}"),
        (in_a_rule("(token_match"), (2, 24), "found the end of the line, want 'and', 'or' or ')'"),
        (in_a_rule("token_match)"), (2, 23), f"found ')', want {MORE}"),
        (in_a_rule("(" * 40 + "token_match"), (2, 44), "found more than 32 levels, want fewer"),
        (in_a_rule("not " * 20 + "token_match"), (2, 20), "a condition of 17 levels, want at most 16"),
        (in_a_rule("token_match < 1"), (2, 24), f"found '<', want {MORE}"),
        (in_a_rule("unmatched 3"), (2, 22), "found '3', want '{'"),
        (in_a_rule("unmatched {3}"), (2, 24), "found '}', want ':'"),
        (in_a_rule("unmatched {3: 4, 4: 5}"), (2, 12), "brackets: token 4 opens and closes, want one of"),
        (in_a_rule("partner {3: 4, 3: 4}"), (2, 12), "brackets: ((3, 4), (3, 4)), want increasing pairs"),
        (in_a_rule("key_count {3} == 1"), (2, 26), "found '==', want 'up to' and how far it is counted"),
        (in_a_rule("key_count {3} up 2 == 1"), (2, 29), "found '2', want 'to'"),
        (in_a_rule("key_count {3: 4} up to 2 == 1"), (2, 24), "found ':', want ',' or '}'"),
        (in_a_rule("key_depth {3} up to 2 == 1"), (2, 24), "found '}', want ':'"),
        (
            in_a_rule("token_match and key_depth {3: 4} up to 2 == 3"),
            (2, 28),
            "condition 'key_depth ...': compared with 3 but counted up to 2; want a bound from 1 and numbers",
        ),
        (in_a_rule("token_match == 1"), (2, 27), "found '1', want one of true, false"),
        (in_a_rule("key_position 3"), (2, 25), f"found '3', want {COMPARISONS}"),
        (in_a_rule("key_position = 3"), (2, 25), "found '=', want a word, a number or a sign"),
        (in_a_rule("key_position == -1"), (2, 28), f"found '-1', want {WHOLE}"),
        (in_a_rule("key_position == 1/2"), (2, 28), f"found '1/2', want {WHOLE}"),
        (
            in_a_rule("key_position == " + "9" * 5000),
            (2, 28),
            "found a number of 5000 digits, want at most 18",
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


def test_a_refusal_shows_the_line_and_marks_the_place():
    """The eye finds a column faster than it counts to it."""
    with pytest.raises(InputError) as caught:
        parse("default 0\nadd 1 when\tkey_colour == 1\notherwise self")
    assert str(caught.value).splitlines()[1:] == [
        "  add 1 when key_colour == 1",
        "             ^",
    ]


def test_a_long_line_is_shown_around_the_place():
    """A set of a thousand tokens must not fill the screen."""
    members = ", ".join(map(str, range(1000)))
    with pytest.raises(InputError) as caught:
        parse(in_a_rule(f"key_token in {{{members}, x, {members}}}"))
    _, line, mark = str(caught.value).splitlines()
    assert len(line) <= 100
    assert line[mark.index("^")] == "x"


@pytest.mark.parametrize(
    ("condition", "column", "sentence"),
    [
        ("key_token == 9", 25, "found token 9, but there are 9 tokens, 0 to 8"),
        ("token_match or query_token in {1, 70}", 46, "found token 70, but there are 9 tokens, 0 to 8"),
        ("key_count {3, 9} up to 2 == 1", 26, "found token 9, but there are 9 tokens, 0 to 8"),
        ("unmatched {3: 9}", 26, "found token 9, but there are 9 tokens, 0 to 8"),
        ("relative_distance <= 5", 33, "found position or distance 5, but there are 5 positions, 0 to 4"),
        ("key_position in {0, 6}", 32, "found position or distance 6, but there are 5 positions, 0 to 4"),
    ],
)
def test_numbers_that_a_model_has_no_token_or_position_for_are_refused_where_they_stand(
    condition, column, sentence
):
    """Such a rule never holds, or always: surely it was meant for another model."""
    with pytest.raises(InputError, match=f"program, line 2, column {column}: {re.escape(sentence)}"):
        parse(in_a_rule(condition), limits=Limits(tokens=9, positions=5))


def test_the_last_token_and_position_are_within_the_limits():
    """There are as many as the limit says, counted from 0."""
    text = in_a_rule(
        "key_token == 8 and unmatched {0: 8} and key_position == 4 and key_count {8} up to 99 < 99"
    )
    assert parse(text, limits=Limits(tokens=9, positions=5)) == parse(text)


A, B, C = (Condition(Feature.KEY_POSITION, Comparison.EQUAL, number) for number in range(3))
UNEQUAL = Condition(Feature.TOKEN_MATCH, Comparison.EQUAL, value=False)


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("a and b and c", (A, B, C)),
        ("a or b", (AnyOf((A, B)),)),
        ("a and b or c", (AnyOf((AllOf((A, B)), C)),)),
        ("a or b and c", (AnyOf((A, AllOf((B, C)))),)),
        ("a and (b or c)", (A, AnyOf((B, C)))),
        ("(a or b) and not c", (AnyOf((A, B)), Not(C))),
        ("not a and b", (Not(A), B)),
        ("not (a and b)", (Not(AllOf((A, B))),)),
        ("not not a", (Not(Not(A)),)),
        ("first a or last b", (AnyOf((Scan(Pick.FIRST, A), Scan(Pick.LAST, B))),)),
        ("nearest (a and not b)", (Scan(Pick.NEAREST, AllOf((A, Not(B)))),)),
        ("not first nearest a", (Not(Scan(Pick.FIRST, Scan(Pick.NEAREST, A))),)),
        ("not token_match", (UNEQUAL,)),
        ("not not token_match", (Not(UNEQUAL),)),
        (
            "not token_match != true",
            (Not(Condition(Feature.TOKEN_MATCH, Comparison.UNEQUAL, value=True)),),
        ),
        ("unmatched {3: 4, 5: 4}", (Bracketed(Link.UNMATCHED, Brackets(((3, 4), (5, 4)))),)),
        ("last partner {3: 4}", (Scan(Pick.LAST, Bracketed(Link.PARTNER, Brackets(((3, 4),)))),)),
        ("key_count {3, 4} up to 2 < 1", (Tally(PairEnd.KEY, (3, 4), 2, Comparison.LESS, 1),)),
        (
            "query_depth {3: 4} up to 2 in {0, 2}",
            (Tally(PairEnd.QUERY, Brackets(((3, 4),)), 2, Comparison.AMONG, (0, 2)),),
        ),
    ],
)
def test_conditions_have_one_form_which_is_read_as_it_says(text, conditions):
    """`or` binds less than `and`, and `and` less than `not` and the scans; no parentheses are wasted."""
    for letter, number in zip("abc", range(3), strict=True):
        text = re.sub(rf"\b{letter}\b", f"key_position == {number}", text)
    assert parse(in_a_rule(text)).rules[0].conditions == conditions
    assert to_text(Program(Fraction(0), (Rule(Fraction(1), conditions),), Otherwise.SELF)) == in_a_rule(text)


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("((a))", (A,)),
        ("(a and b) and c", (A, B, C)),
        ("a and (b and c)", (A, B, C)),
        ("(a or b) or c", (AnyOf((A, B, C)),)),
        ("(a and b)", (A, B)),
        ("not (token_match)", (UNEQUAL,)),
        ("not token_match == true", (UNEQUAL,)),
        ("token_match == true", (MATCH,)),
        ("unmatched {5: 4, 3: 4}", (Bracketed(Link.UNMATCHED, Brackets(((3, 4), (5, 4)))),)),
    ],
)
def test_other_spellings_are_read_as_the_one_form(text, conditions):
    """Parentheses that change nothing and other orders of a set are allowed to those who write by hand."""
    for letter, number in zip("abc", range(3), strict=True):
        text = re.sub(rf"\b{letter}\b", f"key_position == {number}", text)
    assert parse(in_a_rule(text)).rules[0].conditions == conditions


@given(formulas)
def test_parentheses_are_only_where_the_formula_would_change_without_them(formula):
    """Each pair taken away gives another program, or none."""
    text = formula_text(formula)
    whole = parse(in_a_rule(text))
    for start, sign in enumerate(text):
        if sign == "(":
            end = closing(text, start)
            bare = text[:start] + text[start + 1 : end] + text[end + 1 :]
            assert parse(in_a_rule(bare)) != whole


def closing(text, start):
    """Return where the parenthesis that opens at `start` is closed."""
    level = 0
    for place in range(start, len(text)):
        level += {"(": 1, ")": -1}.get(text[place], 0)
        if not level:
            return place
    raise AssertionError(f"{text!r} is not balanced")


@given(formulas)
def test_a_formula_negated_twice_is_printed_and_read_back(formula):
    """Nothing is simplified in between: a text means what it says, not what it comes to."""
    twice = negate(negate(formula))
    program = Program(Fraction(0), (Rule(Fraction(1), (twice,)),), Otherwise.SELF)
    assert parse(to_text(program)) == program


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
