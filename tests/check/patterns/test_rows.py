import pytest
from hypothesis import given

from circuitproof.programs.atoms import Bracketed, Brackets
from circuitproof.programs.syntax import atoms
from circuitproof.programs.text import to_text
from circuitproof_check.patterns.rows import KeyToken, QueryFacts, is_local, make_row, token_tests
from circuitproof_check.programs import parse_program
from program_strategies import programs, prompts

VOCABULARY = 10**18


def read(text):
    """Return a program as the checker reads it."""
    return parse_program(text.splitlines(), "test", VOCABULARY)


@given(programs, prompts)
def test_one_guess_survives_and_gives_the_row_that_the_checker_computes_for_a_prompt(program, prompt):
    """The row of a pattern's prompt is the row of the prompt; brackets are not followed."""
    parsed, last = read(to_text(program)), prompt[-1]
    query = QueryFacts(len(prompt), frozenset({last}), (last,), is_single=True, longest=len(prompt))
    if any(word in to_text(program) for word in ("unmatched", "partner", "depth")):
        assert parsed.has_brackets
        with pytest.raises(NotImplementedError, match="brackets"):
            make_row(parsed, query)
        return
    assert not parsed.has_brackets
    row = make_row(parsed, query)
    states = [(start, ()) for start in row.starts()]
    for place, token in enumerate(prompt):
        key = KeyToken(token, token, place, is_last=place == len(prompt) - 1)
        states = [(after, (*old, w)) for state, old in states for w, after in row.step(state, key)]
    (weights,) = [weights for state, weights in states if row.ends(state)]
    expected = parsed.row(prompt, len(prompt) - 1)
    if sum(weights):
        assert tuple(weight / sum(weights) for weight in weights) == expected
    else:
        assert expected[-1] == row.is_self


@given(programs)
def test_every_token_that_a_program_names_is_told_from_the_others(program):
    """Two tokens of which all tests say the same are the same to the program."""
    tests = token_tests(read(to_text(program)))
    named = {token for atom in tokens_by_atom(program) for token in atom}
    rest = tuple(test(VOCABULARY - 1) for test in tests)
    assert all(tuple(test(token) for test in tests) != rest for token in named)


def tokens_by_atom(program):
    """Return the tokens that single conditions on tokens and counts name."""
    for rule in program.rules:
        for condition in rule.conditions:
            for atom in atoms(condition):
                if not isinstance(atom, Bracketed) and not isinstance(getattr(atom, "of", None), Brackets):
                    yield tuple(atom.tokens())


def test_a_local_program_looks_at_pairs():
    """Whether tokens are the same is more than that."""
    line = "default 1\nadd 1 when {}\notherwise self"
    assert is_local(read(line.format("key_token == 3 and not query_position < 2")))
    assert not is_local(read(line.format("nearest key_token == 3")))
    assert not is_local(read(line.format("token_match")))
