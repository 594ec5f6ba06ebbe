from itertools import product

import pytest
from hypothesis import given, settings

from bundle_maker import architecture
from circuitproof.tasks.automaton import Automaton
from circuitproof_check.architecture import read_architecture
from circuitproof_check.patterns.runs import PromptRegion, Runs, World
from circuitproof_check.patterns.shapes import read_pattern
from circuitproof_check.rules import OpenerRules
from circuitproof_check.task import DeclaredPattern
from pattern_strategies import patterns

SIZE = read_architecture(architecture(vocabulary=10, context=9), "test")


@settings(max_examples=40)
@given(patterns())
def test_checker_and_engine_read_the_same_prompts(pattern):
    """Continuations on one side, derivatives on the other."""
    machine = Automaton(pattern, 10)
    found = read_pattern(pattern.to_json(), "pattern", SIZE)
    world = World(DeclaredPattern(found, OpenerRules({}, frozenset())), 10, {})
    for size in range(1, min(pattern.longest, 3) + 1):
        for prompt in product((0, 1, 5, 9), repeat=size):
            assert world.holds(prompt) == (prompt in machine)
    assert Runs(world, PromptRegion(), ()).count() == machine.size
    assert sorted(world.atoms(PromptRegion(), ())) == sorted(machine.atoms)


TOKEN = {"tokens": [1]}


@pytest.mark.parametrize("depth", [3, 30])
def test_the_longest_prompt_of_nested_repeats_is_no_large_number(depth):
    """It is counted up to the longest that is declared."""
    shape = TOKEN
    for _ in range(depth):
        shape = {"repeat": shape, "least": 1, "most": 10**18}
    assert read_pattern({"shape": shape, "clauses": [], "longest": 9}, "pattern", SIZE).longest == 9
