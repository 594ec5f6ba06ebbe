"""exp and GELU of many numbers at once, in limbs, rounded down; `transcendental` settles what is in doubt.

Numbers count units of 2^-w, w = 22·n, n limbs behind the point. None is negative here; a product drops what
is below, so that it is at most n units too small (`_product`). Errors are counted in units, and what is found
is kept only where no error within that count could change the integer.
"""

from collections.abc import Callable
from functools import cache
from math import factorial

import numpy as np
import numpy.typing as npt

from circuitproof.arithmetic import limbs, transcendental
from circuitproof.arithmetic.limbs import BITS, Integers, LimbParts, Limbs, carried, limbs_of
from circuitproof.models.operators import GeluForm

_GUARD = 24
"""At least so many bits behind the last that is asked for."""
_MOST_LIMBS = 12
"""With more, Python's integers are quicker."""
_MOST_AT_ONCE = 1 << 13
"""How many numbers are worked on at a time: what they need stays near the processor."""
_TABLE_BITS = 8
"""The exponentials of the first 8 bits of an argument, and of the next 8, are in tables."""
_START = 44
"""A reciprocal begins with a float that has been rounded down to so many bits, 41 of which are right."""
_START_RIGHT = 41


def floor_exp(arguments: Limbs, precision: int) -> Limbs:
    """Return ⌊2^p·exp(t)⌋ for arguments t of at most zero."""

    def approximate(some: Limbs, count: int) -> tuple[Limbs, LimbParts]:
        return _exp(_size(some), count, BITS * count - precision)

    def exact(some: Integers) -> Integers:
        return transcendental.floor_exp(some, precision)

    return _floors(arguments, precision, precision + 1, approximate, exact)


def floor_gelu(arguments: Limbs, form: GeluForm, precision: int) -> Limbs:
    """Return ⌊2^p·gelu(x)⌋."""

    def approximate(some: Limbs, count: int) -> tuple[Limbs, LimbParts]:
        return _gelu_tanh(some, count, BITS * count - precision)

    def exact(some: Integers) -> Integers:
        return transcendental.floor_gelu(some, form, precision)

    if form is not GeluForm.TANH:
        return limbs_of(exact(arguments.integers()))
    return _floors(arguments, precision, _farthest(precision), approximate, exact)


