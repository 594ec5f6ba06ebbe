"""Robustness at a final residual that a layer norm follows: sizes that keep a decision, and one that ends it.

Times the deviation, which is positive, a lead is affine in the residual plus a multiple of the deviation, and
a perturbation changes the deviation by no more than its size: docs/certificate.md has the bound, integer by
integer, and its proof.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import floor, isqrt

import numpy as np

from circuitproof.arithmetic.balls import Balls, Enclose, root_above
from circuitproof.arithmetic.grid import Grid
from circuitproof.arithmetic.limbs import Integers, factor_of, limbs_of, product
from circuitproof.forward.frozen import Frozen
from circuitproof.models.operators import LayerNorm
from circuitproof.proof.arithmetic import EnclosedNumbers, EnclosedRow
from circuitproof.proof.enclosed import NOT_KNOWN, Enclosed, NotKnown, Ternary
from circuitproof.proof.known import decides
from circuitproof.proof.regions.disturbed import Point

_TRIED = 8
"""Towards how many competitors perturbations are tried, those whose lead may end first."""
_HALVINGS = 12
_DOUBLINGS = 40
_NORM_BITS = 16


@dataclass(frozen=True, slots=True)
class LeadSlopes:
    """How the lead over one candidate depends on the residual, whatever the prompt: ⟨w, x⟩ + c·σ(x)."""

    place: int
    """That of the other candidate."""
    slope: Fraction
    """Σ abs(w_i): how fast a perturbation closes the part that is affine."""
    length: Fraction
    """At least the Euclidean length of w."""
    offset: Fraction
    """c."""


@dataclass(frozen=True, slots=True, eq=False)
class FinalNorm:
    """A final layer norm, and the rows and biases of the candidates behind it."""

    norm: LayerNorm
    gain: tuple[Grid, Grid]
    rows: Grid
    bias: Grid | None
    _known: dict[int, tuple[LeadSlopes, ...]] = field(
        default_factory=dict[int, tuple[LeadSlopes, ...]], init=False, repr=False
    )

    @property
    def unit(self) -> Fraction:
        """Return what the weights of leads count."""
        return _power(self.rows.exponent + self.gain[0].exponent) / self.rows.shape[1]

    def weights(self, winner: int, place: int) -> Integers:
        """Return w of the lead over a candidate: the rows' difference times the scale, less its mean."""
        one, other, scale = (
            row.astype(object) for row in (*self.rows.numbers[[winner, place]], self.gain[0].numbers[0])
        )
        apart = (one - other) * scale
        return np.asarray(apart * len(apart) - apart.sum())

    def products(self, centred: Integers) -> list[Fraction]:
        """Return the candidates' rows, times the scale, with what is the width times a centred row."""
        point = centred * self.gain[0].numbers[0].astype(object)
        found = _row_products(self.rows, point[:, None])
        return [self.unit * one for one in found]

    def slopes(self, winner: int) -> tuple[LeadSlopes, ...]:
        """Return how the lead over each other candidate depends on the residual."""
        if winner not in self._known:
            others, offsets = range(self.rows.shape[0]), self._offsets()
            self._known[winner] = tuple(
                _slopes(place, self.weights(winner, place), self.unit, offsets[winner] - offsets[place])
                for place in others
                if place != winner
            )
        return self._known[winner]

    def _offsets(self) -> list[Fraction]:
        """Return what each candidate's logit has that no residual changes."""
        shift = self.gain[1]
        products = _row_products(self.rows, shift.numbers.T)
        unit = _power(self.rows.exponent + shift.exponent)
        biases = [Fraction(0)] * len(products) if self.bias is None else self.bias.fractions()[0]
        return [unit * one + bias for one, bias in zip(products, biases, strict=True)]

    def logits(self, residuals: Balls, numbers: EnclosedNumbers) -> Iterator[Enclosed]:
        """Return the logits of final residuals."""
        arithmetic, unit = Enclose(numbers.precision), Fraction(1, 1 << numbers.precision)
        normed = arithmetic.normalise(residuals, self.norm, self.gain)
        found = arithmetic.affine(normed, self.rows, self.bias)
        for row, radius in zip(found.numbers.integers().tolist(), found.radii, strict=True):
            yield Enclosed(tuple(row), radius, unit)


