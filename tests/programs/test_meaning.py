from fractions import Fraction

import pytest
from hypothesis import given

from circuitproof.errors import InputError
from circuitproof.programs.atoms import Brackets, Condition
from circuitproof.programs.features import Feature
from circuitproof.programs.meaning import closings, row, whole_weights
from circuitproof.programs.syntax import Otherwise, Program, Rule, all_of, any_of, atoms, negate
from circuitproof.programs.text import parse
from program_strategies import brackets, formulas, plain_programs, programs, prompts
from program_twin import holds, slow_row, stack_after


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


def features(rule):
    """Return the features that a rule looks at; counts and brackets look at the tokens of keys."""
    found = [atom for condition in rule.conditions for atom in atoms(condition)]
    return {atom.feature if isinstance(atom, Condition) else Feature.KEY_TOKEN for atom in found}


def without(program, unread):
    """Return the program without the rules that look at one of some features."""
    rules = tuple(rule for rule in program.rules if unread.isdisjoint(features(rule)))
    return Program(program.default, rules, program.otherwise)


@given(programs, prompts)
def test_a_program_that_reads_no_token_gives_every_prompt_of_a_length_the_same_rows(program, prompt):
    """What a program does not read may be forgotten: proofs merge prompts because of this."""
    blind = without(program, {Feature.KEY_TOKEN, Feature.QUERY_TOKEN, Feature.TOKEN_MATCH})
    assert rows(blind, prompt) == rows(blind, (0,) * len(prompt))


@given(programs, prompts)
def test_tokens_that_no_condition_names_are_alike_unless_they_are_matched(program, prompt):
    """All tokens outside `tokens` form one class."""
    unmatched = without(program, {Feature.TOKEN_MATCH})
    merged = tuple(token if token in unmatched.tokens() else 70_000 for token in prompt)
    assert rows(unmatched, prompt) == rows(unmatched, merged)


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


@pytest.mark.parametrize(
    ("conditions", "keys"),
    [
        ("first key_token == 6", [1]),
        ("last key_token == 6", [5]),
        ("nearest key_token == 6", [3]),
        ("nearest key_token == 8", []),
        ("nearest (key_token == 6 and key_position < 3)", [1]),
        ("nearest key_token == 6 and key_position < 3", []),
        ("not first key_token == 6", [0, 2, 3, 4, 5]),
        ("first not token_match", [0]),
        ("nearest not nearest key_token == 6", [4]),
        ("key_position == 0 or last key_token == 7", [0, 4]),
        ("key_position == 0 and token_match or key_token == 7", [2, 4]),
        ("key_position == 0 and (token_match or key_token == 5)", [0]),
        ("key_count {6} up to 2 == 1", [1, 2]),
        ("key_count {6} up to 2 == 2", [3, 4, 5]),
        ("query_count {6} up to 9 == 3", [0, 1, 2, 3, 4, 5]),
        ("query_count {6} up to 2 < 2", []),
    ],
)
def test_scans_and_counts_look_at_all_causal_keys(conditions, keys):
    """Query 5 of (5, 6, 7, 6, 7, 6, 6): it holds a 6 itself, and what is behind it does not count."""
    assert [key for key, _ in row(one_rule(conditions), (5, 6, 7, 6, 7, 6, 6), 5)] == keys


ROUND, SQUARE = "40: 41", "91: 93"


