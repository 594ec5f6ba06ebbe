from fractions import Fraction

import pytest
from hypothesis import given

from circuitproof.errors import InputError
from circuitproof.programs.meaning import reads, row
from circuitproof.programs.syntax import TOKEN_FEATURES, Feature, Otherwise, Program
from circuitproof.programs.text import parse
from program_strategies import programs, prompts


def holds(condition, prompt, query, key):
    """Say whether a condition holds, feature by feature and comparison by comparison."""
    found = {
        "key_position": key,
        "query_position": query,
        "relative_distance": query - key,
        "absolute_distance": abs(query - key),
        "key_token": prompt[key],
        "query_token": prompt[query],
        "token_match": prompt[query] == prompt[key],
    }[condition.feature]
    value = condition.value
    return {
        "==": lambda: found == value,
        "!=": lambda: found != value,
        "<": lambda: found < value,
        "<=": lambda: found <= value,
        ">": lambda: found > value,
        ">=": lambda: found >= value,
        "in": lambda: found in value,
    }[condition.comparison]()


def slow_row(program, prompt, query):
    """Return a row straight from the definition."""
    weights = {}
    for key in range(query + 1):
        weights[key] = program.default
        for rule in program.rules:
            if all(holds(condition, prompt, query, key) for condition in rule.conditions):
                weights[key] += rule.weight
    total = sum(weights.values())
    if total == 0:
        return ((query, Fraction(1)),) if program.otherwise == "self" else ()
    return tuple((key, weight / total) for key, weight in weights.items() if weight != 0)


def rows(program, prompt):
    """Return the rows of all queries."""
    return [row(program, prompt, query) for query in range(len(prompt))]


def one_rule(conditions):
    """Return the program that adds 1 under these conditions and else attends nowhere."""
    return parse(f"default 0\nadd 1 when {conditions}\notherwise nowhere")


@given(programs, prompts)
def test_rows_are_those_of_the_definition(program, prompt):
    """The fast path computes with integers and filters; the twin is the definition word for word."""
    assert rows(program, prompt) == [slow_row(program, prompt, query) for query in range(len(prompt))]


@given(programs, prompts)
def test_weights_are_positive_and_sum_to_one_or_there_are_none(program, prompt):
    """A row is a mixture of values, or nothing where the program says nowhere."""
    for entries in rows(program, prompt):
        weights = [weight for _, weight in entries]
        assert all(weight > 0 for weight in weights)
        assert sum(weights) == 1 or (not weights and program.otherwise is Otherwise.NOWHERE)


@given(programs, prompts, prompts)
def test_later_tokens_change_nothing(program, prompt, future):
    """Only causal keys count."""
    assert rows(program, prompt) == rows(program, prompt + future)[: len(prompt)]


@given(programs, prompts)
def test_the_order_of_rules_changes_nothing(program, prompt):
    """Rules add, and addition has no order."""
    turned = Program(program.default, program.rules[::-1], program.otherwise)
    assert rows(turned, prompt) == rows(program, prompt)


def without(program, features):
    """Return the program without the rules that look at one of `features`."""
    rules = tuple(rule for rule in program.rules if features.isdisjoint(c.feature for c in rule.conditions))
    return Program(program.default, rules, program.otherwise)


@given(programs, prompts)
def test_a_program_that_reads_no_token_gives_every_prompt_of_a_length_the_same_rows(program, prompt):
    """What a program does not read may be forgotten: proofs merge prompts because of this."""
    blind = without(program, TOKEN_FEATURES | {Feature.TOKEN_MATCH})
    assert rows(blind, prompt) == rows(blind, (0,) * len(prompt))


@given(programs, prompts)
def test_tokens_that_no_condition_names_are_alike_unless_they_are_matched(program, prompt):
    """All tokens outside `tokens` form one class."""
    unmatched = without(program, {Feature.TOKEN_MATCH})
    merged = tuple(token if token in unmatched.tokens() else 70_000 for token in prompt)
    assert rows(unmatched, prompt) == rows(unmatched, merged)


@given(programs)
def test_a_program_reads_nothing_of_the_features_it_goes_without(program):
    """The features of a program are those of its rules, one by one."""
    for feature in Feature:
        assert feature not in reads(without(program, {feature}))


@pytest.mark.parametrize(
    ("conditions", "keys"),
    [
        ("key_position == 2", [2]),
        ("query_position == 3", [0, 1, 2, 3]),
        ("query_position == 2", []),
        ("relative_distance <= 1", [2, 3]),
        ("absolute_distance > 1", [0, 1]),
        ("key_token in {5, 6}", [0, 1, 2, 3]),
        ("key_token != 5", [1]),
        ("query_token == 5 and key_position < 2", [0, 1]),
        ("token_match", [0, 2, 3]),
        ("not token_match", [1]),
        ("token_match != true", [1]),
        ("token_match and key_position >= 1", [2, 3]),
    ],
)
def test_a_rule_adds_weight_where_all_its_conditions_hold(conditions, keys):
    """Each feature on one prompt that a reader can follow: query 3 of (5, 6, 5, 5, 6)."""
    assert [key for key, _ in row(one_rule(conditions), (5, 6, 5, 5, 6), 3)] == keys


def test_weights_add_up_and_are_divided_by_their_sum():
    """Default and rules together, with fractions of different denominators."""
    program = parse(
        "default 1/2\nadd 1/3 when key_position == 0\nadd 1/6 when key_token == 9\notherwise self"
    )
    assert row(program, (9, 8), 1) == ((0, Fraction(2, 3)), (1, Fraction(1, 3)))


def test_a_row_without_weight_attends_to_itself_or_nowhere_as_the_program_says():
    """The two readings of an empty row differ in the output, so the program chooses."""
    assert row(parse("default 0\notherwise self"), (4, 4), 1) == ((1, Fraction(1)),)
    assert row(parse("default 0\notherwise nowhere"), (4, 4), 1) == ()


@pytest.mark.parametrize("query", [-1, 2])
def test_a_query_outside_the_prompt_is_refused(query):
    """Python would count -1 from the end, and a row for it would be a row for no position."""
    with pytest.raises(InputError, match=f"query {query} is outside a prompt of 2 tokens; want 0 to 1"):
        row(parse("default 1\notherwise self"), (4, 4), query)


def test_a_program_reads_the_features_of_the_rules_that_weigh_something():
    """A rule of weight zero cannot change a row."""
    program = parse(
        "default 0\nadd 1 when key_token == 3 and token_match\nadd 0 when key_position == 1\notherwise self"
    )
    assert reads(program) == {Feature.KEY_TOKEN, Feature.TOKEN_MATCH}
