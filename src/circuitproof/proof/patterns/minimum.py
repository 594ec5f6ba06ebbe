"""The least margin over all prompts of a region, exactly, and a prompt that attains it.

The sum of a plan is least along a cheapest path. A row N/D that varies is at least λ where Σ wⱼ(mⱼ − λ) is
not negative on any path; λ is lowered to the value of a path until that holds (Dinkelbach's method).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import TypeAlias

from circuitproof.proof.patterns.plan import FoundPrompt, Plan, Varying
from circuitproof.proof.patterns.runs import Path, Step, cheapest, through
from circuitproof.proof.patterns.tables import Contribution, Function


@dataclass(frozen=True, slots=True)
class Least:
    """A lower bound of a margin, and prompts that attain the least of its parts."""

    value: Fraction
    is_attained: bool
    prompts: tuple[FoundPrompt, ...]


_Active: TypeAlias = tuple[tuple[Function, Fraction | int], ...]
_Priced: TypeAlias = tuple[Fraction, int]
"""The least cost of a step's token, and the token."""


@dataclass(slots=True)
class Margin:
    """The logit of one candidate less that of another, in a region."""

    plan: Plan
    winner: int
    other: int
    _known: dict[tuple[int, int, _Active], _Priced] = field(
        default_factory=dict[tuple[int, int, _Active], _Priced]
    )

    def least(self) -> Least:
        """Return the least value over all prompts of the region."""
        found = [self._mean(row) for row in self.plan.varying]
        if self.plan.terms or not found:
            found.append(self._sum())
        value = self._between(self.plan.constant) + sum(cost for cost, _ in found)
        return Least(Fraction(value), self.plan.is_exact, tuple(prompt for _, prompt in found))

    def through_steps(self) -> Iterator[tuple[int, Step, Fraction]]:
        """Return for each step the least value over prompts that take it; of plans without varying rows."""
        shift = self._between(self.plan.constant)
        for position, step, value in through(self.plan.runs, lambda k, step: self._summed(k, step)[0]):
            yield position, step, value + shift

    def _summed(self, position: int, step: Step) -> _Priced:
        """Return what a step costs in the sum of all terms."""
        factors = [(term.function, term.factor(step)) for term in self.plan.terms]
        return self._price(position, step, tuple(pair for pair in factors if pair[1]))

    def _sum(self) -> tuple[Fraction, FoundPrompt]:
        steps = {placed: self._summed(*placed)[0] for placed in self.plan.runs.steps()}
        scale = lcm(*(cost.denominator for cost in steps.values()))
        whole = {key: cost.numerator * (scale // cost.denominator) for key, cost in steps.items()}
        path = cheapest(self.plan.runs, lambda position, step: whole[position, step])
        assert path is not None  # noqa: S101  # a region has prompts
        return path.cost / scale, _found(path, self._summed)

    def _mean(self, row: Varying) -> tuple[Fraction, FoundPrompt]:
        """Return the least value of a row that varies, and a prompt that attains it."""
        best, guess = None, self._lighter(row, None)
        while guess is not None:
            best, guess = guess, self._lighter(row, guess[0])
        found = [one for one in (self._without_weight(row), best) if one is not None]
        return min(found, key=lambda pair: pair[0])

    def _lighter(self, row: Varying, bound: Fraction | None) -> tuple[Fraction, FoundPrompt] | None:
        """Return a prompt where a row is below a bound, the row's value first; nothing if there is none."""

        def price(position: int, step: Step) -> _Priced:
            weight = step.weights[row.head]
            value, token = self._price(position, step, ((row.function, 1),) if weight else ())
            return weight * (value - (bound or 0)), token

        path = cheapest(
            self.plan.runs, lambda k, step: price(k, step)[0], lambda step: step.weights[row.head] > 0
        )
        if path is None or (bound is not None and path.cost >= 0):
            return None
        total = sum(step.weights[row.head] for step in path.steps)
        return path.cost / total + (bound or 0), _found(path, price)

    def _without_weight(self, row: Varying) -> tuple[Fraction, FoundPrompt] | None:
        """Return the least value where no key has weight."""

        def price(position: int, step: Step) -> _Priced:
            is_read = row.is_self and step.target is None
            return self._price(position, step, ((row.function, 1),) if is_read else ())

        def cost(position: int, step: Step) -> Fraction | None:
            return None if step.weights[row.head] else price(position, step)[0]

        path = cheapest(self.plan.runs, cost)
        return None if path is None else (path.cost, _found(path, price))

    def _price(self, position: int, step: Step, active: _Active) -> _Priced:
        members = self.plan.runs.machine.atoms[step.atom]
        if not active:
            return Fraction(0), members[0]
        if all(function.is_separable for function, _ in active):
            return self._separated(position, step.atom, active)
        key = (position, step.atom, active)
        if key not in self._known:
            self._known[key] = min((self._value(token, position, active), token) for token in members)
        return self._known[key]

    def _separated(self, position: int, atom: int, active: _Active) -> _Priced:
        """Return the same where tokens and positions contribute apart."""
        tables = self.plan.tables
        key = (-1, atom, active)
        if key not in self._known:
            parts = [(tables.parts(function)[0], factor) for function, factor in active]
            self._known[key] = min(
                (sum((factor * self._between(by[token]) for by, factor in parts), Fraction(0)), token)
                for token in self.plan.runs.machine.atoms[atom]
            )
        cost, token = self._known[key]
        placed = [factor * self._between(tables.parts(one)[1][position]) for one, factor in active]
        return cost + sum(placed), token

    def _value(self, token: int, position: int, active: _Active) -> Fraction:
        values = [factor * self._between(self.plan.tables.at(f, token, position)) for f, factor in active]
        return sum(values, Fraction(0))

    def _between(self, contribution: Contribution) -> Fraction:
        return contribution[self.winner] - contribution[self.other]


def _found(path: Path, price: Callable[[int, Step], _Priced]) -> FoundPrompt:
    return FoundPrompt(tuple(price(k, step)[1] for k, step in enumerate(path.steps)), path.steps)
