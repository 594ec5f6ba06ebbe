"""Exponentials of scores, for prompts of one length that end with one token."""

from collections.abc import Sequence
from dataclasses import dataclass

from circuitproof_check.enclosed import functions, rows
from circuitproof_check.enclosed.prices import spend, spend_numbers
from circuitproof_check.enclosed.rows import RowBall, ceiling
from circuitproof_check.reading import require
from circuitproof_check.work import NUMBER

from .automaton import Automaton
from .rows import Pair, SummedHead, TokenRows

MOST_GUARD = 1024
_KEPT = 1 << 20
"""How many exponentials are kept for other areas."""


@dataclass(frozen=True, slots=True)
class Exponential:
    """One of a score, rounded down, and the integers between which it lies."""

    floor: int
    least: int
    most: int


Exponentials = dict[Pair, Exponential]


class Tables:
    """Computes and keeps, for each length and last token, the exponentials of each head."""

    def __init__(self, found: TokenRows, automaton: Automaton) -> None:
        self.rows, self._automaton = found, automaton
        self._known: dict[tuple[int, int], list[Exponentials]] = {}
        self._count = 0

    def exponentials(self, length: int, last: int) -> list[Exponentials]:
        """Return those of each head, of all pairs of prompts of the pattern of this length and end."""
        if (length, last) not in self._known:
            pairs = self.pairs(length, last)
            self.rows.add(pairs)
            if self._count > _KEPT:
                self._known, self._count = {}, 0
            spend(NUMBER * len(self.rows.heads))
            end = (last, length - 1)
            self._known[length, last] = [self._of_head(head, pairs, end) for head in self.rows.heads]
            self._count += len(pairs) * len(self.rows.heads)
        return self._known[length, last]

    def pairs(self, length: int, last: int) -> list[Pair]:
        """Return the tokens that stand at each position of such prompts."""
        graph = self._automaton.graph(None, length)
        ending = None if graph is None else graph.within(length - 1, (last,))
        if ending is None:
            return []
        spend(NUMBER * length)
        return [(token, position) for position in range(length) for token in ending.standing(position)]

    def _of_head(self, head: SummedHead, pairs: Sequence[Pair], end: Pair) -> Exponentials:
        spend(NUMBER * len(pairs))
        precision, query = self.rows.precision, self.rows.query(head, end)
        found = self._scores(query, [head.keys[pair] for pair in pairs])
        largest = max(score for score, _ in found)
        guard = guard_of(largest - min(score for score, _ in found), precision)
        bits = precision + guard
        spend(len(pairs) * (functions.cost(bits) + 3 * NUMBER + bits // 10))
        exponentials: Exponentials = {}
        for pair, (score, off) in zip(pairs, found, strict=True):
            require(
                "precision_is_enough_for_scores", off <= 1 << precision, "certificate.precision", precision
            )
            floor = functions.exp_floor((score - largest) << guard, bits)
            least = floor - ceiling(floor * off, 1 << precision)
            most = floor + 1 + ceiling(2 * (floor + 1) * off, 1 << precision)
            exponentials[pair] = Exponential(floor, least, most)
        return exponentials

    def _scores(self, query: RowBall, keys: Sequence[RowBall]) -> list[tuple[int, int]]:
        """Return the score of each key, and how far it may be off."""
        scale = self.rows.size.attention_scale
        above, below = scale.numerator, scale.denominator << self.rows.precision
        spend(3 * NUMBER * len(keys))
        bits = query.bits + max(key.bits for key in keys)
        spend_numbers(2 * len(keys) * len(query.midpoints), bits * (1 + bits // 3600) + above.bit_length())
        length = rows.norm(query)
        found: list[tuple[int, int]] = []
        for key in keys:
            product = sum(a * b for a, b in zip(query.midpoints, key.midpoints, strict=True))
            far = length * key.radius + (rows.norm(key) + key.radius) * query.radius
            found.append((above * product // below, ceiling(above * far, below) + 1))
        return found


def guard_of(span: int, precision: int) -> int:
    """Return how many bits more than the precision an exponential has where scores span so much."""
    return min(MOST_GUARD, 32 * ceiling(3 * span, 1 << (precision + 6)))
