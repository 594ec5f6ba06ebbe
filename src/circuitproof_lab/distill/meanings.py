"""Programs of a bounded language by their rows on some prefixes: programs with equal rows there are one.

The language is walked through with arrays, many programs at a time, and grows with its words: each time only
programs that say something new are formed. Two programs are one when the digests of their rows are equal;
rows are in smallest whole numbers, so that equal weights have one digest.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import combinations, combinations_with_replacement
from math import lcm
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from circuitproof.errors import DeclarationError, OverdueError
from circuitproof.files.canonical import Digest, digest_bytes
from circuitproof.programs.candidates import Grammar, Language, NamedOperand, multiset_count, simplicity
from circuitproof.programs.syntax import AnyOf, Formula, Otherwise, Program, Rule
from circuitproof.proof.effort import UNHURRIED, Pace
from circuitproof_lab.distill.prefix_table import LARGEST, ByteRows, PrefixTable

if TYPE_CHECKING:
    from circuitproof_lab.distill.conditions import Conditions

_BYTES_AT_ONCE = 1 << 24


@dataclass(frozen=True, slots=True)
class ProgramCandidate:
    """A program as places in a list of rules; it stands for all programs that mean the same."""

    rules: tuple[int, ...]
    otherwise: Otherwise


class Meanings:
    """The distinct meanings met so far, each with its simplest program and its overlap with a target."""

    def __init__(self, prefix_table: PrefixTable, grammar: Grammar, target: ByteRows) -> None:
        self.prefix_table, self.grammar, self.target = prefix_table, grammar, target
        self.words: tuple[NamedOperand, ...] = ()
        self.candidates: list[ProgramCandidate] = []
        self.overlaps: list[float] = []
        """For each candidate, intersection over union of its support with the target, mean over queries."""
        self._weights = _whole_weights(grammar)
        plain = simplicity(Rule(Fraction(1)))
        self._weight_costs = [simplicity(Rule(weight)) - plain for weight in grammar.weights]
        self._masks = _conditions_on(prefix_table)
        self._learnt: set[Formula] = set()
        self._known: dict[Formula, ByteRows] = {}
        self._conditions = _Masks(prefix_table)
        self._conjunctions = _Masks(prefix_table)
        self._effects = np.zeros((0, *target.shape), dtype=np.uint8)
        self._costs: list[int] = []
        self._formed = 0
        self._places: dict[bytes, int] = {}
        self._own = prefix_table.own()

    def __len__(self) -> int:
        return len(self.candidates)

    @property
    def language(self) -> Language:
        return Language(self.grammar, self.words)

    @property
    def digest(self) -> Digest:
        """Return the digest of the sorted digests of all meanings."""
        return digest_bytes(b"".join(sorted(self._places)))

    def learn(self, words: Iterable[NamedOperand]) -> int:
        """Add words and the rules that they allow; return how many programs `grow` will then form."""
        self.words = (*self.words, *words)
        first = len(self._conditions)
        for formula in self.language.conditions():
            if formula not in self._learnt:
                self._learnt.add(formula)
                self._conditions.add(self.mask(formula), (formula,))
        self._conjoin(first)
        masks = self._conjunctions.stacked()[:, None] * self._weights[:, None, None]
        self._effects = masks.reshape(-1, *self.target.shape)
        self._costs = [cost + extra for cost in self._conjunctions.costs for extra in self._weight_costs]
        return self._count(len(self._effects)) - self._count(self._formed)

    def grow(self, pace: Pace = UNHURRIED) -> range:
        """Form every program with a rule that is new since the last time; return the new candidates."""
        first, count, done = len(self), len(self._effects), 0
        total = self._count(count) - self._count(self._formed)
        if not self.candidates:
            self._meet(self.prefix_table.nothing()[None], [()])
            done = len(self.grammar.otherwise)
        for size in range(1, self.grammar.rules + 1):
            for tail, heads in _tails(size, self._formed, count, repeat=True):
                start = self._effects[list(tail)].sum(0, dtype=np.uint8)
                for part in _portions(heads, self.target.nbytes):
                    totals = self._effects[part.start : part.stop] + start
                    self._meet(totals, [(head, *tail) for head in part])
                    done += len(part) * len(self.grammar.otherwise)
                    pace.hear("programs formed", done, total)
                    if pace.is_over:
                        raise OverdueError("the work was ended while programs were formed: give more time")
        self._formed = count
        return range(first, len(self))

    def rows(self, places: Sequence[int]) -> ByteRows:
        """Return the rows of candidates, [candidate, key, prefix], in smallest whole numbers."""
        found = np.empty((len(places), *self.target.shape), dtype=np.uint8)
        for spot, place in enumerate(places):
            candidate = self.candidates[place]
            total = self._effects[list(candidate.rules)].sum(0, dtype=np.uint8)
            found[spot] = self._settled(total[None], candidate.otherwise)[0]
        return found

    def mask(self, formula: Formula) -> ByteRows:
        """Return where a condition holds, worked out once."""
        if isinstance(formula, AnyOf):
            return reduce(np.maximum, map(self.mask, formula.parts))
        if formula not in self._known:
            self._known[formula] = self._masks.mask(formula)
        return self._known[formula]

    def rule(self, place: int) -> Rule:
        """Return the simplest rule with the effect that candidates name by its place."""
        conjunction, weight = divmod(place, len(self._weights))
        return Rule(self.grammar.weights[weight], self._conjunctions.formulas[conjunction])

    def program(self, place: int) -> Program:
        """Return the simplest program of a candidate."""
        candidate = self.candidates[place]
        rules = sorted(map(self.rule, candidate.rules), key=simplicity)
        return Program(Fraction(0), tuple(rules), candidate.otherwise)

    def rank(self, place: int) -> tuple[float, int, int]:
        """Return a key that sorts candidates: the largest overlap first, then the simplest."""
        return (-round(self.overlaps[place], 9), self.cost(self.candidates[place]), place)

    def cost(self, candidate: ProgramCandidate) -> int:
        """Return how far from simple a candidate's program is."""
        return sum(self._costs[place] for place in candidate.rules)

    def _conjoin(self, first: int) -> None:
        """Add the conjunctions of conditions of which some are at or after `first`."""
        masks = self._conditions.stacked()
        if not len(self._conjunctions):
            self._conjunctions.add(self.prefix_table.causal(), ())
        for size in range(1, self.grammar.conditions + 1):
            for tail, heads in _tails(size, first, len(masks), repeat=False):
                for head in heads:
                    places = sorted((head, *tail))
                    mask = masks[places].min(0)
                    self._conjunctions.add(mask, tuple(self._conditions.formulas[p][0] for p in places))

    def _count(self, rules: int) -> int:
        return len(self.grammar.otherwise) * multiset_count(rules, self.grammar.rules) if rules else 0

    def _meet(self, totals: ByteRows, chosen: Sequence[tuple[int, ...]]) -> None:
        """Sort programs by meaning: new ones are kept, known ones keep the simpler program."""
        for otherwise in self.grammar.otherwise:
            rows = self._settled(totals.copy(), otherwise)
            fresh: list[int] = []
            for spot, rules in enumerate(chosen):
                name = meaning_name(rows[spot])
                candidate = ProgramCandidate(rules, otherwise)
                place = self._places.setdefault(name, len(self.candidates))
                if place == len(self.candidates):
                    self.candidates.append(candidate)
                    fresh.append(spot)
                elif self.cost(candidate) < self.cost(self.candidates[place]):
                    self.candidates[place] = candidate
            self.overlaps.extend(overlaps(rows[fresh], self.target, self.prefix_table.queries))

    def _settled(self, totals: ByteRows, otherwise: Otherwise) -> ByteRows:
        """Turn sums of weights into rows: the fallback where there is none, and no common factors."""
        is_empty = np.equal(totals.max(1), 0)
        if otherwise is Otherwise.SELF:
            totals += is_empty[:, None] & self._own
        has_one = np.any(totals == 1, axis=1)
        spots, columns = np.nonzero(~has_one & totals.any(1))
        numbers = totals[spots, :, columns]
        totals[spots, :, columns] = numbers // np.gcd.reduce(numbers, axis=1, keepdims=True)
        return totals


