"""Products of integer matrices by BLAS: integers cut into digits so narrow that no sum is rounded.

A digit has 16 bits, so that it can be read off the bytes of an integer. A product of two digits is below 2³²,
and as long as the inner axis has at most 2²¹ entries, a sum of such products is an integer of at most 2⁵³:
exact in FP64 in any order of summation.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[Any]
"""A matrix of machine integers or of Python integers."""
Digits = npt.NDArray[np.float64]

_BITS = 16
_MASK = (1 << _BITS) - 1
_LONGEST_SUM = 1 << 21
_MOST_DIGITS = 1 << 10
"""Fewer sums than this, each of at most 2⁵³, add up within a machine integer."""
_PLAIN_PRODUCTS = 1 << 12
"""Up to so many products, Python's own integers are quicker than digits."""
_CARRIED = 4
"""How many digits hold what is carried out of the last one, which is a machine integer."""


def column(numbers: Iterable[int]) -> Integers:
    """Return integers of any size as a column of Python integers."""
    listed = list(numbers)
    found = np.empty(len(listed), dtype=object)
    found[:] = listed
    return found


def integer_product(left: Integers, right: Integers) -> Integers:
    """Return the product of two matrices of integers, as Python integers."""
    if not left.any():
        return np.zeros((left.shape[0], right.shape[1]), dtype=object)
    if left.size * right.shape[1] <= _PLAIN_PRODUCTS or left.shape[1] > _LONGEST_SUM:
        return _plain_product(left, right)
    lefts, rights = _digits(left), _digits(right)
    if min(len(lefts), len(rights)) >= _MOST_DIGITS:
        return _plain_product(left, right)
    totals: list[Any] = [0] * (len(lefts) + len(rights) - 1)
    stacked = np.concatenate(lefts)
    for j, other in enumerate(rights):
        for i, product in enumerate(np.split((stacked @ other).astype(np.int64), len(lefts))):
            totals[i + j] = totals[i + j] + product
    return _joined(totals)


def _plain_product(left: Integers, right: Integers) -> Integers:
    return np.asarray(left.astype(object) @ right.astype(object))


def _digits(numbers: Integers) -> list[Digits]:
    """Return the digits of integers, lowest first; only the last has a sign."""
    bits = max(int(numbers.max(initial=0)), -int(numbers.min(initial=0))).bit_length()
    count = bits // _BITS + 1  # one bit for the sign
    if numbers.dtype != object:
        places = range(count - 1)
        lower = [((numbers >> (_BITS * place)) & _MASK).astype(np.float64) for place in places]
        return [*lower, (numbers >> (_BITS * (count - 1))).astype(np.float64)]
    size = count * _BITS // 8
    raw = b"".join([number.to_bytes(size, "little", signed=True) for number in numbers.ravel().tolist()])
    found = np.frombuffer(raw, dtype="<u2").reshape(*numbers.shape, count)
    lower = [found[..., place].astype(np.float64) for place in range(count - 1)]
    return [*lower, found[..., count - 1].astype(np.int16).astype(np.float64)]


def _joined(totals: Sequence[Integers]) -> Integers:
    """Return the sum of machine integers that each count 16 more bits than the one before."""
    rows, columns = totals[0].shape
    count = len(totals) + _CARRIED
    digits = np.empty((rows, columns, count), dtype="<u2")
    carry: Integers = np.zeros((rows, columns), dtype=np.int64)
    for place in range(count):
        carried = carry + totals[place] if place < len(totals) else carry
        digits[..., place] = carried & _MASK
        carry = carried >> _BITS
    raw, size = digits.tobytes(), 2 * count
    joined = np.empty(rows * columns, dtype=object)
    joined[:] = [
        int.from_bytes(raw[at : at + size], "little", signed=True) for at in range(0, len(raw), size)
    ]
    return joined.reshape(rows, columns)