@pytest.mark.parametrize(
    ("text", "conditions", "keys"),
    [
        ("([", f"unmatched {{{ROUND}, {SQUARE}}}", [0, 1]),
        ("([]", f"unmatched {{{ROUND}, {SQUARE}}}", [0]),
        ("([]", f"partner {{{ROUND}, {SQUARE}}}", [1]),
        ("([]a", f"partner {{{ROUND}, {SQUARE}}}", []),
        ("([)", f"unmatched {{{ROUND}, {SQUARE}}}", [0, 1]),
        ("([)", f"unmatched {{{ROUND}}}", []),
        ("([)])", f"partner {{{ROUND}, {SQUARE}}}", [0]),
        (")(", f"unmatched {{{ROUND}}}", [1]),
        ("a(b(c)d", f"nearest unmatched {{{ROUND}}}", [1]),
        ("a(b(", f"last unmatched {{{ROUND}}}", [3]),
        ("a(b(", f"nearest unmatched {{{ROUND}}}", [1]),
        ("(()", f"key_depth {{{ROUND}}} up to 2 == 1", [0, 2]),
        ("(()", f"key_depth {{{ROUND}}} up to 2 == 2", [1]),
        ("(((", f"key_depth {{{ROUND}}} up to 2 == 2", [1, 2]),
        ("((()", f"query_depth {{{ROUND}}} up to 9 == 2 and key_position == 0", [0]),
        ("(])", f"query_depth {{{ROUND}, {SQUARE}}} up to 1 == 0", [0, 1, 2]),
        ("(", "unmatched {40: 41, 40: 93}", [0]),
        ("(]", "unmatched {40: 41, 40: 93}", []),
        ("[)", "partner {40: 41, 91: 41}", [0]),
    ],
)
def test_brackets_are_read_with_a_stack_up_to_the_query(text, conditions, keys):
    """The query is the last of a text that a reader can follow."""
    prompt = [ord(letter) for letter in text]
    assert [key for key, _ in row(one_rule(conditions), prompt, len(prompt) - 1)] == keys


@given(brackets, prompts)
def test_an_opener_is_open_from_itself_until_it_is_closed(pairs, prompt):
    """One pass over the whole prompt says what the stack is at each position."""
    closed = closings(prompt, pairs)
    for last in range(len(prompt)):
        open_now = [
            opener
            for opener, closer in closed.items()
            if opener <= last and (closer is None or closer > last)
        ]
        assert open_now == stack_after(prompt, last, pairs)


def test_a_closer_of_another_kind_closes_nothing():
    """The choice is written down: it neither closes through nor empties the stack."""
    assert closings((1, 2, 3, 4, 3), Brackets(((1, 3), (2, 4)))) == {0: 4, 1: 3}


def keys_of(formula, prompt, query):
    """Return the keys at which a formula holds."""
    program = Program(Fraction(0), (Rule(Fraction(1), parts(formula)),), Otherwise.NOWHERE)
    return {key for key, _ in row(program, prompt, query)}


def parts(formula):
    """Return a formula as the conditions of a rule."""
    return formula.parts if isinstance(formula, type(all_of([formula, formula]))) else (formula,)


@given(formulas, formulas, prompts)
def test_and_or_and_not_are_those_of_sets_of_keys(one, other, prompt):
    """De Morgan and all: conditions are sets of causal keys."""
    query = len(prompt) - 1
    left, right = keys_of(one, prompt, query), keys_of(other, prompt, query)
    assert keys_of(all_of([one, other]), prompt, query) == left & right
    assert keys_of(any_of([one, other]), prompt, query) == left | right
    assert keys_of(negate(one), prompt, query) == set(range(query + 1)) - left
    assert left == {key for key in range(query + 1) if holds(one, prompt, query, key)}


@given(plain_programs, prompts)
def test_a_rule_of_joined_alternatives_adds_once(program, prompt):
    """`or` inside a rule is no sum: several parts that hold add the weight one time."""
    doubled = Program(
        program.default,
        tuple(
            Rule(rule.weight, (any_of([all_of(rule.conditions)] * 2),)) if rule.conditions else rule
            for rule in program.rules
        ),
        program.otherwise,
    )
    assert rows(doubled, prompt) == rows(program, prompt)


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


@given(programs)
def test_whole_weights_are_proportional_to_the_weights(program):
    """And they are integers, so sums of them are exact in any arithmetic that holds them."""
    whole = whole_weights(program)
    given_weights = [program.default, *(rule.weight for rule in program.rules)]
    scaled = [whole.default, *whole.rules]
    assert all(isinstance(weight, int) for weight in scaled)
    for one, other in zip(given_weights, scaled, strict=True):
        assert one * sum(scaled) == other * sum(given_weights)
