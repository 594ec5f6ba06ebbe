"""Random programs and prompts, small enough that rules overlap, match and fail to match."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, combinations, combinations_with_replacement, product

from hypothesis import strategies as st

from circuitproof.errors import InputError
from circuitproof.programs.atoms import Bracketed, Brackets, Condition, Link, PairEnd, Tally
from circuitproof.programs.features import Comparison, Feature, WordKind
from circuitproof.programs.lines import parse_lines
from circuitproof.programs.syntax import (
    AllOf,
    Otherwise,
    Pick,
    Program,
    Rule,
    Scan,
    all_of,
    any_of,
    negate,
)

EQUALITIES = (Comparison.EQUAL, Comparison.UNEQUAL)
NUMERIC = tuple(comparison for comparison in Comparison if comparison is not Comparison.AMONG)
COMPARED = tuple(feature for feature in Feature if feature is not Feature.TOKEN_MATCH)

weights = st.one_of(
    st.just(Fraction(0)), st.integers(0, 3).map(Fraction), st.fractions(0, 5, max_denominator=12)
)
prompts = st.lists(st.integers(0, 5), min_size=1, max_size=8).map(tuple)


def members_of(numbers):
    """Draw a set of a few numbers, as conditions hold it."""
    return st.sets(numbers, min_size=1, max_size=4).map(lambda chosen: tuple(sorted(chosen)))


def compared_with(numbers, comparisons=NUMERIC):
    """Draw a comparison and its value."""
    return st.one_of(
        st.tuples(st.sampled_from(comparisons), numbers),
        st.tuples(st.just(Comparison.AMONG), members_of(numbers)),
    )


def _conditions_on(feature, numbers):
    comparisons = EQUALITIES if feature.words is WordKind.TOKEN else NUMERIC
    return compared_with(numbers, comparisons).map(lambda drawn: Condition(feature, *drawn))


def brackets_over(tokens):
    """Draw pairs of openers, which are even tokens, and closers, which are odd."""
    pairs = st.tuples(tokens.filter(lambda token: token % 2 == 0), tokens.filter(lambda token: token % 2))
    return st.sets(pairs, min_size=1, max_size=4).map(lambda chosen: Brackets(tuple(sorted(chosen))))


def evenly(*strategies):
    """Draw from each as often, however many alternatives it has inside."""
    return st.sampled_from(strategies).flatmap(lambda chosen: chosen)


@st.composite
def _tallies(draw, of):
    bound = draw(st.integers(1, 4))
    comparison, value = draw(compared_with(st.integers(0, bound)))
    return Tally(draw(st.sampled_from(PairEnd)), draw(of), bound, comparison, value)


def _formulas_of(inner):
    return st.one_of(
        inner.map(negate),
        st.builds(Scan, st.sampled_from(Pick), inner),
        st.lists(inner, min_size=2, max_size=3).map(all_of),
        st.lists(inner, min_size=2, max_size=3).map(any_of),
    )


def rule_of(weight, formulas):
    """Return the rule that joins formulas by `and`."""
    parts = [formula.parts if isinstance(formula, AllOf) else (formula,) for formula in formulas]
    return Rule(weight, tuple(chain.from_iterable(parts)))


def conditions_over(tokens, places):
    """Draw a comparison of a feature."""
    matches = st.builds(Condition, st.just(Feature.TOKEN_MATCH), st.sampled_from(EQUALITIES), st.booleans())
    others = [_conditions_on(one, tokens if one.words is WordKind.TOKEN else places) for one in COMPARED]
    return st.one_of(matches, *others)


def formulas_over(tokens, places):
    """Draw anything that may be asked of a query and a key."""
    brackets = brackets_over(tokens)
    atoms = evenly(
        conditions_over(tokens, places),
        _tallies(evenly(members_of(tokens), brackets)),
        st.builds(Bracketed, st.sampled_from(Link), brackets),
    )
    return st.recursive(atoms, _formulas_of, max_leaves=5)


def programs_over(tokens, places):
    """Draw a program of the whole language."""
    rules = st.builds(rule_of, weights, st.lists(formulas_over(tokens, places), max_size=3))
    return st.builds(Program, weights, st.lists(rules, max_size=4).map(tuple), st.sampled_from(Otherwise))


numbers = st.one_of(st.integers(0, 6), st.integers(0, 60_000))
brackets = brackets_over(st.integers(0, 5))
formulas = formulas_over(numbers, numbers)
programs = programs_over(numbers, numbers)
plain_rules = st.builds(Rule, weights, st.lists(conditions_over(numbers, numbers), max_size=3).map(tuple))
plain_programs = st.builds(
    Program, weights, st.lists(plain_rules, max_size=4).map(tuple), st.sampled_from(Otherwise)
)
"""Programs whose conditions are comparisons of features, joined by `and`."""


def accepts(lines, vocabulary) -> bool:
    """Say whether lines are a program in the grammar of the specification."""
    try:
        parse_lines(lines, "program", vocabulary)
    except InputError:
        return False
    return True


def all_rules(language) -> Iterator[Rule]:
    """Yield every rule of a bounded language, those with few conditions first."""
    conditions = language.conditions()
    for size in range(language.grammar.conditions + 1):
        for chosen, weight in product(combinations(conditions, size), language.grammar.weights):
            yield Rule(weight, chosen)


def all_programs(language) -> Iterator[Program]:
    """Yield every program of a bounded language, one by one: slow, and plain to see."""
    rules = tuple(all_rules(language))
    for size in range(language.grammar.rules + 1):
        for chosen in combinations_with_replacement(rules, size):
            for otherwise in language.grammar.otherwise:
                yield Program(Fraction(0), chosen, otherwise)