def _row_products(rows: Grid, column: Integers) -> list[int]:
    """Return the products of rows of integers with a column."""
    return product(limbs_of(rows.numbers), factor_of(column)).integers()[:, 0].tolist()


def final_norm(frozen: Frozen, candidates: tuple[int, ...]) -> FinalNorm:
    """Return the layer norm before the logits, in a model that has it."""
    assert isinstance(frozen.architecture.norm, LayerNorm)  # noqa: S101  # who asks has seen it
    scale, shift = (frozen.tensor(f"logits.norm.{name}") for name in ("scale", "shift"))
    rows, bias = frozen.unembedding(candidates), frozen.logit_bias(candidates)
    return FinalNorm(frozen.architecture.norm, (scale, shift), rows, bias)


@dataclass(frozen=True)
class NormedDecision:
    """What is decided on a prompt, and its final residual, both enclosed."""

    norm: FinalNorm
    numbers: EnclosedNumbers
    logits: Enclosed
    residual: EnclosedRow

    @property
    def winner(self) -> int:
        return self.logits.leader

    def keeps(self, epsilon: Fraction) -> Ternary:
        """Say whether every perturbation of size at most `epsilon` keeps the decision."""
        if isinstance(self.logits.decision, NotKnown):
            return NOT_KNOWN
        if all(self.left(one, epsilon) > 0 for one in self.norm.slopes(self.winner)):
            return True
        return NOT_KNOWN if self.violation(epsilon) is None else False

    def may_be_decided(self, epsilon: Fraction) -> bool:
        """Say whether smaller radii may tell what is not known: here or under a perturbation."""
        if isinstance(self.logits.decision, NotKnown):
            return True
        if all(self.left(one, epsilon, is_least=False) > 0 for one in self.norm.slopes(self.winner)):
            return True
        return any(isinstance(found.decision, NotKnown) for _, found in self._tried(epsilon))

    def violation(self, epsilon: Fraction) -> Point | None:
        """Return a perturbation of a size after which another decision is known, if one is found."""
        changed = (eta for eta, found in self._tried(epsilon) if decides(found, self.winner) is False)
        return next(changed, None)

    def left(self, one: LeadSlopes, epsilon: Fraction, *, is_least: bool = True) -> Fraction:
        """Return what is left of a lead times the deviation, in units: the least, or the most."""
        size, sign = epsilon * (1 << self.numbers.precision), 1 if is_least else -1
        moved, rounded = (-floor(-size), 0) if is_least else (size, 1)
        off = sign * self._off
        below = max(self._deviation + rounded - off - moved, self._least + rounded)
        above = self._deviation + 1 - rounded + off + moved
        part = self._affine(one) - sign * one.length * self.residual.reach - size * one.slope
        return part + one.offset * (below if one.offset >= 0 else above)

    def kept_below(self) -> Fraction | None:
        """Return the largest size that is proved to keep a known decision; nothing if every size does.

        Sizes are multiples of a unit, so that none is rounded: of each lead the bound is then linear in the
        size, but for the least deviation, which gives a second line.
        """
        found = [size for one in self.norm.slopes(self.winner) if (size := self._end(one)) is not None]
        return Fraction(max(0, min(found)), 1 << self.numbers.precision) if found else None

    def _end(self, one: LeadSlopes) -> int | None:
        """Return the largest size, in units, at which the bound on a lead is positive; nothing if all are."""
        start = self._affine(one) - one.length * self.residual.reach
        if one.offset < 0:
            return _last(start + one.offset * (self._deviation + 1 + self._off), one.slope - one.offset)
        first = _last(start + one.offset * (self._deviation - self._off), one.slope + one.offset)
        second = _last(start + one.offset * self._least, one.slope)
        return None if first is None or second is None else max(first, second)

    def broken_at(self) -> tuple[Fraction, Point] | None:
        """Return about the least size of a perturbation that is found to change a known decision, and it."""
        low = self.kept_below()
        if low is None:
            return None
        largest = (max(map(abs, self.residual.numbers)) + self._deviation) * self.residual.unit
        step = max(low, largest / (1 << 10)) / (1 << 10)
        for _ in range(_DOUBLINGS):
            eta = self.violation(low + step)
            if eta is not None:
                return self._nearest(low, low + step, eta)
            low, step = low + step, 2 * step
            if step > largest * (1 << 10):
                return None
        return None

    def _nearest(self, low: Fraction, high: Fraction, eta: Point) -> tuple[Fraction, Point]:
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            found = self.violation(middle)
            low, high, eta = (middle, high, eta) if found is None else (low, middle, found)
        return high, eta

    def _tried(self, epsilon: Fraction) -> Iterator[tuple[Point, Enclosed]]:
        """Return perturbations of a size, with the logits that they bring."""
        if not len(self._signs):
            return
        unit = 1 << self.numbers.precision
        sizes = [floor(sign * epsilon * unit) for sign in (-1, 0, 1)]
        moves = np.array(sizes, dtype=object)[self._signs + 1]
        moved = np.array(self.residual.numbers, dtype=object) + moves
        radius = int(self.residual.reach) + root_above(moved.shape[1])
        logits = self.norm.logits(Balls(limbs_of(moved), (radius,) * len(moved)), self.numbers)
        for signs, found in zip(self._signs.tolist(), logits, strict=True):
            yield tuple(epsilon * sign for sign in signs), found

    @cached_property
    def _signs(self) -> Integers:
        """Return in which directions a lead falls fastest: that of its affine part, and that of all of it."""
        ends = [(self._end(one), one) for one in self.norm.slopes(self.winner)]
        nearest = sorted((end, place) for place, (end, _) in enumerate(ends) if end is not None)[:_TRIED]
        chosen = [ends[place][1] for _, place in nearest]
        weights = [self.norm.weights(self.winner, one.place) for one in chosen]
        found = [-np.sign(row).astype(int) for row in weights]
        found += [-self._steepest(row, one) for row, one in zip(weights, chosen, strict=True) if one.offset]
        return np.array(found, dtype=int).reshape(len(found), len(self._centred))

    def _steepest(self, weights: Integers, one: LeadSlopes) -> Integers:
        """Return the signs of the derivative of a lead times the deviation: w + c·(x − mean)/(d·σ)."""
        factor = one.offset / (self.norm.unit * len(weights) ** 2 * self._deviation)
        total = weights * factor.denominator + self._centred * factor.numerator
        return np.sign(total).astype(int)

    def _affine(self, one: LeadSlopes) -> Fraction:
        """Return ⟨w, x⟩ in units."""
        return self._products[self.winner] - self._products[one.place]

    @cached_property
    def _products(self) -> list[Fraction]:
        return self.norm.products(self._centred)

    @cached_property
    def _centred(self) -> Integers:
        """Return the width times the midpoints less their mean."""
        numbers = np.array(self.residual.numbers, dtype=object)
        return np.asarray(numbers * len(numbers) - numbers.sum())

    @cached_property
    def _deviation(self) -> int:
        square, width = int((self._centred * self._centred).sum()), len(self._centred)
        return isqrt(floor(Fraction(square, width**3) + self._variance))

    @property
    def _variance(self) -> Fraction:
        """Return what the norm adds to the variance, in squares of a unit."""
        return self.norm.norm.epsilon * (1 << 2 * self.numbers.precision)

    @property
    def _least(self) -> int:
        """Return what the deviation of any row is at least."""
        return isqrt(floor(self._variance))

    @property
    def _off(self) -> int:
        """Return how far the deviation of the residual may be from that of its midpoints."""
        return -(-int(self.residual.reach) // isqrt(len(self._centred)))


def _slopes(place: int, row: Integers, unit: Fraction, offset: Fraction) -> LeadSlopes:
    numbers: Sequence[int] = row.tolist()
    square = unit * unit * sum(number * number for number in numbers) * (1 << 2 * _NORM_BITS)
    length = Fraction(root_above(-floor(-square)), 1 << _NORM_BITS)
    return LeadSlopes(place, unit * sum(map(abs, numbers)), length, offset)


def _last(start: Fraction, fall: Fraction) -> int | None:
    """Return the largest integer k with start − k·fall > 0, `fall` being no less than zero; nothing if all.

    >>> _last(Fraction(7), Fraction(2)), _last(Fraction(8), Fraction(2)), _last(Fraction(1), Fraction(0))
    (3, 3, None)
    """
    if not fall:
        return None if start > 0 else -1
    return -floor(-start / fall) - 1


def _power(exponent: int) -> Fraction:
    return Fraction(1 << max(exponent, 0), 1 << max(-exponent, 0))
