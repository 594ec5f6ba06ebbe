"""Other last bits than this machine's, to see on one CPU what another one might make of a test.

With `CIRCUITPROOF_ROUNDING=N` in the environment every result of a matrix product that is not a short number
is moved to a neighbour, or not, by its own bits and by N. So a run is still repeated bit by bit, equal
numbers stay equal, and zeros and small integers stay exact, as they do on every CPU. Only this process is
changed: a test that compares bits with another process's does not pass.
"""

import torch
from torch import Tensor
from torch.nn import functional

_BITS = {torch.float32: (torch.int32, 0xFF, 24), torch.float64: (torch.int64, 0xFFFF, 53)}
"""The integers as large as a number, the last bits that are zero in a short one, and its binary digits."""


def other_rounding(seed: int) -> None:
    """Make matrix products round otherwise from now on."""
    linear, matmul = functional.linear, Tensor.__matmul__
    functional.linear = lambda left, *right: _moved(linear(left, *right), left, seed)
    Tensor.__matmul__ = lambda left, *right: _moved(matmul(left, *right), left, seed)


def _moved(numbers: Tensor, left: Tensor, seed: int) -> Tensor:
    """Return a product with some numbers moved; where it multiplied only zeros it is as it was."""
    if numbers.dtype not in _BITS or not numbers.dim() == left.dim() > 1:
        return numbers
    integer, last, digits = _BITS[numbers.dtype]
    bits = numbers.detach().contiguous().view(integer)
    is_moved = ((bits & last) != 0) & left.detach().any(-1, keepdim=True)
    steps = (((bits * (2 * seed + 0x9E37)) >> 11) & 3).clamp(max=2) - 1
    return numbers + numbers.detach() * steps * is_moved * 2.0 ** (1 - digits)
