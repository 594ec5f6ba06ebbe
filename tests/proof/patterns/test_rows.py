from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.circuits.graph import Head
from circuitproof.programs.atoms import Bracketed, Brackets, Tally
from circuitproof.programs.meaning import row
from circuitproof.programs.syntax import atoms
from circuitproof.programs.text import parse
from circuitproof.proof.patterns.regions import Missing, UnsettledError
from circuitproof.proof.patterns.rows import KeyToken, KnownQuery, classes_of, row_machine
from program_strategies import programs, prompts

HEAD = Head(0, 0)


def has_brackets(program):
    """Say whether a program matches brackets, which no machine follows."""
    found = [atom for rule in program.rules for one in rule.conditions for atom in atoms(one)]
    return any(
        isinstance(a, Bracketed) or (isinstance(a, Tally) and isinstance(a.of, Brackets)) for a in found
    )


def followed(program, prompt):
    """Return the weights of every guess that survives a prompt whose query is fully known."""
    last = prompt[-1]
    machine = row_machine(program, KnownQuery(HEAD, len(prompt), (last,), (last,), is_single=True))
    states = [(start, ()) for start in machine.starts]
    for position, token in enumerate(prompt):
        key = KeyToken(token, token, position, is_last=position == len(prompt) - 1)
        states = [
            (after, (*weights, weight))
            for state, weights in states
            for weight, after in machine.step(state, key)
        ]
    return [weights for state, weights in states if machine.ends(state)]


@given(programs.filter(lambda program: not has_brackets(program)), prompts)
def test_one_guess_survives_and_gives_the_programs_row(program, prompt):
    """Scans, counts and all other conditions mean what the program means."""
    (weights,) = followed(program, prompt)
    total = sum(weights)
    found = tuple((key, Fraction(weight, total)) for key, weight in enumerate(weights) if weight)
    if total:
        assert found == row(program, prompt, len(prompt) - 1)
    else:
        assert len(row(program, prompt, len(prompt) - 1)) <= 1


def first_weights(program):
    """Return what a first key may weigh where nothing is known of the query."""
    machine = row_machine(program, KnownQuery(HEAD, None, (0, 1), (0, 1), is_single=False))
    return [weight for weight, _ in machine.step(machine.starts[0], KeyToken(1, 1, 0, is_last=False))]


@pytest.mark.parametrize(
    ("condition", "missing"),
    [
        ("relative_distance == 1", Missing.LENGTH),
        ("query_position == 1", Missing.LENGTH),
        ("query_token == 1", Missing.LAST),
        ("token_match", Missing.LAST),
        ("unmatched {1: 2}", Missing.STRUCTURE),
    ],
)
def test_what_a_region_does_not_tell_is_named(condition, missing):
    """So that the region can be divided by it, or the node be named."""
    program = parse(f"default 0\nadd 1 when {condition}\notherwise self")

    def first_step():
        machine = row_machine(program, KnownQuery(HEAD, None, (0, 1), (0, 1), is_single=False))
        return list(machine.step(machine.starts[0], KeyToken(1, 1, 0, is_last=False)))

    with pytest.raises(UnsettledError, match=r"head 0\.0") as error:
        first_step()
    assert error.value.missing is missing


def test_a_token_matches_no_other_atom():
    """Where the last token cannot be the key's, it need not be known."""
    program = parse("default 0\nadd 1 when token_match\notherwise self")
    machine = row_machine(program, KnownQuery(HEAD, 3, (0, 1), (0, 1), is_single=False))
    assert [weight for weight, _ in machine.step(machine.starts[0], KeyToken(2, 5, 0, is_last=False))] == [0]


@given(programs, st.integers(0, 5))
def test_no_class_of_a_program_is_cut_by_its_tokens(program, token):
    """Tokens that a program does not name are all alike to it."""
    named = {one for tokens in classes_of(program) for one in tokens.listed}
    assert (token in named) == (token in program.tokens())
