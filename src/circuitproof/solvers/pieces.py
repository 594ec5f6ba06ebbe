"""The piecewise operators as assertions: with every branch kept, or along a traced one.

With every branch kept an output is a choice. Along a trace the outputs are linear, and the conditions under
which they are right are asserted apart: those of the whole region where the branch is the one taken, its
boundaries included where the neighbouring branches agree on them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from fractions import Fraction

from circuitproof.arithmetic.exact import SideBranch, Sides
from circuitproof.models.operators import BandNorm
from circuitproof.solvers.assertions import AssertionGroup
from circuitproof.solvers.terms import SmtFormula, Sum, ZeroRelation


class Unknowns(Enum):
    """How numbers in between are said: a projection's threshold, and the share of each taker of a lift."""

    DEFINED = auto()
    """By a formula, sorting and counting: definitions, which fold away where the inputs are known."""
    IMPLIED = auto()
    """As the only numbers that make a sum right: fewer comparisons, for a solver to search."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Piecewise operators whose assertions go into one group."""

    group: AssertionGroup
    unknowns: Unknowns = Unknowns.DEFINED

    def rectify(self, value: Sum, slope: Fraction, sign: int | None) -> Sum:
        """Return leaky ReLU of a number, following a sign if there is one."""
        terms = self.group.log.terms
        bent = terms.combine(((value, slope),))
        if sign is None:
            return self.group.define(terms.choose(self._above(value), value, bent))
        if sign < 0:
            self.group.condition(self._at_least(self._negated(value)))
            return self.group.output(bent)
        self.group.condition(self._at_least(value))
        return self.group.output(value)

    def sparsemax(self, scores: Sequence[Sum], support: Sequence[int] | None) -> list[Sum]:
        """Return the point of the simplex nearest to `scores`."""
        one = self.group.log.terms.number(Fraction(1))
        if support is None:
            return self._project(scores, one, self.group.log.terms.true)
        return [self.group.output(part) for part in self._project_along(scores, one, support)[0]]

    def band(self, values: Sequence[Sum], norm: BandNorm, sides: Sides | None) -> list[Sum]:
        middle = [self.group.define(value) for value in self._centred(values)]
        opposite = [self._negated(value) for value in middle]
        if sides is None:
            positive, negative = self._side(middle, norm, 0), self._side(opposite, norm, 1)
        else:
            positive = self._side_along(middle, norm, 0, sides[0])
            negative = self._side_along(opposite, norm, 1, sides[1])
        minus = self.group.log.terms.minus
        return self._centred([minus(one, other) for one, other in zip(positive, negative, strict=True)])

    def _project(self, values: Sequence[Sum], mass: Sum, where: SmtFormula) -> list[Sum]:
        """Return the non-negative numbers of sum `mass` nearest to `values`; they matter only `where`."""
        terms = self.group.log.terms
        if where is terms.false:
            return [terms.number(Fraction(0))] * len(values)
        if self.unknowns is Unknowns.DEFINED:
            cut = self._sorted_cut(values, mass)
            return [self._positive(terms.minus(value, cut)) for value in values]
        cut = self.group.variable()
        parts = [self._positive(terms.minus(value, cut)) for value in values]
        adds_up = terms.equal(terms.plus(*parts), mass)
        self.group.require(terms.any_of((terms.negation(where), adds_up)))
        return parts

    def _sorted_cut(self, values: Sequence[Sum], mass: Sum) -> Sum:
        """Return the largest of (sum of the k largest values - mass) / k: the threshold."""
        terms, ordered = self.group.log.terms, list(values)
        for left, right in comparators(len(values)):
            one, other = ordered[left], ordered[right]
            is_ordered = terms.at_least(one, other)
            ordered[left] = self.group.define(terms.choose(is_ordered, one, other))
            ordered[right] = self.group.define(terms.choose(is_ordered, other, one))
        highest: Sum | None = None
        for count in range(1, len(ordered) + 1):
            over = terms.minus(terms.plus(*ordered[:count]), mass)
            cut = self.group.define(terms.combine(((over, Fraction(1, count)),)))
            if highest is not None:
                cut = self.group.define(terms.choose(terms.above(cut, highest), cut, highest))
            highest = cut
        assert highest is not None  # noqa: S101  # there are values
        return highest

    def _project_along(
        self, values: Sequence[Sum], mass: Sum, support: Sequence[int]
    ) -> tuple[list[Sum], Sum]:
        """Return the projection with this support, and its threshold."""
        terms, share = self.group.log.terms, Fraction(1, len(support))
        cut = terms.combine([*((values[place], share) for place in support), (mass, -share)])
        parts: list[Sum] = []
        for place, value in enumerate(values):
            over = terms.minus(value, cut)
            self.group.condition(self._at_least(over if place in support else self._negated(over)))
            parts.append(over if place in support else terms.number(Fraction(0)))
        return parts, cut

    def _side(self, values: Sequence[Sum], norm: BandNorm, spare: int) -> list[Sum]:
        """Bring the positive side into the band; every second place from `spare` takes what has no taker."""
        terms = self.group.log.terms
        low, high = terms.number(norm.low), terms.number(norm.high)
        side = [self._positive(value) for value in values]
        mass = self.group.define(terms.plus(*side))
        is_over, is_under = terms.above(mass, high), terms.above(low, mass)
        if not norm.lift.shares_equally:
            is_outside = terms.any_of((is_over, is_under))
            wanted = self.group.define(terms.choose(is_over, high, low))
            lifted = self._project(values, wanted, is_outside)
            return self._either(is_outside, lifted, side)
        lifted = self._lift(values, terms.minus(low, mass), is_under, spare)
        kept = self._either(is_over, self._project(values, high, is_over), side)
        raised = [terms.plus(one, other) for one, other in zip(side, lifted, strict=True)]
        return self._either(is_under, raised, kept)

    def _lift(self, values: Sequence[Sum], missing: Sum, where: SmtFormula, spare: int) -> list[Sum]:
        """Return what each coordinate takes of the missing mass: equal shares for the takers."""
        terms, nothing = self.group.log.terms, self.group.log.terms.number(Fraction(0))
        positive = [self._above(value) for value in values]
        is_empty = terms.negation(terms.any_of(positive))
        takes = [
            one if (place - spare) % 2 else terms.any_of((one, is_empty))
            for place, one in enumerate(positive)
        ]
        if self.unknowns is Unknowns.DEFINED:
            share = self._counted_share(takes, missing)
            return self._each(takes, share, nothing)
        share = self.group.variable()
        given = self._each(takes, share, nothing)
        adds_up = terms.equal(terms.plus(*given), missing)
        self.group.require(terms.any_of((terms.negation(where), adds_up)))
        return given

    def _counted_share(self, takes: Sequence[SmtFormula], missing: Sum) -> Sum:
        """Return the missing mass over the number of takers, of which there are always some."""
        terms = self.group.log.terms
        one, none = terms.number(Fraction(1)), terms.number(Fraction(0))
        count = self.group.define(terms.plus(*self._each(takes, one, none)))
        share = none
        for number in range(1, len(takes) + 1):
            is_count = terms.equal(count, terms.number(Fraction(number)))
            part = terms.combine(((missing, Fraction(1, number)),))
            share = self.group.define(terms.choose(is_count, part, share))
        return share

    def _each(self, conditions: Sequence[SmtFormula], then: Sum, otherwise: Sum) -> list[Sum]:
        choose = self.group.log.terms.choose
        return [self.group.define(choose(one, then, otherwise)) for one in conditions]

    def _side_along(self, values: Sequence[Sum], norm: BandNorm, spare: int, branch: SideBranch) -> list[Sum]:
        terms = self.group.log.terms
        if branch.position > 0 or (branch.position < 0 and not norm.lift.shares_equally):
            wanted = terms.number(norm.high if branch.position > 0 else norm.low)
            parts, cut = self._project_along(values, wanted, branch.support)
            # The mass is over the band just where the threshold is positive, below it where it is negative.
            self.group.condition(self._at_least(cut if branch.position > 0 else self._negated(cut)))
            return parts
        low, high, nothing = (terms.number(number) for number in (norm.low, norm.high, Fraction(0)))
        is_lifted, count = branch.position < 0, len(branch.support)
        self._require_support(values, branch, spare)
        mass = terms.plus(*(values[place] for place in branch.support))
        self.group.condition(terms.at_least(low, mass) if is_lifted else terms.at_least(mass, low))
        self.group.condition(terms.at_least(high, mass))
        share = terms.combine(((mass, Fraction(-1, count)),), norm.low / count) if is_lifted else nothing
        return [
            terms.plus(value, share) if place in branch.support else nothing
            for place, value in enumerate(values)
        ]

    def _require_support(self, values: Sequence[Sum], branch: SideBranch, spare: int) -> None:
        """Assert which coordinates are positive; in the lift, none may be where the spare places take all."""
        terms, is_lifted = self.group.log.terms, branch.position < 0
        outside = [value for place, value in enumerate(values) if place not in branch.support]
        relation = ZeroRelation.ABOVE if is_lifted else ZeroRelation.AT_LEAST
        inside = [terms.compare(values[place], relation) for place in branch.support]
        holds = terms.all_of([*inside, *(self._at_least(self._negated(value)) for value in outside)])
        if is_lifted and branch.support == tuple(range(spare, len(values), 2)):
            empty = terms.all_of(self._at_least(self._negated(value)) for value in values)
            holds = terms.any_of((holds, empty))
        self.group.condition(holds)

    def _either(self, condition: SmtFormula, then: Sequence[Sum], otherwise: Sequence[Sum]) -> list[Sum]:
        choose = self.group.log.terms.choose
        pairs = zip(then, otherwise, strict=True)
        return [self.group.define(choose(condition, one, other)) for one, other in pairs]

    def _positive(self, value: Sum) -> Sum:
        terms = self.group.log.terms
        return self.group.define(terms.choose(self._above(value), value, terms.number(Fraction(0))))

    def _above(self, value: Sum) -> SmtFormula:
        return self.group.log.terms.compare(value, ZeroRelation.ABOVE)

    def _at_least(self, value: Sum) -> SmtFormula:
        return self.group.log.terms.compare(value, ZeroRelation.AT_LEAST)

    def _negated(self, value: Sum) -> Sum:
        return self.group.log.terms.combine(((value, Fraction(-1)),))

    def _centred(self, values: Sequence[Sum]) -> list[Sum]:
        terms, share = self.group.log.terms, Fraction(-1, len(values))
        mean = terms.plus(*values)
        return [terms.combine(((value, Fraction(1)), (mean, share))) for value in values]


def comparators(count: int) -> Iterator[tuple[int, int]]:
    """Walk Batcher's odd-even merge sort: pairs of places to compare, the larger value to the first.

    >>> list(comparators(4))
    [(0, 1), (2, 3), (0, 2), (1, 3), (1, 2)]
    """
    block = 1
    while block < count:
        step = block
        while step:
            for start in range(step % block, count - step, 2 * step):
                for place in range(start, min(start + step, count - step)):
                    if place // (2 * block) == (place + step) // (2 * block):
                        yield place, place + step
            step //= 2
        block *= 2
