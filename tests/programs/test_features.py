import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.programs.features import Comparison, Feature, Operand, comparing

TOKENS = {Operand.QUERY_TOKEN, Operand.KEY_TOKEN}


@pytest.mark.parametrize("feature", Feature)
def test_both_tokens_of_a_pair_are_read_only_to_say_whether_they_are_the_same(feature):
    """Cells of patterns look at one token of a class: only sameness can tell two of its tokens apart."""
    assert (set(feature.operands) >= TOKENS) is (feature.words is None) is (feature is Feature.TOKEN_MATCH)


@given(st.integers(0, 9), st.integers(0, 9))
def test_comparisons_are_those_of_numbers(number, value):
    """Python's own operators are the definition."""
    for comparison in set(Comparison) - {Comparison.AMONG}:
        assert comparing(comparison, value)(number) is eval(f"{number} {comparison} {value}")  # noqa: S307  # two numbers
    assert comparing(Comparison.AMONG, (value,))(number) is (number == value)
