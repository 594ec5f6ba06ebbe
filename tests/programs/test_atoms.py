import re

import pytest

from circuitproof.errors import DeclarationError
from circuitproof.programs.atoms import (
    Bracketed,
    Brackets,
    Comparison,
    Condition,
    Feature,
    Link,
    PairEnd,
    Tally,
)

NO_NUMBER = "want a whole number from 0"


@pytest.mark.parametrize("comparison", ["<", "<=", ">", ">="])
@pytest.mark.parametrize("feature", [Feature.KEY_TOKEN, Feature.QUERY_TOKEN])
def test_an_order_of_tokens_is_refused(feature, comparison):
    """Token numbers are names; a rule that orders them would depend on the tokenizer's numbering."""
    sentence = f"'{feature} {comparison} ...': tokens have no order to compare; want ==, != or in"
    with pytest.raises(DeclarationError, match=re.escape(sentence)):
        Condition(feature, Comparison(comparison), 5)


@pytest.mark.parametrize("comparison", ["<", "<=", ">", ">=", "in"])
def test_token_match_is_only_compared_for_equality(comparison):
    """A truth value has no order and is no member of a list of numbers."""
    with pytest.raises(
        DeclarationError, match=f"'token_match {comparison} ...': .* is not for it, want == or !="
    ):
        Condition(Feature.TOKEN_MATCH, Comparison(comparison), value=True)


@pytest.mark.parametrize("value", [1, 0, (1,)])
def test_token_match_is_compared_with_true_or_false(value):
    """The numbers 1 and 0 equal true and false, so they would print as another program."""
    with pytest.raises(DeclarationError, match=re.escape(f"value {value!r}, want true or false")):
        Condition(Feature.TOKEN_MATCH, Comparison.EQUAL, value)


@pytest.mark.parametrize("value", [True, (1, 2), -1])
@pytest.mark.parametrize("feature", [Feature.KEY_POSITION, Feature.KEY_TOKEN])
def test_a_number_is_wanted_where_one_thing_is_compared(feature, value):
    """Positions count from the start, so -1 is not the last one: it would be a rule that never holds."""
    with pytest.raises(
        DeclarationError, match=re.escape(f"'{feature} == ...': value {value!r}, {NO_NUMBER}")
    ):
        Condition(feature, Comparison.EQUAL, value)


@pytest.mark.parametrize("value", [(), 5, True])
def test_in_wants_at_least_one_number(value):
    """An empty set of tokens is a rule that never holds: more likely a mistake than a wish."""
    sentence = f"'key_token in ...': value {value!r}, want a tuple of numbers, not empty"
    with pytest.raises(DeclarationError, match=re.escape(sentence)):
        Condition(Feature.KEY_TOKEN, Comparison.AMONG, value)


@pytest.mark.parametrize("value", [(-1, 2), (False, 2), (2, True)])
def test_in_refuses_members_that_are_not_numbers_from_zero(value):
    """A member is what a single value may be, nothing else."""
    with pytest.raises(DeclarationError, match=NO_NUMBER):
        Condition(Feature.KEY_TOKEN, Comparison.AMONG, value)


@pytest.mark.parametrize("value", [(2, 1), (1, 1)])
def test_in_wants_increasing_members(value):
    """One set has one spelling, so equal conditions are equal values."""
    with pytest.raises(DeclarationError, match=re.escape(f"{value!r}, want increasing numbers, each once")):
        Condition(Feature.KEY_TOKEN, Comparison.AMONG, value)


@pytest.mark.parametrize(("value", "numbers"), [(3, (3,)), ((1, 4), (1, 4))])
def test_the_numbers_of_a_condition_are_those_it_compares_with(value, numbers):
    """One number and several are asked for alike."""
    comparison = Comparison.AMONG if isinstance(value, tuple) else Comparison.EQUAL
    assert Condition(Feature.KEY_POSITION, comparison, value).numbers() == numbers


def test_token_match_compares_with_no_number():
    """True is an integer to Python and must not pass for token 1."""
    assert Condition(Feature.TOKEN_MATCH, Comparison.EQUAL, value=True).numbers() == ()


