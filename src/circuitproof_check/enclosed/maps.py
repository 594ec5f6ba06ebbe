"""Affine maps of many enclosed rows at once.

The j-th numbers of all rows are packed into one integer, a number to a field (Kronecker substitution). Then
one multiplication with W_ij does the work of all rows, and the sum over j has in its fields what the rows
have in coordinate i.
"""

from collections.abc import Sequence
from operator import mul

from circuitproof_check.exact import Vector, longest
from circuitproof_check.work import NUMBER

from .prices import spend, spend_numbers
from .rows import RowBall, ceiling, root_above

TOGETHER = 64
"""So many rows are computed together: with more, an integer is so long that nothing is gained."""


class AffineMap:
    """A matrix, given row by row, and a bias, for which `None` stands where there is none."""

    def __init__(self, entries: Vector, width: int, bias: Vector | None, precision: int) -> None:
        """Bring everything over one power of two: W_ij = w_ij/2^s and 2^p·b_i = c_i/2^s."""
        bottom = 1 if bias is None else bias.denominator >> min(precision, bias.denominator.bit_length() - 1)
        below = max(entries.denominator, bottom)
        spend_numbers(2 * len(entries.numbers), entries.bits)
        factor = below // entries.denominator
        numbers = entries.numbers if factor == 1 else tuple(factor * one for one in entries.numbers)
        places = range(0, len(numbers), width)
        self._rows = [numbers[place : place + width] for place in places]
        added = [0] * len(self._rows) if bias is None else [one << precision for one in bias.numbers]
        self._added = [one * below // (1 if bias is None else bias.denominator) for one in added]
        self._shift = below.bit_length() - 1
        self._width = width
        square = sum(one * one for one in numbers)
        self._stretch = root_above(ceiling(square << 32, below * below))
        self._bits = max(longest(numbers) + width.bit_length(), longest(self._added)) + 2
        self.cost = len(numbers) * (2 + longest(numbers) // 60)

    def apply(self, rows: Sequence[RowBall]) -> list[RowBall]:
        """Return the image of each row."""
        found: list[RowBall] = []
        spend(NUMBER * len(rows))
        for start in range(0, len(rows), TOGETHER):
            found += self._together(rows[start : start + TOGETHER])
        return found

    def _together(self, rows: Sequence[RowBall]) -> list[RowBall]:
        """Compute rows in fields of so many bits that none overflows.

        With numbers below 2^a in absolute value, weights below 2^b and n of them, a sum is below n·2^(a + b),
        and with the bias below 2·max(n·2^(a + b), bias) ≤ 2^(a + bits - 1): with the field's middle added it
        is not negative and below 2^(a + bits), the field's end.
        """
        spend(sum(len(row.midpoints) for row in rows))
        size = -(-(max(longest(row.midpoints) for row in rows) + self._bits) // 8)
        words = size * len(rows) // 4 + 1
        spend(self.cost * (100 + words) // 100 + self._width * len(rows) * (NUMBER + size // 20))
        spend_numbers(len(self._rows) * len(rows), 8 * size)
        middle = 1 << (8 * size - 1)
        everywhere = int.from_bytes((1).to_bytes(size, "little") * len(rows), "little")
        columns = zip(*(row.midpoints for row in rows), strict=True)
        packed = [_packed(column, size, middle) - middle * everywhere for column in columns]
        lifted, shift = middle * everywhere, self._shift
        outputs: list[list[int]] = []
        for weights, added in zip(self._rows, self._added, strict=True):
            fields = sum(map(mul, weights, packed), lifted + added * everywhere)
            content = fields.to_bytes(size * len(rows), "little")
            starts = range(0, len(content), size)
            outputs.append(
                [(int.from_bytes(content[at : at + size], "little") - middle) >> shift for at in starts]
            )
        rounding = root_above(len(self._rows))
        images = zip(rows, zip(*outputs, strict=True), strict=True)
        return [
            RowBall(image, ceiling(self._stretch * row.radius, 1 << 16) + rounding) for row, image in images
        ]


def _packed(column: Sequence[int], size: int, middle: int) -> int:
    spend(len(column))
    return int.from_bytes(b"".join([(one + middle).to_bytes(size, "little") for one in column]), "little")
