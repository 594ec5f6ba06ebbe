"""exp, ln and GELU of dyadic numbers, rounded down to the last bit.

A number is a pair of integers that it lies between, in units of 2^-w. Where both round down to the same
integer, that is the one; otherwise w grows. Sums have positive terms only and every step rounds down, so that
a result is never above the true value; how far below it can be is counted.
"""

from collections.abc import Callable
from functools import lru_cache
from math import isqrt

from circuitproof_check.work import ExceededError, spend

_GUARD = 40
_MOST_GUARD = 1 << 16
_STEP = 64
"""Working precisions are multiples of so many bits, so that constants are made a few times."""
_LINEAR, _CUBIC = 7978845608028654, 44715
"""c of GELU in units of 10^-16 and a in units of 10^-6."""
_SCALE = 10**22


def exp_floor(top: int, precision: int) -> int:
    """Return ⌊2^p·exp(t)⌋ for t = top/2^p ≤ 0."""
    if top == 0:
        return 1 << precision
    if -top >> precision > precision:  # exp(t) ≤ e^-(p + 1) < 2^-p
        return 0
    return _settled(precision, 0, lambda bits: _exp_between(top, precision, bits))


def ln_floor(top: int, precision: int) -> int:
    """Return ⌊2^p·ln(t)⌋ for t = top/2^p ≥ 1.

    For t = 1 + u, u > 0, ln t is between u - u²/2 and u: where (2^p·u)² ≤ 2^(p+1), less than a unit below u.
    """
    over = top - (1 << precision)
    if over * over >> (precision + 1) == 0:
        return max(0, over - 1)
    return _settled(precision, 0, lambda bits: _ln_between(top, precision, bits))


def gelu_tanh_floor(top: int, precision: int) -> int:
    """Return ⌊2^p·gelu(x)⌋ for x = top/2^p and the form `tanh`: x/(1 + e), e = exp(-2c(x + a·x³)).

    For positive x it is less than x, by less than x·e; for negative x = -y it is -y·e'/(1 + e') with
    e' = exp(-2c(y + a·y³)), which is above -y·e'. As 2c·log2(e) > 2, e and e' are below 2^-2|x|: where
    |x|·2^p ≤ 2^(2|x|), the distance from x, or from 0, is less than a unit.
    """
    size = abs(top)
    if top == 0 or 2 * (size >> precision) >= size.bit_length():
        return 0 if top == 0 else top - 1 if top > 0 else -1
    return _settled(precision, 0, lambda bits: _gelu_tanh_between(top, precision, bits))


def gelu_exact_floor(top: int, precision: int) -> int:
    """Return ⌊2^p·x·Φ(x)⌋ for x = top/2^p, Φ the normal distribution.

    1 - Φ(|x|) ≤ exp(-x²/2)/2 < 2^(-18x²/25): where |x|·2^p ≤ 2^(18x²/25), less than a unit is missing.
    """
    size = abs(top)
    whole = size >> precision
    if top == 0 or 18 * whole * whole >= 25 * size.bit_length():
        return 0 if top == 0 else top - 1 if top > 0 else -1
    growth = (whole + 1) * (whole + 1) + 4
    return _settled(precision, growth, lambda bits: _gelu_exact_between(top, precision, bits))


