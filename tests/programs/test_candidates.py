from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.errors import DeclarationError, InputError
from circuitproof.files.canonical import canonical_json
from circuitproof.files.reading import parse_json, reading
from circuitproof.programs.atoms import Brackets
from circuitproof.programs.candidates import (
    FEATURES,
    Grammar,
    Language,
    NamedOperand,
    read_language,
    simplicity,
    words_of,
)
from circuitproof.programs.features import Feature, WordKind
from circuitproof.programs.syntax import Otherwise, Pick, Rule
from circuitproof.programs.text import parse, to_text
from program_strategies import all_programs, all_rules

BRACKETS = Brackets(((1, 2),))

words = st.builds(NamedOperand, st.sampled_from(WordKind), st.integers(0, 3))
grammars = st.builds(
    Grammar,
    rules=st.integers(1, 2),
    conditions=st.integers(1, 2),
    alternatives=st.integers(1, 2),
    members=st.integers(1, 2),
    features=st.lists(st.sampled_from(FEATURES), max_size=2, unique=True).map(tuple),
    picks=st.lists(st.sampled_from(Pick), max_size=1).map(tuple),
    brackets=st.sampled_from([(), (BRACKETS,)]),
    weights=st.sampled_from([(Fraction(1),), (Fraction(1), Fraction(1, 2))]),
    otherwise=st.sampled_from([(Otherwise.SELF,), tuple(Otherwise)]),
)
languages = st.builds(Language, grammars, st.lists(words, max_size=2, unique=True).map(tuple))


def texts(language):
    """Return the text of every program."""
    return [to_text(program) for program in all_programs(language)]


@given(languages.filter(lambda language: language.program_count() < 3000))
def test_the_count_is_that_of_the_list(language):
    """A certificate states the number; nobody lists a million programs to know it."""
    assert len(language.conditions()) == language.condition_count()
    assert len(list(all_rules(language))) == language.rule_count()
    assert len(texts(language)) == language.program_count()


@given(languages.filter(lambda language: language.program_count() < 3000))
def test_programs_are_listed_once_and_can_be_read_back(language):
    """Each is a sentence of the language that `parse` knows."""
    listed = texts(language)
    assert len(set(listed)) == len(listed)
    assert [to_text(parse(text)) for text in listed[:50]] == listed[:50]


@given(languages)
def test_a_language_is_read_back_as_it_was_written(language):
    """So that a certificate can be checked by somebody else; the order of words says nothing."""
    with reading(parse_json(canonical_json(language.to_json()), "test"), "test") as fields:
        found = read_language(fields)
    assert found.grammar == language.grammar
    assert frozenset(found.words) == frozenset(language.words)


def test_a_small_language_word_by_word():
    """One token, one rule, one condition: nothing, everything, the token, all but the token."""
    language = Language(Grammar(rules=1, features=(Feature.KEY_TOKEN,)), (NamedOperand(WordKind.TOKEN, 7),))
    assert [text.splitlines()[1:-1] for text in texts(language)] == [
        [],
        ["add 1"],
        ["add 1 when key_token == 7"],
        ["add 1 when key_token != 7"],
    ]


def test_scans_brackets_depth_and_alternatives_are_conditions_too():
    """The extended language is in the grammar where it is asked for."""
    grammar = Grammar(
        features=(), picks=(Pick.NEAREST,), brackets=(BRACKETS,), depth=1, alternatives=2, members=1
    )
    tokens = (NamedOperand(WordKind.TOKEN, 7), NamedOperand(WordKind.TOKEN, 8))
    language = Language(grammar, tokens)
    lines = {to_text(parse("default 0\notherwise self")), *texts(language)}
    said = "".join(lines)
    assert len(language.singles()) == 2 + 2 + 4
    assert language.condition_count() == 8 + 28
    for phrase in ("nearest key_token == 7", "unmatched", "partner", "key_depth", "query_depth", " or "):
        assert phrase in said


def test_words_are_those_of_the_prompts_that_the_grammar_can_name():
    """Tokens that no prompt has could not tell prompts apart."""
    grammar = Grammar(features=(Feature.KEY_TOKEN, Feature.RELATIVE_DISTANCE))
    assert list(map(str, words_of([(7, 8), (9,)], grammar))) == [
        "token 7",
        "token 8",
        "token 9",
        "distance 0",
        "distance 1",
    ]
    assert words_of([(7, 8)], Grammar(features=(Feature.TOKEN_MATCH,))) == ()


def test_fewer_rules_are_simpler_then_fewer_comparisons_then_shorter_texts():
    """The representative of a meaning is what a person would write."""
    plain, one, other, both = (
        parse(f"default 0\n{line}\notherwise self").rules[0]
        for line in (
            "add 1",
            "add 1 when token_match",
            "add 1 when key_position == 1",
            "add 1 when token_match and key_position == 1",
        )
    )
    assert simplicity(plain) < simplicity(one) < simplicity(other) < simplicity(both) < 2 * simplicity(plain)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rules": 0}, "rules is 0, want at least 1"),
        ({"conditions": 0}, "conditions is 0, want at least 1"),
        ({"depth": -1}, "depth is -1, want 0, or more with brackets to count"),
        ({"depth": 2}, "depth is 2, want 0, or more with brackets to count"),
        ({"otherwise": ()}, "no choice for otherwise"),
        ({"weights": ()}, "want at least one weight, each above 0"),
        ({"weights": (Fraction(0),)}, "want at least one weight, each above 0"),
        ({"picks": (Pick.FIRST, Pick.FIRST)}, "picks lists something twice"),
    ],
)
def test_a_grammar_that_says_nothing_is_refused(change, sentence):
    """Otherwise a certificate could be about an empty language."""
    with pytest.raises(DeclarationError, match=sentence):
        Grammar(**change)


def test_brackets_that_are_no_pairs_are_refused():
    """In a file from outside."""
    content = Language(Grammar(brackets=(BRACKETS,)), ()).to_json()
    content["grammar"]["brackets"] = [[[1, 2, 3]]]
    with pytest.raises(InputError, match="want 2 entries"), reading(content, "x") as it:
        read_language(it)


def test_the_default_weight_is_left_to_rules():
    """A rule without conditions is what a default weight would be."""
    language = Language(Grammar(rules=1, features=()), ())
    assert [program.rules for program in all_programs(language)] == [(), (Rule(Fraction(1)),)]
