"""Exact vectors and matrices: Python integers over one common denominator."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from math import gcd, lcm
from typing import ClassVar

from .reading import DIGESTED, canonical, sha256
from .work import MOST_DIGITS, NUMBER, STEP, bound, key, paid, spend, spend_numbers, weight

_SLOT_STEP = 8
"""Slots grow in steps of so many bytes, so that most vectors find the matrix packed wide enough."""


@dataclass(frozen=True)
class Vector:
    """The numbers divided by the denominator, in lowest terms: equal vectors are equal objects."""

    numbers: tuple[int, ...]
    denominator: int
    __hash__: ClassVar[None] = None  # pyright: ignore[reportIncompatibleMethodOverride]  # its key is

    @cached_property
    def key(self) -> bytes:
        """Return what stands for the vector in dictionaries."""
        return key((*self.numbers, self.denominator))

    @property
    def bits(self) -> int:
        """Return how many bits its longest number has, or its denominator."""
        return max(self.denominator.bit_length(), longest(self.numbers))

    def fractions(self) -> tuple[Fraction, ...]:
        spend(len(self.numbers) * (2 * NUMBER + weight(self.bits)))
        return tuple(Fraction(number, self.denominator) for number in self.numbers)


def key_of(number: Fraction) -> bytes:
    """Return what stands for a rational in dictionaries."""
    return key(number.as_integer_ratio())


def reckon(*rows: Sequence[Fraction]) -> None:
    """Pay for comparing or adding the rationals of rows, once each."""
    count = sum(map(len, paid(rows)))
    spend(count * STEP)
    sizes = [max(one.numerator.bit_length(), one.denominator.bit_length()) for row in rows for one in row]
    spend(count * (2 * NUMBER + weight(2 * max(sizes, default=0))))


def digest_of(row: Sequence[Fraction]) -> str:
    """Return the digest that stands for a row: of its canonical JSON, each rational in lowest terms."""
    spelled = canonical([_spelled(number) for number in paid(row)]).encode()
    spend(len(spelled) >> DIGESTED)
    return sha256(spelled)


def _spelled(number: Fraction) -> str:
    digits = 2 + 3 * (number.numerator.bit_length() + number.denominator.bit_length()) // 10
    bound(digits, MOST_DIGITS, "the number of digits of a logit")
    spend(NUMBER + (digits**2 >> 13))
    return str(number)


def longest(numbers: Sequence[int]) -> int:
    """Return how many bits the longest of some integers has."""
    return max(max(numbers, default=0).bit_length(), min(numbers, default=0).bit_length())


def vector(numbers: Iterable[int], denominator: int = 1) -> Vector:
    """Return the vector of `numbers` over a positive denominator."""
    entries = tuple(numbers)  # callers have paid for making those that are long
    spend(len(entries) * (NUMBER + weight(max(denominator.bit_length(), longest(entries)))))
    common = gcd(denominator, *entries)
    if common == 1:
        return Vector(entries, denominator)
    return Vector(tuple(number // common for number in entries), denominator // common)


def common_multiple(denominators: Sequence[int]) -> int:
    spend(NUMBER * (1 + len(denominators)))
    distinct = [one for one, _ in groupby(sorted(denominators))]
    spend(weight(sum(one.bit_length() for one in distinct)))
    return lcm(*distinct)


def from_fractions(entries: Sequence[Fraction]) -> Vector:
    """Return the vector of some rationals."""
    common = common_multiple([entry.denominator for entry in paid(entries)])
    spend_numbers(len(entries), common.bit_length())
    return vector((entry.numerator * (common // entry.denominator) for entry in entries), common)


def mix(weights: Sequence[Fraction | int], vectors: Sequence[Vector], width: int) -> Vector:
    """Return the weighted sum of vectors; of none, zeros."""
    spend(STEP * len(vectors))
    bottoms = [share.denominator * term.denominator for share, term in zip(weights, vectors, strict=True)]
    common = common_multiple(bottoms)
    bits = max((term.bits for term in vectors), default=0)
    spend_numbers((1 + len(bottoms)) * width, common.bit_length() * (1 + bits // 1800))
    numbers = [0] * width
    for share, term, bottom in zip(weights, vectors, bottoms, strict=True):
        factor = share.numerator * (common // bottom)
        pairs = zip(numbers, term.numbers, strict=True)
        numbers = [number + factor * entry for number, entry in pairs]
    return vector(numbers, common)


def total(vectors: Sequence[Vector], width: int) -> Vector:
    """Return the sum of vectors; of none, zeros."""
    return vectors[0] if len(vectors) == 1 else mix([1] * len(vectors), vectors, width)


def scaled(left: Vector, right: Vector) -> Vector:
    """Return the product coordinate by coordinate."""
    spend_numbers(len(left.numbers), left.bits + right.bits + left.bits * right.bits // 1800)
    products = (a * b for a, b in zip(left.numbers, right.numbers, strict=True))
    return vector(products, left.denominator * right.denominator)


def rotated(point: Vector, cosines: Vector, sines: Vector) -> Vector:
    """Return a vector with coordinates m and m + h turned as a pair, h being the length of the tables."""
    half, height = len(cosines.numbers), len(point.numbers)
    common = common_multiple([cosines.denominator, sines.denominator])
    bits = point.bits + 2 * common.bit_length() + cosines.bits + sines.bits
    spend_numbers(3 * height, bits + bits * point.bits // 1800)
    turns = [number * (common // cosines.denominator) for number in cosines.numbers]
    lifts = [number * (common // sines.denominator) for number in sines.numbers]
    first, second, rest = point.numbers[:half], point.numbers[half : 2 * half], point.numbers[2 * half :]
    rows = list(zip(first, second, turns, lifts, strict=True))
    numbers = [a * c - b * s for a, b, c, s in rows] + [b * c + a * s for a, b, c, s in rows]
    return vector([*numbers, *(number * common for number in rest)], point.denominator * common)


def dot(left: Vector, right: Vector) -> Fraction:
    spend_numbers(len(left.numbers), left.bits + right.bits + left.bits * right.bits // 1800)
    spend(weight(left.bits + right.bits))
    product = sum(a * b for a, b in zip(left.numbers, right.numbers, strict=True))
    return Fraction(product, left.denominator * right.denominator)


def centred(point: Vector) -> Vector:
    """Return the vector minus its mean."""
    spend_numbers(len(point.numbers), point.bits)
    count, mass = len(point.numbers), sum(point.numbers)
    return vector((count * number - mass for number in point.numbers), count * point.denominator)


def rectified(point: Vector, slope: Fraction) -> Vector:
    """Return the positive entries as they are and the others times `slope`."""
    top, bottom = slope.numerator, slope.denominator
    spend_numbers(len(point.numbers), point.bits + bottom.bit_length() * (1 + point.bits // 1800))
    entries = (number * (bottom if number > 0 else top) for number in point.numbers)
    return vector(entries, point.denominator * bottom)


def projected(point: Vector, mass: Fraction) -> Vector:
    """Return max(x − τ, 0) with τ such that the entries sum to `mass`, which is positive.

    The largest entries stay, as many as exceed the τ of those before them; the first always does.
    """
    common = common_multiple([point.denominator, mass.denominator])
    spend_numbers(len(point.numbers), 2 * (point.bits + common.bit_length()))
    entries = [number * (common // point.denominator) for number in point.numbers]
    excess, count = -mass.numerator * (common // mass.denominator), 0
    for entry in sorted(entries, reverse=True):
        if count * entry <= excess:
            break
        excess, count = excess + entry, count + 1
    return vector((max(count * entry - excess, 0) for entry in entries), count * common)


class Matrix:
    """A matrix, given by its columns, for many exact products with vectors.

    A column is packed into one integer, an entry per slot of `_size` bytes (Kronecker substitution). Then W x
    is the sum of x_j times column j: one multiplication of integers per column. A slot is wide enough when
    it holds every possible sum with its sign.
    """

    def __init__(self, entries: Vector, width: int) -> None:
        self._entries = entries
        self._width = width
        self._height = len(entries.numbers) // width
        self._bits = longest(entries.numbers) + width.bit_length() + 1
        self._size = 0
        self._columns: list[int] = []

    def apply(self, point: Vector) -> Vector:
        """Return the exact product with a vector."""
        bits = longest(point.numbers)
        cost = self._height * (self._bits + bits) * (bits + 30) // 90_000
        spend(self._width * (NUMBER + cost) + self._height * (NUMBER + (self._bits + bits) // 16))
        self._pack(self._bits + bits)
        pairs = zip(point.numbers, self._columns, strict=True)
        packed = sum(number * column for number, column in pairs if number)
        size, offset = self._size, 1 << (8 * self._size - 1)
        slots = (packed + self._everywhere(offset)).to_bytes(size * self._height, "little")
        places = range(0, len(slots), size)
        numbers = (int.from_bytes(slots[place : place + size], "little") - offset for place in places)
        return vector(numbers, point.denominator * self._entries.denominator)

    def _pack(self, bits: int) -> None:
        if bits <= 8 * self._size:
            return
        self._size = -(-bits // (8 * _SLOT_STEP)) * _SLOT_STEP
        spend(self._width * self._height * (2 + self._size // 4))
        self._columns = [self._column(index) for index in range(self._width)]

    def _column(self, index: int) -> int:
        size, offset = self._size, 1 << (8 * self._size - 1)
        entries = self._entries.numbers[index :: self._width]
        slots = b"".join([(entry + offset).to_bytes(size, "little") for entry in entries])
        return int.from_bytes(slots, "little") - self._everywhere(offset)

    def _everywhere(self, number: int) -> int:
        return int.from_bytes(number.to_bytes(self._size, "little") * self._height, "little")
