import re
from fractions import Fraction

import pytest
from hypothesis import given

from circuitproof.errors import DeclarationError
from circuitproof.programs.syntax import Comparison, Condition, Feature, Otherwise, Program, Rule
from program_strategies import programs

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


def test_a_rule_refuses_a_negative_weight():
    """Negative weights could cancel, and a row would no longer be a mixture."""
    with pytest.raises(DeclarationError, match="rule: weight -1/2, want at least 0"):
        Rule(Fraction(-1, 2))


def test_a_program_refuses_a_negative_default():
    """The default is a weight like any other."""
    with pytest.raises(DeclarationError, match="default: weight -1, want at least 0"):
        Program(Fraction(-1), (), Otherwise.SELF)


def test_the_tokens_of_a_program_are_those_its_conditions_name():
    """An alphabet must hold these; positions and truth values are not among them."""
    conditions = (
        Condition(Feature.KEY_TOKEN, Comparison.AMONG, (366, 705)),
        Condition(Feature.QUERY_TOKEN, Comparison.UNEQUAL, 9),
        Condition(Feature.KEY_POSITION, Comparison.AMONG, (1, 2)),
        Condition(Feature.TOKEN_MATCH, Comparison.EQUAL, value=True),
    )
    assert Program(Fraction(0), (Rule(Fraction(1), conditions),), Otherwise.SELF).tokens() == {366, 705, 9}


@pytest.mark.parametrize(("value", "numbers"), [(3, (3,)), ((1, 4), (1, 4))])
def test_the_numbers_of_a_condition_are_those_it_compares_with(value, numbers):
    """One number and several are asked for alike."""
    comparison = Comparison.AMONG if isinstance(value, tuple) else Comparison.EQUAL
    assert Condition(Feature.KEY_POSITION, comparison, value).numbers() == numbers


def test_token_match_compares_with_no_number():
    """True is an integer to Python and must not pass for token 1."""
    assert Condition(Feature.TOKEN_MATCH, Comparison.EQUAL, value=True).numbers() == ()


@given(programs)
def test_equal_programs_have_equal_hashes(program):
    """Programs are looked up by value."""
    twin = Program(
        program.default,
        tuple(Rule(rule.weight, rule.conditions) for rule in program.rules),
        program.otherwise,
    )
    assert (twin, hash(twin)) == (program, hash(program))
