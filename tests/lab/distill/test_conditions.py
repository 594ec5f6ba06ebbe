import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.programs.atoms import Brackets
from circuitproof.programs.candidates import Grammar, Language, words_of
from circuitproof.programs.syntax import Pick
from circuitproof_lab.distill.conditions import Conditions
from circuitproof_lab.distill.prefix_table import PrefixTable

prompts = st.lists(st.integers(0, 2), min_size=1, max_size=5).map(tuple)
GRAMMAR = Grammar(picks=tuple(Pick), brackets=(Brackets(((0, 1), (0, 2))),), depth=2)


@given(st.lists(prompts, min_size=1, max_size=4))
def test_masks_are_those_of_the_exact_meaning(drawn):
    """Every single condition of a rich grammar, on prompts of several lengths that share prefixes."""
    prefix_table = PrefixTable(tuple(drawn))
    conditions = Conditions(prefix_table)
    for formula in Language(GRAMMAR, words_of(drawn, GRAMMAR)).singles()[::3]:
        assert np.array_equal(conditions.mask(formula), prefix_table.mask(formula)), formula