def _conditions_on(prefix_table: PrefixTable) -> "Conditions | PrefixTable":
    """Return what tells where conditions hold: all prompts at once in torch, or without it one by one."""
    try:
        from circuitproof_lab.distill.conditions import Conditions
    except ModuleNotFoundError:
        return prefix_table
    return Conditions(prefix_table)


class _Masks:
    """Distinct masks that hold somewhere, in order of appearance, each with its simplest formulas."""

    def __init__(self, prefix_table: PrefixTable) -> None:
        self.formulas: list[tuple[Formula, ...]] = []
        self.costs: list[int] = []
        self._masks: list[ByteRows] = []
        self._places: dict[bytes, int] = {}
        self._shape = prefix_table.nothing().shape

    def __len__(self) -> int:
        return len(self._masks)

    def add(self, mask: ByteRows, formulas: tuple[Formula, ...]) -> None:
        """Take in a mask; of several formulas for one, the simplest stays. What never holds is left out."""
        name = mask.tobytes()
        if name not in self._places and not mask.any():
            return
        cost = simplicity(Rule(Fraction(1), formulas))
        place = self._places.setdefault(name, len(self._masks))
        if place == len(self._masks):
            self._masks.append(mask)
            self.formulas.append(formulas)
            self.costs.append(cost)
        elif cost < self.costs[place]:
            self.formulas[place], self.costs[place] = formulas, cost

    def stacked(self) -> ByteRows:
        return np.array(self._masks, dtype=np.uint8).reshape(-1, *self._shape)


