"""Arrays of long integers as machine integers: limbs of 22 bits, lowest first; the last has the sign.

A limb of one number times one of another is below 2⁴⁴, so thousands of such products add up within a machine
integer; and a limb times a digit of a `Factor`, at most 2²¹, adds up exactly in FP64 over 2¹⁰ terms, in any
order of summation, which is why products of matrices are left to BLAS.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Integers: TypeAlias = npt.NDArray[Any]
"""An array of machine integers or of Python integers."""
LimbParts: TypeAlias = npt.NDArray[np.int64]

BITS = 22
_MASK = (1 << BITS) - 1
_HALF = 1 << (BITS - 1)
_WORD = 16
"""Python's integers are read and written as words of 16 bits."""
_LONGEST_SUM = 1 << (53 - 2 * BITS + 1)
_MOST_PRODUCTS = 1 << 17
"""So many products of limbs add up within a machine integer."""
_MOST_DIVISOR_BITS = 40
_MOST_AT_ONCE = 1 << 19
"""About how many numbers a product forms before it carries."""


@dataclass(frozen=True, slots=True, eq=False)
class Limbs:
    """An array of integers: Σ parts[k]·2^(22k), with parts from 0 to 2²² − 1, but the last from −2²²."""

    parts: LimbParts

    @property
    def shape(self) -> tuple[int, ...]:
        return self.parts.shape[1:]

    @property
    def is_negative(self) -> npt.NDArray[np.bool_]:
        return self.parts[-1] < 0

    def __getitem__(self, place: Any) -> "Limbs":  # noqa: ANN401  # whatever indexes an array
        """Return the numbers at an index of the array."""
        return Limbs(self.parts[:, *place] if isinstance(place, tuple) else self.parts[:, place])

    def integers(self) -> Integers:
        """Return the same as Python integers."""
        count = len(self.parts) * BITS // _WORD + 1
        words = np.empty((*self.shape, count), dtype="<u2")
        sign = self.parts[-1] >> BITS
        for place in range(count):
            limb, shift = divmod(_WORD * place, BITS)
            word = self._part(limb, sign) >> shift
            if shift > BITS - _WORD:
                word |= self._part(limb + 1, sign) << (BITS - shift)
            words[..., place] = word & 0xFFFF
        raw, size = words.tobytes(), 2 * count
        found = np.empty(words.size // count, dtype=object)
        found[:] = [
            int.from_bytes(raw[at : at + size], "little", signed=True) for at in range(0, len(raw), size)
        ]
        return found.reshape(self.shape)

    def _part(self, place: int, sign: LimbParts) -> LimbParts:
        return self.parts[place] if place < len(self.parts) else sign


def column(numbers: Iterable[int]) -> Integers:
    """Return integers of any size as a column of Python integers."""
    listed = list(numbers)
    found = np.empty(len(listed), dtype=object)
    found[:] = listed
    return found


def limbs_of(numbers: Integers) -> Limbs:
    """Return integers as limbs."""
    largest = max(int(numbers.max(initial=0)), -int(numbers.min(initial=0)))
    count = largest.bit_length() // BITS + 1
    if numbers.dtype != object:
        places = [(numbers >> min(BITS * place, 63)) & _MASK for place in range(count - 1)]
        return Limbs(np.stack([*places, numbers >> min(BITS * (count - 1), 63)]))
    size = count * BITS // _WORD + 3  # a limb may begin in one word and end in the next but one
    raw = b"".join([number.to_bytes(2 * size, "little", signed=True) for number in numbers.ravel().tolist()])
    words = np.frombuffer(raw, dtype="<u2").reshape(*numbers.shape, size)
    parts = np.empty((count, *numbers.shape), dtype=np.int64)
    for place in range(count):
        word, shift = divmod(BITS * place, _WORD)
        three = (words[..., word + step].astype(np.int64) << (_WORD * step) for step in range(3))
        parts[place] = (sum(three) >> shift) & _MASK
    parts[-1] = (parts[-1] ^ _HALF) - _HALF
    return Limbs(parts)


def carried(parts: LimbParts) -> Limbs:
    """Return sums of machine integers, each below 2⁶² and counting 22 more bits than the one before.

    What is given is written over.
    """
    for place in range(len(parts) - 1):
        parts[place + 1] += parts[place] >> BITS
        parts[place] &= _MASK
    while parts.size and (parts[-1].max() > _MASK or parts[-1].min() < -_MASK - 1):
        parts = np.concatenate([parts, parts[-1:] >> BITS])
        parts[-2] &= _MASK
    while len(parts) > 1 and parts[-1].max(initial=-1) <= 0 and parts[-1].min(initial=0) >= -1:
        parts[-2] += parts[-1] << BITS
        parts = parts[:-1]
    return Limbs(parts)


def add(left: Limbs, right: Limbs) -> Limbs:
    """Return sums of numbers, one by one; an axis of length 1 is repeated."""
    count = max(len(left.parts), len(right.parts))
    return carried(_padded(left, count) + _padded(right, count))


def subtract(left: Limbs, right: Limbs) -> Limbs:
    """Return differences of numbers, one by one; an axis of length 1 is repeated."""
    count = max(len(left.parts), len(right.parts))
    return carried(_padded(left, count) - _padded(right, count))


def where(chosen: npt.NDArray[np.bool_], left: Limbs, right: Limbs) -> Limbs:
    """Return the numbers of one array where they are chosen, those of the other elsewhere."""
    count = max(len(left.parts), len(right.parts))
    return carried(np.where(chosen, _padded(left, count), _padded(right, count)))


def joined(some: Sequence[Limbs], axis: int = 0) -> Limbs:
    """Return arrays of numbers one after the other along an axis."""
    count = max(len(limbs.parts) for limbs in some)
    return carried(np.concatenate([_padded(limbs, count) for limbs in some], axis=axis + 1))


def _padded(limbs: Limbs, count: int) -> LimbParts:
    """Return at least so many parts, of which the last that were there have the sign."""
    missing = count - len(limbs.parts)
    if missing <= 0:
        return limbs.parts
    return np.concatenate([limbs.parts, np.zeros((missing, *limbs.shape), dtype=np.int64)])


def shift(limbs: Limbs, bits: int) -> Limbs:
    """Return numbers times 2^bits, rounded down."""
    parts, last = limbs.parts, BITS * (len(limbs.parts) - 1)
    if bits <= -last:
        return Limbs(parts[-1:] >> min(-bits - last, 63))
    whole, rest = divmod(bits, BITS)
    if whole >= 0:
        return carried(np.concatenate([np.zeros((whole, *limbs.shape), dtype=np.int64), parts << rest]))
    if not rest:
        return Limbs(parts[-whole:])
    shifted = parts[-whole:] << rest
    shifted[0] += parts[-whole - 1] >> (BITS - rest)
    return carried(shifted)


def times(limbs: Limbs, factors: Integers | int) -> Limbs:
    """Return numbers times machine integers, each below 2³⁹ in size."""
    return carried(limbs.parts * factors)


def multiply(left: Limbs, right: Limbs) -> Limbs:
    """Return products of numbers, one by one; an axis of length 1 is repeated."""
    shape = np.broadcast_shapes(left.shape, right.shape)
    totals = np.zeros((len(left.parts) + len(right.parts), *shape), dtype=np.int64)
    for i, one in enumerate(left.parts):
        for j, other in enumerate(right.parts):
            totals[i + j] += one * other
    return carried(totals)


def row_products(left: Limbs, right: Limbs) -> Limbs:
    """Return for each row the sum of the products of its numbers with those of the other's."""
    pairs = min(len(left.parts), len(right.parts))
    step, (rows, columns) = max(1, _MOST_PRODUCTS // pairs), left.shape
    total = Limbs(np.zeros((1, rows), dtype=np.int64))
    for start in range(0, columns, step):
        totals = np.zeros((len(left.parts) + len(right.parts), rows), dtype=np.int64)
        for i, one in enumerate(left.parts[:, :, start : start + step]):
            for j, other in enumerate(right.parts[:, :, start : start + step]):
                totals[i + j] += np.einsum("ij,ij->i", one, other)
        total = add(total, carried(totals))
    return total


def divide(limbs: Limbs, divisor: int) -> Limbs:
    """Return numbers divided by a positive integer, rounded down."""
    if divisor >> _MOST_DIVISOR_BITS:
        return limbs_of(limbs.integers() // divisor)
    parts = limbs.parts.copy()
    for place in range(len(parts) - 1, -1, -1):
        quotient, rest = np.divmod(parts[place], divisor)
        parts[place] = quotient
        if place:
            parts[place - 1] += rest << BITS
    return carried(parts)


def quotients(numbers: Limbs, bits: int, divisors: Sequence[int]) -> Limbs:
    """Return numbers times 2^bits, divided by a positive integer for each row, rounded down.

    A number c is multiplied by 2^q/d rounded down: with q = bits + b and c below 2^(b − 22) in size, that is
    off by less than 2^-22, towards zero. Where so little may change the integer, Python divides.
    """
    count = len(numbers.parts) + 1
    inverses = np.empty((len(divisors), 1), dtype=object)
    inverses[:, 0] = [(1 << (bits + BITS * count)) // divisor for divisor in divisors]
    products = multiply(numbers, limbs_of(inverses))
    last = shift(products, -BITS * (count - 1)).parts[0] & _MASK
    is_negative = numbers.is_negative
    is_open = (is_negative & (last == 0)) | (~is_negative & (last == _MASK))
    found = shift(products, -BITS * count)
    if not is_open.any():
        return found
    rows, columns = np.nonzero(is_open)
    settled = np.zeros(numbers.shape, dtype=object)
    places = zip(rows.tolist(), columns.tolist(), strict=True)
    for (row, column), number in zip(places, numbers[rows, columns].integers(), strict=True):
        settled[row, column] = (number << bits) // divisors[row]
    return where(is_open, limbs_of(settled), found)


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """A matrix of integers to be multiplied with from the right: digits from −2²¹ to 2²¹, lowest first."""

    digits: npt.NDArray[np.float32]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.digits.shape[1:]


def factor_of(numbers: Integers) -> Factor:
    """Return the digits of a matrix of integers."""
    parts = limbs_of(numbers).parts
    digits = np.empty((len(parts) + 1, *numbers.shape), dtype=np.float32)
    carry: LimbParts = np.zeros(numbers.shape, dtype=np.int64)
    for place, part in enumerate(parts):
        value = part + carry
        carry = (value + _HALF) >> BITS
        digits[place] = value - (carry << BITS)
    digits[-1] = carry
    return Factor(digits if carry.any() else digits[:-1])


def product(left: Limbs, right: Factor) -> Limbs:
    """Return the product of two matrices."""
    count, (rows, inner), columns = len(left.parts), left.shape, right.shape[1]
    totals = np.zeros((count + len(right.digits), rows, columns), dtype=np.int64)
    step = max(1, _MOST_AT_ONCE // (count * columns))
    for start in range(0, inner, _LONGEST_SUM):
        digits = [digit[start : start + _LONGEST_SUM].astype(np.float64) for digit in right.digits]
        for row in range(0, rows, step):
            some = left.parts[:, row : row + step, start : start + _LONGEST_SUM].astype(np.float64)
            for place, digit in enumerate(digits):
                found = some.reshape(-1, len(digit)) @ digit
                totals[place : place + count, row : row + step] += found.reshape(count, -1, columns).astype(
                    np.int64
                )
    return carried(totals)