def _floors(
    arguments: Limbs,
    precision: int,
    farthest: int,
    approximate: Callable[[Limbs, int], tuple[Limbs, LimbParts]],
    exact: Callable[[Integers], Integers],
) -> Limbs:
    """Return values rounded down: approximated up to a distance from zero, where that leaves no doubt."""
    count = -(-(precision + _GUARD) // BITS)
    if count > _MOST_LIMBS:
        return limbs_of(exact(arguments.integers()))
    flat = Limbs(arguments.parts.reshape(len(arguments.parts), -1))
    found = [
        _floors_of(flat[start : start + _MOST_AT_ONCE], precision, farthest, (approximate, exact))
        for start in range(0, flat.shape[0], _MOST_AT_ONCE)
    ]
    parts = limbs.joined(found).parts if found else flat.parts
    return Limbs(parts.reshape(len(parts), *arguments.shape))


def _floors_of(
    some: Limbs,
    precision: int,
    farthest: int,
    ways: tuple[Callable[[Limbs, int], tuple[Limbs, LimbParts]], Callable[[Integers], Integers]],
) -> Limbs:
    count = -(-(precision + _GUARD) // BITS)
    guard = BITS * count - precision
    is_near = np.abs(_whole(some, precision)) < farthest
    values, error = ways[0](limbs.where(is_near, some, limbs_of(np.zeros((1,), dtype=np.int64))), count)
    below = _low_bits(_size(values), guard)
    is_certain = is_near & (below >= error) & (below < (1 << guard) - error)
    found = limbs.shift(values, -guard)
    places = np.flatnonzero(~is_certain)
    if not places.size:
        return found
    settled = np.zeros(some.shape, dtype=object)
    settled[places] = ways[1](some[places].integers())
    return limbs.where(is_certain, found, limbs_of(settled))


def _whole(numbers: Limbs, precision: int) -> LimbParts:
    """Return numbers as integers, rounded down, or a large one where they are larger."""
    whole = limbs.shift(numbers, -precision).parts
    small = whole[0] if len(whole) == 1 else np.where((whole[1:] == 0).all(axis=0), whole[0], 1 << BITS)
    return np.asarray(small)


def _size(numbers: Limbs) -> Limbs:
    return carried(np.where(numbers.is_negative, -numbers.parts, numbers.parts))


def _low_bits(numbers: Limbs, bits: int) -> LimbParts:
    """Return so many of the last bits, at most 62, of numbers that are not negative."""
    parts = numbers.parts[: -(-bits // BITS)]
    places = BITS * np.arange(len(parts)).reshape(-1, *(1,) * len(numbers.shape))
    return np.asarray((parts << places).sum(axis=0) & ((1 << bits) - 1))


def _product(left: Limbs, right: Limbs, count: int) -> Limbs:
    """Return products of numbers that are not negative: at most `count` units too small, never too large.

    Pairs of limbs below the last that is kept are left out: fewer than count − 1 units in all, and rounding
    takes less than one.
    """
    highest = len(left.parts) + len(right.parts) - 2
    if highest < count - 1:
        return Limbs(np.zeros((1, *np.broadcast_shapes(left.shape, right.shape)), dtype=np.int64))
    shape = np.broadcast_shapes(left.shape, right.shape)
    totals = np.zeros((highest - count + 3, *shape), dtype=np.int64)
    formed = np.empty(shape, dtype=np.int64)
    for i, one in enumerate(left.parts):
        for j in range(max(0, count - 1 - i), len(right.parts)):
            np.multiply(one, right.parts[j], out=formed)
            totals[i + j - count + 1] += formed
    found = carried(totals).parts
    return Limbs(found[1:] if len(found) > 1 else np.zeros_like(found))


def _exp(sizes: Limbs, count: int, guard: int) -> tuple[Limbs, LimbParts]:
    """Return exp(−t) for t given in units of 2^-p, and how many units of 2^-w it may be wrong.

    exp(−t) = 2^-k · exp(r), r from 0 to log 2 and a little more; log 2 is less than 3/2 units too small, so r
    is at most 3k/2 units too small and exp(r), below 2.1, less than 4k. r is i/2^8 + j/2^16 + s. The sum of
    the powers of s is less than count + 4 units off, each table less than 2, each product count; multiplied
    by numbers of at most 1.01 and 2.1 that makes less than 8·count + 24.
    """
    wide = limbs.shift(sizes, guard)
    whole = _as_float(wide, count) / np.log(2)
    halvings = np.floor(whole + 2.0**-20).astype(np.int64) + 1
    log_two = _constant(transcendental.log_two(BITS * count))
    rest = limbs.subtract(limbs.times(log_two, halvings), wide)
    top = rest.parts[count - 1] if len(rest.parts) >= count else np.zeros_like(halvings)
    first, second = top >> (BITS - _TABLE_BITS), (top >> (BITS - 2 * _TABLE_BITS)) & ((1 << _TABLE_BITS) - 1)
    small = rest.parts[:count].copy()
    if len(rest.parts) >= count:
        small[-1] &= (1 << (BITS - 2 * _TABLE_BITS)) - 1
    value = _product(_powers(carried(small), count), _table(count, 2 * _TABLE_BITS)[second], count)
    value = _product(value, _table(count, _TABLE_BITS)[first], count)
    return _halved(value, halvings), 4 * halvings + 8 * count + 24


def _halved(values: Limbs, times: LimbParts) -> Limbs:
    """Return numbers that are not negative, each halved so often, rounded down."""
    whole, rest = np.divmod(times, BITS)
    parts, height = values.parts, len(values.parts)
    padded = np.concatenate([parts, np.zeros((int(whole.max(initial=0)) + 2, *values.shape), dtype=np.int64)])
    columns = np.arange(values.shape[0], dtype=np.int64)
    found = [
        (padded[whole + place, columns] >> rest)
        | ((padded[whole + place + 1, columns] << (BITS - rest)) & ((1 << BITS) - 1))
        for place in range(height)
    ]
    return carried(np.stack(found))


def _powers(small: Limbs, count: int) -> Limbs:
    """Return the exponential series of arguments below 2^-16: 1 + s·(1 + s·(1/2 + s·(1/6 + …)))."""
    bits, last = BITS * count, 1
    while 2 * _TABLE_BITS * (last + 1) + factorial(last + 1).bit_length() <= bits + 1:
        last += 1
    total = _constant((1 << bits) // factorial(last))
    for number in range(last - 1, -1, -1):
        total = limbs.add(_product(small, total, count), _constant((1 << bits) // factorial(number)))
    return total


def _gelu_tanh(arguments: Limbs, count: int, guard: int) -> tuple[Limbs, LimbParts]:
    """Return x/(1 + exp(−v)), or −y·exp(−v)/(1 + exp(−v)) where x = −y, with v = 2c·y + 2ca·y³.

    With y < X, y² is less than count units too small, so 2c + 2ca·y² less than 2·count + X² + 1, v less than
    e = X·(2·count + X² + 1) + count. As exp and d/(1 + d) have slopes of at most 1 there, exp(−v) is off by
    what `_exp` says and e more, the quotient by that and `_reciprocal`'s count + 6; a product makes it X
    times that, and count for each of two products.
    """
    y = limbs.shift(_size(arguments), guard)
    bits = BITS * count
    slope, cubic = (_constant(found) for found in _gelu_constants(bits))
    bent = limbs.add(_product(_product(y, y, count), cubic, count), slope)
    decay, error = _exp(_product(y, bent, count), count, 0)
    share = _reciprocal(limbs.add(decay, _constant(1 << bits)), count)
    value = _product(y, limbs.where(arguments.is_negative, _product(decay, share, count), share), count)
    size = _whole(y, bits) + 1
    bent_error = size * (2 * count + size * size + 1) + count
    total = size * (error + bent_error + 2 * count + 6) + count + 2
    return carried(np.where(arguments.is_negative, -value.parts, value.parts)), total


def _reciprocal(numbers: Limbs, count: int) -> Limbs:
    """Return 1/a for a from 1 to 2, less than count + 6 units off.

    r, a float rounded down to 44 bits and a little further, is below 1/a, and e = 1 − a·r is below 2^-41;
    then 1/a is r·(1 + e·(1 + e·(…))), as far as powers of e are above a unit.
    """
    start = np.floor(2.0**_START / _as_float(numbers, count)).astype(np.int64) - 2
    begun = carried(np.stack([start & ((1 << BITS) - 1), start >> BITS]))
    one = _constant(1 << (BITS * count))
    product = limbs.shift(limbs.multiply(numbers, begun), -_START)
    error, total = limbs.subtract(one, product), one
    for _ in range(BITS * count // _START_RIGHT):
        total = limbs.add(one, _product(error, total, count))
    return limbs.shift(limbs.multiply(total, begun), -_START)


def _as_float(numbers: Limbs, count: int) -> npt.NDArray[np.float64]:
    """Return numbers as floats, to 2^-50 of their size and a little more."""
    parts = numbers.parts[-4:].astype(np.float64)
    first = len(numbers.parts) - len(parts)
    weights = [2.0 ** (BITS * (first + place - count)) for place in range(len(parts))]
    return np.asarray(sum(part * weight for part, weight in zip(parts, weights, strict=True)))


@cache
def _constant(number: int) -> Limbs:
    return limbs_of(np.array([number, None], dtype=object)[:1])


@cache
def _table(count: int, step: int) -> Limbs:
    found = transcendental.exponentials(BITS * count, step)
    return limbs_of(np.array([*found, None], dtype=object)[:-1])


@cache
def _gelu_constants(bits: int) -> tuple[int, int]:
    """Return 2c and 2ca, rounded down."""
    factor, slope = transcendental.TANH_FACTOR, transcendental.TANH_SLOPE
    return int(factor * 2**bits), int(factor * slope * 2**bits)


@cache
def _farthest(precision: int) -> int:
    """Return a distance from zero beyond which GELU is near to x or to zero for certain."""
    whole = np.array([*range(1, precision + 2), None], dtype=object)[:-1]
    is_far = transcendental.is_far_tanh(whole << precision, precision)
    return int(whole[np.argmax(is_far)])
