from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bundle_maker import architecture
from circuitproof.declare.tasks.automaton import Automaton
from circuitproof.declare.tasks.patterns import read_pattern as read_by_engine
from circuitproof.errors import DeclarationError, InputError
from circuitproof.text.reading import Fields
from circuitproof_check.architecture import read_architecture
from circuitproof_check.patterns.runs import Region, Runs, World
from circuitproof_check.patterns.shapes import read_pattern
from circuitproof_check.reading import ForgedError
from circuitproof_check.task import Declared
from pattern_strategies import patterns

SIZE = read_architecture(architecture(vocabulary=10, context=9), "test")


@settings(max_examples=40)
@given(patterns())
def test_checker_and_engine_read_the_same_prompts(pattern):
    """Continuations on one side, derivatives on the other."""
    machine = Automaton(pattern, 10)
    found = read_pattern(pattern.to_json(), "pattern", SIZE)
    world = World(Declared(found, {}, frozenset()), 10, {})
    for size in range(1, min(pattern.longest, 3) + 1):
        for prompt in product((0, 1, 5, 9), repeat=size):
            assert world.holds(prompt) == (prompt in machine)
    assert Runs(world, Region(), ()).count() == machine.size
    assert sorted(world.atoms(Region(), ())) == sorted(machine.atoms)


TOKEN = {"tokens": [1]}
spelled = st.recursive(
    st.sampled_from([TOKEN, {"all but": []}, {"tokens": []}]),
    lambda inner: st.one_of(
        st.builds(lambda parts: {"sequence": parts}, st.lists(inner, max_size=3)),
        st.builds(lambda parts: {"choice": parts}, st.lists(inner, max_size=3)),
        st.builds(
            lambda part, least, most: {"repeat": part, "least": least, "most": most},
            inner,
            st.integers(0, 2),
            st.one_of(st.none(), st.integers(0, 2)),
        ),
    ),
    max_leaves=4,
)


def is_refused(read, *refusals):
    """Say whether a reader refuses something."""
    try:
        read()
    except refusals:
        return True
    return False


@settings(max_examples=200)
@given(spelled, st.integers(1, 4))
@example({"choice": [TOKEN]}, 1)
@example({"choice": []}, 1)
@example({"sequence": [TOKEN]}, 1)
@example({"sequence": []}, 1)
@example({"choice": [TOKEN, {"choice": [TOKEN, TOKEN]}]}, 1)
@example({"sequence": [TOKEN, {"sequence": [TOKEN, TOKEN]}]}, 3)
@example({"sequence": [TOKEN, TOKEN]}, 3)
def test_checker_and_engine_refuse_the_same_shapes(shape, longest):
    """A pattern that the engine would not ask about is not one to check: it has one spelling."""
    pattern = {"shape": shape, "clauses": [], "longest": longest}
    by_engine = is_refused(
        lambda: read_by_engine(Fields({"pattern": pattern}, "domain")), DeclarationError, InputError
    )
    assert is_refused(lambda: read_pattern(pattern, "pattern", SIZE), ForgedError) == by_engine


@pytest.mark.parametrize("depth", [3, 30])
def test_the_longest_prompt_of_nested_repeats_is_no_large_number(depth):
    """It is counted up to the longest that is declared."""
    shape = TOKEN
    for _ in range(depth):
        shape = {"repeat": shape, "least": 1, "most": 10**18}
    assert read_pattern({"shape": shape, "clauses": [], "longest": 9}, "pattern", SIZE).longest == 9
