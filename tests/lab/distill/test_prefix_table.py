import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.errors import InputError
from circuitproof.programs.meaning import normalised, row
from circuitproof.programs.text import parse
from circuitproof_lab.distill.prefix_table import PrefixTable, whole_numbers
from program_strategies import programs, prompts

prefix_tables = st.lists(prompts, min_size=1, max_size=4).map(lambda drawn: PrefixTable(tuple(drawn)))


@given(prefix_tables, programs)
def test_rows_are_the_exact_rows_of_each_query(prefix_table, program):
    """In whole numbers and back again."""
    try:
        rows = prefix_table.rows(program)
    except InputError:
        return
    for prompt in prefix_table.prompts:
        for query in range(len(prompt)):
            column = prefix_table.columns()[prompt[: query + 1]]
            assert normalised(rows[:, column].tolist()) == row(program, prompt, query)


@given(st.lists(prompts, min_size=1, max_size=5))
def test_every_query_is_counted_once(drawn):
    """Queries with the same prefix share a column; a prompt given twice is one prompt."""
    prefix_table = PrefixTable(tuple(drawn))
    assert prefix_table.queries.sum() == sum(len(prompt) for prompt in set(drawn))
    assert len(set(prefix_table.prefixes)) == len(prefix_table.prefixes)
    assert prefix_table.longest == max(map(len, drawn))


def test_masks_hold_where_a_condition_does():
    """At causal keys alone."""
    prefix_table = PrefixTable(((7, 8, 7),))
    (condition,) = parse("default 0\nadd 1 when key_token == 7\notherwise self").rules[0].conditions
    assert prefix_table.mask(condition).tolist() == [[1, 1, 1], [0, 0, 0], [0, 0, 1]]
    assert prefix_table.causal().tolist() == [[1, 1, 1], [0, 1, 1], [0, 0, 1]]
    assert np.array_equal(prefix_table.own(), np.eye(3))


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6))
def test_whole_numbers_have_no_common_factor(numbers):
    """So that equal weights have equal numbers."""
    again = dict(whole_numbers(normalised(numbers)))
    if any(numbers):
        assert np.gcd.reduce([*again.values()]) == 1
    assert normalised([again.get(key, 0) for key in range(len(numbers))]) == normalised(numbers)


def test_weights_too_far_apart_are_refused():
    """They are counted in bytes, and a certificate from outside may hold any."""
    program = parse("default 0\nadd 1\nadd 255 when key_token == 7\notherwise self")
    with pytest.raises(InputError, match="weights are as 256 to 1; want at most 255 to 1"):
        PrefixTable(((8, 7),)).rows(program)