def _settled(precision: int, growth: int, between: Callable[[int], tuple[int, int]]) -> int:
    """Return the integer on which the two ends agree, in as many bits as that takes."""
    guard = _GUARD
    while guard < _MOST_GUARD:
        low, high = between(-(-(precision + growth + guard) // _STEP) * _STEP)
        if low == high:
            return low
        guard *= 2
        spend(cost(precision + guard))
    raise ExceededError("a number is too near to an integer for its floor to be known")


def cost(precision: int) -> int:
    """Return how many operations an exp of so many bits takes, and about how many a GELU."""
    words = (precision + _STEP) // 30
    return 2 * isqrt(precision + _STEP) * (4 + words * words // 90)


def _exp_between(top: int, precision: int, bits: int) -> tuple[int, int]:
    low, high = exp_ends(top << (bits - precision), bits)
    return low >> (bits - precision), high >> (bits - precision)


def exp_ends(top: int, bits: int) -> tuple[int, int]:
    """Return integers between which 2^w·exp(t) lies, t = top/2^w ≤ 0, w being `bits`.

    t = r - n·ln 2 with 0 ≤ r < ln 2. As ln 2 is rounded down, r may be 9n/8 units more than is computed, and
    exp(r) < 2 therefore 3n. The series of r/2^h, h ≥ 2, which is less than 1 unit more than is computed, has
    m terms, each off by less than 2 units (1 + 1/k for its own rounding, at most half of what the one before
    it is off), and the rest of it, where a term is 0, is less than 2. Squaring a number y that is off by E
    makes that 2y·E + 1 at most; the product of all these y, exp(r/2^h) to exp(r/2), is less than 2. So exp(r)
    is off by less than 2^(h+1)·(2m + 6) + 3n units.
    """
    logarithm = ln2(bits)
    halvings = isqrt(bits) // 2 + 2
    count = -(top // logarithm)
    small = (top + count * logarithm) >> halvings
    term = total = 1 << bits
    terms = 0
    while term:
        terms += 1
        term = (term * small >> bits) // terms
        total += term
    for _ in range(halvings):
        total = total * total >> bits
    off = ((2 * terms + 6) << (halvings + 1)) + 3 * count
    return total >> count, ((total + off) >> count) + 1


def _ln_between(top: int, precision: int, bits: int) -> tuple[int, int]:
    low, high = ln_ends(top << (bits - precision), bits)
    return low >> (bits - precision), high >> (bits - precision)


def ln_ends(top: int, bits: int) -> tuple[int, int]:
    """Return integers between which 2^w·ln(t) lies, t = top/2^w ≥ 1, w being `bits`.

    t = m·2^n with 1 ≤ m < 2, and ln m = 2^(h+1)·artanh(y), y = (r - 1)/(r + 1) < 1/3, r the root of m of
    order 2^h. A root halves what the number before it is off and is rounded by less than 1 unit, so r is less
    than 2 too small, and so is y, which changes by half of that at most and is rounded. Each power y^(2k+1)
    is less than 3 units too small: 3·y² is less than 1/3, y² is 7/3 units too small at most, which makes 7/9,
    and rounding 1. So each term of the series is less than 2 units too small, and the rest of it, where a
    power is 0, is less than 4. ln 2 is less than 2 units too small.
    """
    spend(2 * cost(bits))
    count = top.bit_length() - 1 - bits
    root, one = top >> count, 1 << bits
    halvings = isqrt(bits) // 2 + 2
    for _ in range(halvings):
        root = isqrt(root << bits)
    power = ((root - one) << bits) // (root + one)
    square = power * power >> bits
    total = terms = 0
    while power:
        total += power // (2 * terms + 1)
        power, terms = power * square >> bits, terms + 1
    low = (total << (halvings + 1)) + count * ln2(bits)
    return low, low + ((2 * terms + 4) << (halvings + 1)) + 2 * count


def _gelu_tanh_between(top: int, precision: int, bits: int) -> tuple[int, int]:
    """Return the floors of both ends; e grows where its exponent falls, by less than 2 units for one unit."""
    size = abs(top)
    cubic = 2 * _LINEAR * size * ((10**6 << 2 * precision) + _CUBIC * size * size)
    exponent = (cubic << bits) // (_SCALE << 3 * precision)
    low, high = exp_ends(-exponent - 1, bits)
    high += 2
    one = 1 << bits
    if top > 0:
        return (size << bits) // (one + high), (size << bits) // (one + low)
    return -size * high // (one + high), -size * low // (one + low)


def _gelu_exact_between(top: int, precision: int, bits: int) -> tuple[int, int]:
    """Return the floors of both ends of x·(1/2 ± φ(x)·S), S = Σ |x|^(2k+1)/(1·3·…·(2k+1)).

    `bits` are so many that φ, off by some units, may be multiplied with S < 2·exp(x²/2) < 2^(x² + 1). Term k
    is rounded by less than 4/3 units, a share of which goes on to later terms: altogether exp(x²/2) times
    that at most, which is 1.2·S or, where |x| < 1, 1.7. That x² is rounded takes less than 1/x² units from
    each unit of a term for each term before it, and 1/3 where |x| < 1. So m terms are off by less than
    3m·(S + 1) units, and the rest, where one is 0 and x² is less than half the next divisor, by less than
    the last one is.
    """
    size = abs(top)
    point = size << (bits - precision)
    square = point * point >> bits
    term, total, order = point, point, 1
    while term or square >> (bits - 1) >= order:
        order += 2
        term = (term * square >> bits) // order
        total += term
    above = total + ((total >> bits) + 2) * 4 * order
    low, high = exp_ends(-(size * size << bits >> (2 * precision + 1)) - 1, bits)
    root = root_of_two_pi(bits)
    least, most = low * total // (root + 2), -((high + 2) * above // -root)
    half, sign = 1 << (bits - 1), 1 if top > 0 else -1
    return top * (half + sign * least) >> bits, top * (half + sign * most) >> bits


@lru_cache(maxsize=64)
def root_of_two_pi(bits: int) -> int:
    """Return 2^w·√(2π), less than 2 too small."""
    more = bits + _STEP
    return isqrt(pi(more) << (more + 1)) >> _STEP


@lru_cache(maxsize=64)
def ln2(bits: int) -> int:
    """Return 2^w·ln 2, less than 1 + 2^-31 too small.

    It is 18·artanh(1/26) - 2·artanh(1/4801) + 8·artanh(1/8749).
    """
    return _rounded(bits, lambda w: 18 * _artanh(26, w) - 2 * _artanh(4801, w) + 8 * _artanh(8749, w))


@lru_cache(maxsize=64)
def pi(bits: int) -> int:
    """Return 2^w·π, less than 1 + 2^-31 too small: π = 16·arctan(1/5) - 4·arctan(1/239)."""
    return _rounded(bits, lambda w: 16 * _artanh(5, w, -1) - 4 * _artanh(239, w, -1))


def _rounded(bits: int, compute: Callable[[int], int]) -> int:
    """Return a constant rounded down: computed in units 2^64 times smaller, it is off by less than 2^32."""
    return (compute(bits + _STEP) - (1 << 32)) >> _STEP


def _artanh(base: int, bits: int, sign: int = 1) -> int:
    """Return Σ sign^k/((2k + 1)·base^(2k + 1)): artanh(1/base), or with sign -1 arctan(1/base)."""
    power, total, order, turn = (1 << bits) // base, 0, 1, 1
    spend(bits * (4 + bits // 100))
    while power:
        total += turn * (power // order)
        power, order, turn = power // (base * base), order + 2, turn * sign
    return total
