"""Comparing floating-point numbers so that a law holds on every CPU.

Processors add in different orders and fuse differently, so two of them differ in the last bits of a result,
and a model can turn a few bits into many. Two ways of computing one thing are therefore compared in FP64
(`agree`), or, where FP32 is what is meant, against a bound counted in roundings (`within`). No test guesses
how far off a number may be; `test_floats.py` sees to it.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

HALF = 2.0**-26
"""Half of the binary digits of FP64: the other half is room for what a model makes of its rounding."""
UNIT = 2.0**-24
"""What rounding to FP32 may change in a number, relative to its size."""

Numbers = Tensor | Sequence[float] | float


def agree(found: Numbers, wanted: Numbers) -> bool:
    """Say whether FP64 numbers are the same in half of the digits of the largest of them, or of one.

    A tensor of FP32 is refused: its last digits are the CPU's.
    """
    one, other = _fp64(found), _fp64(wanted)
    assert one.shape == other.shape, f"shapes {tuple(one.shape)} and {tuple(other.shape)}"
    if not one.numel():
        return True
    return bool((one - other).abs().max() <= HALF * other.abs().max().clamp(min=1))


def within(found: Numbers, wanted: Numbers, *, roundings: float, size: float) -> bool:
    """Say whether FP32 numbers are within so many roundings of numbers of this size from what is wanted."""
    one, other = (torch.as_tensor(numbers).detach().double() for numbers in (found, wanted))
    assert one.shape == other.shape, f"shapes {tuple(one.shape)} and {tuple(other.shape)}"
    return bool(((one - other).abs() <= roundings * UNIT * size).all())


def _fp64(numbers: Numbers) -> Tensor:
    if isinstance(numbers, Tensor):
        assert numbers.dtype == torch.float64, (
            f"{numbers.dtype} is compared; convert the model with .double()"
        )
        return numbers.detach()
    return torch.tensor(numbers, dtype=torch.float64)
