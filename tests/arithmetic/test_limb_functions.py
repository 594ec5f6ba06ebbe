"""exp and GELU in limbs: the very integers of the functions that are computed one by one."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.arithmetic import limb_functions, transcendental
from circuitproof.arithmetic.limbs import limbs_of
from circuitproof.models.operators import GeluForm

BITS = (16, 64, 101, 128, 300)


def array(numbers):
    """Return Python integers as an array."""
    return np.array([*numbers, None], dtype=object)[:-1]


@pytest.mark.parametrize("precision", BITS)
@given(data=st.data())
def test_values_are_those_of_the_slow_functions(precision, data):
    """Of small, ordinary and huge arguments, and next to multiples of a unit and of one."""
    some = [
        *data.draw(st.lists(st.integers(-(9 << precision), 9 << precision), min_size=1, max_size=20)),
        *data.draw(st.lists(st.integers(-300, 300), max_size=5)),
        *(whole << precision for whole in data.draw(st.lists(st.integers(-50, 50), max_size=5))),
        data.draw(st.integers(-(1 << (precision + 40)), 1 << (precision + 40))),
    ]
    numbers = array(some)
    for form in GeluForm:
        found = limb_functions.floor_gelu(limbs_of(numbers), form, precision).integers()
        assert found.tolist() == transcendental.floor_gelu(numbers, form, precision).tolist()
    below = -np.abs(numbers)
    found = limb_functions.floor_exp(limbs_of(below), precision).integers()
    assert found.tolist() == transcendental.floor_exp(below, precision).tolist()


def test_few_numbers_are_in_doubt():
    """The slow functions are asked about one of thousands; were errors said too large, about all."""
    draw = np.random.default_rng(0)
    numbers = array([int(one * 2**40) << 24 for one in draw.standard_normal(4000)])
    with patch.object(transcendental, "floor_gelu", wraps=transcendental.floor_gelu) as slow:
        limb_functions.floor_gelu(limbs_of(numbers), GeluForm.TANH, 64)
    assert sum(len(call.args[0]) for call in slow.call_args_list) < 8


def test_what_is_said_of_errors_is_needed():
    """With no error said, some integer is wrong: the doubt is what makes the values certain."""
    numbers = array([(place << 44) + 1 for place in range(-4000, 4000)])
    wanted = transcendental.floor_gelu(numbers, GeluForm.TANH, 50).tolist()
    plain = limb_functions._gelu_tanh

    def certain(some, count, guard):
        values, errors = plain(some, count, guard)
        return values, np.zeros_like(errors)

    with patch.object(limb_functions, "_gelu_tanh", certain), patch.object(limb_functions, "_GUARD", 2):
        found = limb_functions.floor_gelu(limbs_of(numbers), GeluForm.TANH, 50).integers()
    assert found.tolist() != wanted
    assert limb_functions.floor_gelu(limbs_of(numbers), GeluForm.TANH, 50).integers().tolist() == wanted
