import pytest
from hypothesis import given

from circuitproof.errors import InputError
from circuitproof.tasks.pattern_text import parse_pattern, print_pattern
from pattern_strategies import patterns


@given(patterns())
def test_printing_and_parsing_are_inverse(pattern):
    """What a person reads is what the claim says."""
    assert parse_pattern(print_pattern(pattern)) == pattern


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("any but quotes", "any but [9, 10]"),
        ("quotes but 9", "10"),
        ("[1, quotes]", "[1, 9, 10]"),
        ("  ( 1 )  2 ", "1 2"),
        ("((1 | 2) | 3)", "1 | 2 | 3"),
        ("1{2..2}", "1{2}"),
        ("1{0..}  up to 3 tokens", "1* up to 3 tokens"),
        ("1{1..3} up to 9 tokens", "1{1..3}"),
    ],
)
def test_each_pattern_has_one_way_to_be_written(text, printed):
    """Names of sets are resolved, and bounds that say nothing are left out."""
    assert print_pattern(parse_pattern(text, {"quotes": (9, 10)})) == printed


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("any{1..3} with exactly 1 off [3]", "column 26: found 'off', want 'of'"),
        ("any{1..3} whith 1", "column 11: found 'whith', want a token class"),
        ("1 2 %", "column 5: found '%', want a word, a number or a sign"),
        ("any*", "column 5: the pattern has no longest prompt, want 'up to N tokens' at its end"),
        ("(1 | 2", r"column 7: found the end of the text, want '\)'"),
        ("1{3..2}", "column 1: repeated 3 to 2 times"),
        ("openers", "column 1: found 'openers', want a token class: any, a token's number"),
        ("1 with at 2 of 3", "column 11: found '2', want 'most' or 'least'"),
        ("1 with 2 only at 5..3", "column 8: positions 5 to 3"),
        ("1 with exactly 2..1 of 3", "column 8: counted 2 to 1 times"),
        ("[1, 2] but [1, 2]", "column 1: a class of no tokens"),
        ("1 up to tokens", "column 9: found 'tokens', want a whole number"),
        ("1 with at most 1 of 2 3", "column 23: found '3', want the end, 'with', 'and' or 'up to N tokens'"),
        ("", "column 1: found the end of the text, want a token class"),
    ],
)
def test_a_mistake_is_refused_with_its_column(text, sentence):
    """The line and a mark below the place stand under the sentence."""
    with pytest.raises(InputError, match=sentence) as refusal:
        parse_pattern(text)
    assert str(refusal.value).splitlines()[1] == f"  {text}"
    assert str(refusal.value).splitlines()[2].endswith("^")


def test_a_set_may_not_be_called_like_a_word_of_the_language():
    """Otherwise a text would have two meanings."""
    with pytest.raises(InputError, match="a set is called 'any'"):
        parse_pattern("1", {"any": (1,)})