def meaning_name(rows: ByteRows) -> bytes:
    """Return the digest that tells meanings apart, of rows in smallest whole numbers."""
    return hashlib.sha256(rows.data).digest()


def overlaps(rows: ByteRows, target: ByteRows, queries: npt.NDArray[np.int64]) -> list[float]:
    """Return the intersection over union of supports with a target's, the mean over queries.

    A query at which neither attends to anything counts as agreement.
    """
    is_kept, is_wanted = rows > 0, target > 0
    both = (is_kept & is_wanted).sum(1)
    either = (is_kept | is_wanted).sum(1)
    shares = np.where(either, both / np.maximum(either, 1), 1.0)
    return (shares @ (queries / queries.sum())).tolist()


def _tails(size: int, first: int, count: int, *, repeat: bool) -> Iterator[tuple[tuple[int, ...], range]]:
    """Return every choice of `size` of `count` places, some of them at or after `first`.

    Choices that differ in their smallest place alone come together: the others, and a range for that one.
    """
    if size == 1:
        yield (), range(first, count)
        return
    choose = combinations_with_replacement if repeat else combinations
    for tail in choose(range(count), size - 1):
        if tail[-1] >= first:
            yield tail, range(tail[0] + repeat)


def _portions(places: range, size: int) -> Iterator[range]:
    step = max(1, _BYTES_AT_ONCE // size)
    for start in range(places.start, places.stop, step):
        yield range(start, min(start + step, places.stop))


def _whole_weights(grammar: Grammar) -> ByteRows:
    common = lcm(*(weight.denominator for weight in grammar.weights))
    numbers = [int(weight * common) for weight in grammar.weights]
    if grammar.rules * max(numbers) > LARGEST:
        raise DeclarationError(
            f"grammar: {grammar.rules} rules of weight {max(grammar.weights)} are more than {LARGEST} times "
            f"1/{common}; want fewer rules or coarser weights"
        )
    return np.array(numbers, dtype=np.uint8)
