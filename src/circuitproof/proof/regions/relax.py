"""A radius that is proved without splitting: no branch changes, or bends cost less than the margin.

An activation that bends upwards lies above each of its branches. So if one layer of it stands between a
perturbation and the logits, a margin is an affine form by the branches at η = 0, and what the bends add to
it: never less than nothing for a positive weight, and for a negative weight no more than the bend can move
beyond its corner. All of it is exact.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from circuitproof.arithmetic.affine import Affine, Forms, ScoreForms
from circuitproof.arithmetic.exact import Exact
from circuitproof.arithmetic.form_matrix import FormMatrix, SignCondition
from circuitproof.arithmetic.forms import Region
from circuitproof.arithmetic.grid import Grid, Integers
from circuitproof.errors import NotExactError
from circuitproof.models.operators import Activation, Attention, NoNorm, Norm, slope_of
from circuitproof.proof.regions.disturbed import Question, selector

_MOST_SLOPES = 1 << 26
"""How many slopes of what bends are held at once: more rows than these are not relaxed."""


def settled_radius(question: Question, radius: Fraction) -> Fraction:
    """Return a size, at most `radius`, below which no perturbation changes the decision."""
    return max(stable_radius(question, radius), relaxed_radius(question, radius))


def stable_radius(question: Question, radius: Fraction) -> Fraction:
    """Return a size, at most `radius`, below which branches and decision are those without a perturbation."""
    conditions: list[SignCondition] = []
    margins = question.margins(Region(radius), question.zero(), conditions)
    forms = (*margins, *(condition.form for condition in conditions))
    return min([radius, *(Fraction(abs(form.constant), form.spread()) for form in forms if form.spread())])


def relaxed_radius(question: Question, radius: Fraction) -> Fraction:
    """Return a size below which bends may change, but not the decision; zero unless one layer bends."""
    cut = _Cut(Region(radius), question.zero())
    try:
        logits = question.disturbed.logits(cut)
    except (_UnfitError, NotExactError):
        return Fraction(0)
    if logits.is_constant or not cut.hidden:
        return Fraction(0)
    matrix, winner = logits.matrix(0), question.winner
    others = [place for place in range(matrix.numbers.shape[1]) if place != winner]
    leads = [matrix.numbers[:, [winner]] - matrix.numbers[:, [place]] for place in others]
    roots = [_Bent(cut, FormMatrix(lead, matrix.denominator)).root() for lead in leads]
    return min([radius, *(root for root in roots if root is not None)])


class _UnfitError(Exception):
    """Something else than one layer of an activation stands before the logits, or more of it than is held."""


@dataclass
class _Cut(Affine):
    """Forms up to the first bends; what these hand on are variables of their own."""

    hidden: list[FormMatrix] = field(default_factory=list[FormMatrix])
    """For each row that depends on the perturbation, what is to be bent."""
    slope: Fraction = Fraction(0)

    def activate(self, values: Forms, activation: Activation) -> Forms:
        """Cut: return variables in the place of numbers that depend on the perturbation."""
        if values.is_constant or self.hidden:
            self._refuse(values)
            return super().activate(values, activation)
        self.slope = slope_of(activation)
        self.hidden = [values.matrix(row) for row in values.slopes]
        width, count = values.constant.shape[1], len(values.slopes)
        if (count * width) ** 2 > _MOST_SLOPES:
            raise _UnfitError
        still = Exact().activate(values.constant, activation)
        is_still = np.array([int(row not in values.slopes) for row in range(still.shape[0])], dtype=object)
        constant = Grid(still.numbers * is_still[:, None], still.exponent, still.denominators)
        slopes = {row: selector(place, count, width) for place, row in enumerate(values.slopes)}
        return Forms(constant, slopes)

    def attention(self, scores: ScoreForms, attention: Attention) -> ScoreForms:
        """Attend where that does not depend on the perturbation."""
        for row in scores:
            self._refuse(row)
        return super().attention(scores, attention)

    def normalise(self, values: Forms, norm: Norm, gain: tuple[Grid, Grid]) -> Forms:
        """Apply a norm to what does not depend on the perturbation."""
        if not isinstance(norm, NoNorm):
            self._refuse(values)
        return super().normalise(values, norm, gain)

    @staticmethod
    def _refuse(values: Forms) -> None:
        if not values.is_constant:
            raise _UnfitError


@dataclass(frozen=True, slots=True)
class _Bent:
    """One margin: a constant and a weight for each number that bends."""

    cut: _Cut
    lead: FormMatrix

    def root(self) -> Fraction | None:
        """Return where the bound on the margin reaches zero; nothing if it never does."""
        width, numbers = self.cut.hidden[0].numbers.shape[1], self.lead.numbers[1:, 0]
        weights = [numbers[start : start + width] for start in range(0, len(numbers), width)]
        rows = list(zip(self.cut.hidden, weights, strict=True))
        level, speed = self._linear(rows)
        for corner, fall in sorted(term for row in rows for term in self._falls(*row)):
            if level <= speed * corner:
                break
            level, speed = level + fall * corner, speed + fall
        return level / speed if speed else None

    def _linear(self, rows: Iterable[tuple[FormMatrix, Integers]]) -> tuple[Fraction, Fraction]:
        """Return the margin by the branches at η = 0: its value there, and how fast it can fall."""
        slope, total = self.cut.slope, [Fraction(0)] * len(self.cut.hidden[0].numbers)
        for matrix, weights in rows:
            branch = np.where(matrix.numbers[0] >= 0, slope.denominator, slope.numerator).astype(object)
            below = matrix.denominator * slope.denominator * self.lead.denominator
            moved: list[int] = (matrix.numbers @ (weights * branch)).tolist()
            total = [a + Fraction(b, below) for a, b in zip(total, moved, strict=True)]
        constant, *slopes = total
        own = Fraction(self.lead.numbers[0, 0], self.lead.denominator)
        return own + constant, sum(map(abs, slopes), Fraction(0))

    def _falls(self, matrix: FormMatrix, weights: Integers) -> Iterable[tuple[Fraction, Fraction]]:
        """Walk the bends that lower the margin: from which size on, and how fast."""
        spreads: Sequence[int] = np.abs(matrix.numbers[1:]).sum(axis=0).tolist()
        factor = (1 - self.cut.slope) / (matrix.denominator * self.lead.denominator)
        for middle, spread, weight in zip(matrix.numbers[0].tolist(), spreads, weights.tolist(), strict=True):
            if weight < 0 and spread:
                yield Fraction(abs(middle), spread), -weight * spread * factor
