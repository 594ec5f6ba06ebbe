import re
from itertools import product

import pytest
from hypothesis import given, settings

from circuitproof.errors import InputError
from circuitproof.tasks import automaton as module
from circuitproof.tasks.automaton import Automaton, automaton
from circuitproof.tasks.pattern_text import parse_pattern
from circuitproof.tasks.patterns import Alternation, CountClause, Repeat, Sequence, TokenClass
from pattern_strategies import all_prompts, patterns

VOCABULARY = 4


def expression(shape):
    """Return a shape as a regular expression over digits: the slow obvious twin."""
    match shape:
        case TokenClass():
            members = [token for token in range(VOCABULARY) if token in shape]
            return f"[{''.join(map(str, members))}]" if members else "(?!)"
        case Sequence(parts):
            return "".join(f"(?:{expression(part)})" for part in parts)
        case Alternation(parts):
            return "|".join(f"(?:{expression(part)})" for part in parts)
        case Repeat(part, least, most):
            return f"(?:{expression(part)}){{{least},{'' if most is None else most}}}"


def is_denoted(pattern, prompt):
    """Say whether a prompt is one of a pattern, by its definition."""
    if not re.fullmatch(expression(pattern.shape), "".join(map(str, prompt))):
        return False
    for clause in pattern.clauses:
        places = [place for place, token in enumerate(prompt) if token in clause.of]
        if isinstance(clause, CountClause):
            if len(places) < clause.least or (clause.most is not None and len(places) > clause.most):
                return False
        elif any(not clause.first <= place <= clause.last for place in places):
            return False
    return True


def small(pattern):
    """Return the pattern with tokens that a small vocabulary has, and short prompts."""
    text = repr(pattern)
    return (
        all(
            int(number) < VOCABULARY
            for listed in re.findall(r"listed=\(([\d, ]*)\)", text)
            for number in re.findall(r"\d+", listed)
        )
        and pattern.longest <= 4
    )


@settings(max_examples=60)
@given(patterns().filter(small))
def test_counting_membership_and_listing_agree_with_regular_expressions(pattern):
    """Nothing is counted twice and nothing is left out."""
    machine = Automaton(pattern, VOCABULARY)
    every = [p for n in range(1, pattern.longest + 1) for p in product(range(VOCABULARY), repeat=n)]
    denoted = [prompt for prompt in every if is_denoted(pattern, prompt)]
    listed = all_prompts(machine)
    assert sorted(listed) == sorted(denoted)
    assert machine.size == len(denoted)
    assert [prompt for prompt in every if prompt in machine] == denoted


def test_a_number_of_prompts_beyond_any_list_is_exact():
    """One of four openers at one of n places, and any of the others elsewhere."""
    machine = automaton(parse_pattern("any{1..1024} with exactly 1 of [366, 705, 7203, 10786]"), 50257)
    assert machine.size == sum(4 * n * 50253 ** (n - 1) for n in range(1, 1025))


def test_a_pattern_may_denote_no_prompt():
    """Then there are none to count, which whoever asks about them must refuse."""
    assert automaton(parse_pattern("1 with exactly 1 of 2"), 5).size == 0


def test_a_pattern_of_too_many_states_is_refused(monkeypatch):
    """Many bounded repetitions have to be told apart at each position."""
    monkeypatch.setattr(module, "_MOST_STATES", 100)
    with pytest.raises(InputError, match="more than 100 states; write repetitions without bounds"):
        _ = Automaton(parse_pattern("1{0..20} 2{0..20} 1{0..20}"), 5).size
