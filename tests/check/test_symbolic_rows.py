import pytest
from hypothesis import given

from circuitproof.programs.text import to_text
from circuitproof_check.programs import parse_program
from circuitproof_check.symbolic_rows import Key, Query, UnsettledError, is_local, make_row, token_classes
from program_strategies import programs, prompts


@given(programs, prompts)
def test_one_guess_survives_and_gives_the_row_that_the_checker_computes_for_a_prompt(program, prompt):
    """The row of a pattern's prompt is the row of the prompt; brackets are not followed."""
    lines, last = to_text(program).splitlines(), prompt[-1]
    query = Query(len(prompt), (last,), (last,), is_single=True)
    if any(word in to_text(program) for word in ("unmatched", "partner", "depth")):
        with pytest.raises(UnsettledError, match="brackets"):
            make_row(lines, query)
        return
    row = make_row(lines, query)
    states = [(start, ()) for start in row.starts()]
    for place, token in enumerate(prompt):
        key = Key(token, token, place, is_last=place == len(prompt) - 1)
        states = [(after, (*old, w)) for state, old in states for w, after in row.step(state, key)]
    (weights,) = [weights for state, weights in states if row.ends(state)]
    expected = parse_program(lines, "test").row(prompt, len(prompt) - 1)
    if sum(weights):
        assert tuple(weight / sum(weights) for weight in weights) == expected
    else:
        assert expected[-1] == row.is_self


@given(programs)
def test_every_token_of_a_program_is_told_apart(program):
    """Numbers of positions too, which does no harm."""
    found = {token for one in token_classes(to_text(program).splitlines()) for token in one.listed}
    assert program.tokens() <= found


def test_a_local_program_looks_at_pairs():
    """Whether tokens are the same is more than that."""
    assert is_local(["default 1", "add 1 when key_token == 3 and not query_position < 2", "otherwise self"])
    assert not is_local(["default 1", "add 1 when nearest key_token == 3", "otherwise self"])
    assert not is_local(["default 1", "add 1 when token_match", "otherwise self"])