@pytest.mark.parametrize(
    ("pairs", "sentence"),
    [
        ((), "no pairs, want at least one of an opener and a closer"),
        (((1, 2), (1, 2)), "want increasing pairs, each once"),
        (((3, 2), (1, 2)), "want increasing pairs, each once"),
        (((1, 2), (2, 3)), "token 2 opens and closes, want one of the two"),
        (((1, 1),), "token 1 opens and closes, want one of the two"),
        (((1, -2),), f"value -2, {NO_NUMBER}"),
        (((True, 2),), f"value True, {NO_NUMBER}"),
    ],
)
def test_brackets_that_contradict_themselves_are_refused(pairs, sentence):
    """A token that opens and closes (a quotation mark) has no depth; a pair has one spelling."""
    with pytest.raises(DeclarationError, match=f"brackets: .*{sentence}"):
        Brackets(pairs)


def test_openers_may_share_a_closer_and_closers_an_opener():
    """A tokenizer has an opener with and without a space before it, and closers with a comma behind."""
    assert Brackets(((1, 3), (1, 4), (2, 3))).openers == {1, 2}


@pytest.mark.parametrize(
    ("bound", "comparison", "value", "sentence"),
    [
        (
            0,
            Comparison.EQUAL,
            0,
            "compared with 0 but counted up to 0; want a bound from 1 and numbers up to it",
        ),
        (
            2,
            Comparison.EQUAL,
            3,
            "compared with 3 but counted up to 2; want a bound from 1 and numbers up to it",
        ),
        (2, Comparison.AMONG, (1, 3), "compared with 3 but counted up to 2"),
        (-1, Comparison.EQUAL, 0, f"value -1, {NO_NUMBER}"),
        (True, Comparison.EQUAL, 0, f"value True, {NO_NUMBER}"),
        (2, Comparison.EQUAL, True, f"value True, {NO_NUMBER}"),
        (2, Comparison.AMONG, (), r"value \(\), want a tuple of numbers, not empty"),
        (2, Comparison.AMONG, (2, 1), r"\(2, 1\), want increasing numbers, each once"),
    ],
)
@pytest.mark.parametrize("of", [(5,), Brackets(((5, 6),))])
def test_a_count_is_compared_with_numbers_that_it_can_reach(of, bound, comparison, value, sentence):
    """Beyond its bound a count does not go, so a larger number would say less than it seems to."""
    name = "query_depth" if isinstance(of, Brackets) else "query_count"
    with pytest.raises(DeclarationError, match=f"condition '{name} ...': {sentence}"):
        Tally(PairEnd.QUERY, of, bound, comparison, value)


@pytest.mark.parametrize("of", [(), (3, 3)])
def test_a_count_of_no_set_of_tokens_is_refused(of):
    """As for `in`: empty is a mistake, and a set has one spelling."""
    with pytest.raises(DeclarationError, match=r"condition 'key_count \.\.\.': "):
        Tally(PairEnd.KEY, of, 2, Comparison.EQUAL, 1)


@pytest.mark.parametrize(
    ("atom", "tokens"),
    [
        (Condition(Feature.QUERY_TOKEN, Comparison.AMONG, (3, 4)), {3, 4}),
        (Condition(Feature.KEY_POSITION, Comparison.EQUAL, 3), set()),
        (Condition(Feature.TOKEN_MATCH, Comparison.EQUAL, value=True), set()),
        (Tally(PairEnd.KEY, (3, 4), 7, Comparison.EQUAL, 5), {3, 4}),
        (Tally(PairEnd.KEY, Brackets(((3, 4), (5, 6))), 7, Comparison.EQUAL, 1), {3, 4, 5, 6}),
        (Bracketed(Link.PARTNER, Brackets(((3, 4),))), {3, 4}),
    ],
)
def test_the_tokens_of_a_condition_are_those_it_names(atom, tokens):
    """Positions, counts and bounds are numbers too, but not of tokens."""
    assert set(atom.tokens()) == tokens
