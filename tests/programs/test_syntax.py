from fractions import Fraction
from functools import reduce

import pytest
from hypothesis import given

from circuitproof.errors import DeclarationError
from circuitproof.programs.atoms import MATCH, Bracketed, Brackets, Condition, Link, PairEnd, Tally
from circuitproof.programs.features import Comparison, Feature
from circuitproof.programs.syntax import (
    DEEPEST,
    AllOf,
    AnyOf,
    Not,
    Otherwise,
    Pick,
    Program,
    Rule,
    Scan,
    all_of,
    any_of,
    atoms,
    negate,
)
from program_strategies import programs

A, B, C = (Condition(Feature.KEY_POSITION, Comparison.EQUAL, number) for number in range(3))
BRACKETS = Brackets(((3, 4),))


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


@given(programs)
def test_equal_programs_have_equal_hashes(program):
    """Programs are looked up by value."""
    twin = Program(
        program.default,
        tuple(Rule(rule.weight, rule.conditions) for rule in program.rules),
        program.otherwise,
    )
    assert (twin, hash(twin)) == (program, hash(program))


@pytest.mark.parametrize("kind", [AllOf, AnyOf])
def test_a_junction_has_at_least_two_parts_of_another_kind(kind):
    """Else one formula would have two values, and printing would not know which to give back."""
    for parts in ((), (A,)):
        with pytest.raises(
            DeclarationError, match=f"{kind.__name__} of {len(parts)} parts, want two or more"
        ):
            kind(parts)
    with pytest.raises(DeclarationError, match=f"{kind.__name__} with a part that is {kind.__name__} again"):
        kind((A, kind((B, C))))


@pytest.mark.parametrize("conditions", [(AllOf((A, B)),), (A, AllOf((B, C)))])
def test_a_rule_joins_its_conditions_itself(conditions):
    """Conditions of a rule are joined by `and` already."""
    with pytest.raises(DeclarationError, match="rule: an AllOf among its conditions, want the parts of it"):
        Rule(Fraction(1), conditions)


def test_the_negation_of_a_match_has_one_form():
    """`not token_match` is the condition that the release writes as a comparison with false."""
    with pytest.raises(DeclarationError, match="not token_match: want the condition 'token_match == false'"):
        Not(MATCH)
    assert negate(MATCH) == Condition(Feature.TOKEN_MATCH, Comparison.EQUAL, value=False)
    assert negate(A) == Not(A)


def test_joining_what_is_joined_gives_one_junction():
    """So that formulas can be put together without looking inside."""
    assert all_of([A]) == any_of([A]) == A
    assert all_of([AllOf((A, B)), C]) == all_of([A, AllOf((B, C))]) == AllOf((A, B, C))
    assert any_of([AnyOf((A, B)), C]) == any_of([A, AnyOf((B, C))]) == AnyOf((A, B, C))
    assert all_of([AnyOf((A, B)), C]) == AllOf((AnyOf((A, B)), C))


@pytest.mark.parametrize(
    "grow",
    [
        Not,
        lambda part: Scan(Pick.FIRST, part),
        lambda part: Not(AllOf((A, part))),
        lambda part: Not(any_of([A, part])),
    ],
)
def test_a_formula_deeper_than_the_limit_is_refused(grow):
    """Whoever walks over a formula, the independent checker too, may recur without fear."""
    with pytest.raises(
        DeclarationError, match=f"a condition of .* levels, want at most {DEEPEST}; write several"
    ):
        reduce(lambda formula, _: grow(formula), range(DEEPEST + 1), A)


def test_the_conditions_of_a_rule_are_one_level_deeper_when_there_are_several():
    """A rule that could be built but not be read back would break the law of the round trip."""
    deep = A
    for _ in range(DEEPEST):
        deep = Not(deep)
    Rule(Fraction(1), (deep,))
    with pytest.raises(DeclarationError, match=f"a condition of {DEEPEST + 1} levels"):
        Rule(Fraction(1), (deep, A))


def test_the_atoms_of_a_formula_come_from_left_to_right():
    """Whoever asks what a program looks at need not know how formulas are built."""
    tally, link = Tally(PairEnd.KEY, BRACKETS, 2, Comparison.EQUAL, 1), Bracketed(Link.PARTNER, BRACKETS)
    assert list(atoms(AnyOf((Not(AllOf((A, tally))), Scan(Pick.LAST, link), B)))) == [A, tally, link, B]


def test_tokens_are_found_at_any_depth_of_a_formula():
    """An unknown token hidden in a scan is as unknown as any."""
    formula = Not(Scan(Pick.FIRST, AnyOf((A, Bracketed(Link.UNMATCHED, BRACKETS)))))
    counted = Tally(PairEnd.QUERY, (8, 9), 99, Comparison.LESS, 77)
    rules = (Rule(Fraction(1), (formula,)), Rule(Fraction(0), (counted,)))
    assert Program(Fraction(0), rules, Otherwise.SELF).tokens() == {3, 4, 8, 9}
