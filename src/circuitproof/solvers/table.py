"""The table that makes terms: each distinct one once (hash consing), with what is known folded away.

A comparison that the declared ranges of its variables decide is already true or false.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar, assert_never, cast

from circuitproof.errors import OverdueError
from circuitproof.proof.effort import UNHURRIED, Pace
from circuitproof.solvers.terms import (
    Conditional,
    Conjunction,
    Disjunction,
    Interval,
    Negation,
    Selector,
    SmtFormula,
    SmtNode,
    Sum,
    Summand,
    Truth,
    Variable,
    VariableProduct,
    ZeroComparison,
    ZeroRelation,
)

Made = TypeVar("Made", bound=SmtNode)

_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(slots=True)
class TermTable:
    """The table of all terms made so far."""

    pace: Pace = UNHURRIED
    """Until when terms are made."""
    true: Truth = field(default_factory=lambda: Truth(value=True))
    false: Truth = field(default_factory=lambda: Truth(value=False))
    ranges: dict[Variable, Interval] = field(default_factory=dict[Variable, Interval])
    """Where variables lie, known beforehand; whoever declares a range asserts it too, in every query."""
    _known: dict[tuple[object, ...], SmtNode] = field(default_factory=dict[tuple[object, ...], SmtNode])
    _atoms: int = 0

    def variable(self, prefix: str) -> Variable:
        """Return a new variable, whose name begins with `prefix`."""
        self._atoms += 1
        return Variable(f"{prefix}_{self._atoms}", self._atoms)

    def selector(self, name: str) -> Selector:
        return self._once(Selector(name), Selector, name)

    def number(self, value: Fraction) -> Sum:
        return self.total(value, {})

    def of(self, atom: Summand, factor: Fraction = _ONE) -> Sum:
        return self.total(_ZERO, {atom: factor})

    def total(self, constant: Fraction, parts: Mapping[Summand, Fraction]) -> Sum:
        """Return a sum by its parts; coefficients of zero are left out."""
        kept = sorted(((a, c) for a, c in parts.items() if c), key=lambda part: part[0].number)
        key = (constant.numerator, constant.denominator)
        named = tuple((atom.number, factor.numerator, factor.denominator) for atom, factor in kept)
        return self._once(Sum(constant, tuple(kept)), Sum, key, named)

    def combine(self, terms: Iterable[tuple[Sum, Fraction]], constant: Fraction = _ZERO) -> Sum:
        """Return the sum of terms, each times its factor, plus a constant."""
        if self.pace.is_over:
            raise OverdueError("the time for a query ended while it was written")
        parts: dict[Summand, Fraction] = {}
        for term, factor in terms:
            if factor and term.constant:
                constant += term.constant * factor
            for atom, coefficient in term.parts if factor else ():
                part = _times(coefficient, factor)
                parts[atom] = parts[atom] + part if atom in parts else part
        return self.total(constant, parts)

    def plus(self, *terms: Sum) -> Sum:
        return self.combine((term, _ONE) for term in terms)

    def minus(self, left: Sum, right: Sum) -> Sum:
        return self.combine(((left, _ONE), (right, -_ONE)))

    def product(self, left: Variable, right: Variable) -> VariableProduct:
        """Return a product of variables, the same in either order."""
        first, second = sorted((left, right), key=lambda one: one.number)
        self._atoms += 1
        return self._once(VariableProduct(first, second, self._atoms), VariableProduct, first, second)

    def choose(self, condition: SmtFormula, then: Sum, otherwise: Sum) -> Sum:
        """Return `then` where the condition holds and `otherwise` elsewhere."""
        if isinstance(condition, Truth):
            return then if condition.value else otherwise
        if then is otherwise:
            return then
        self._atoms += 1
        made = Conditional(condition, then, otherwise, self._atoms)
        return self.of(self._once(made, Conditional, condition, then, otherwise))

    def compare(self, value: Sum, relation: ZeroRelation) -> SmtFormula:
        """Return a comparison with zero; that of a constant is already true or false."""
        if value.is_known:
            return self.true if relation.holds(value.constant) else self.false
        span = self.range_of(value)
        decided = None if span is None else relation.decided(span)
        if decided is not None:
            return self.true if decided else self.false
        return self._once(ZeroComparison(value, relation), ZeroComparison, value, relation)

    def range_of(self, value: Sum) -> Interval | None:
        """Return where a sum lies, if the ranges of all its variables are known."""
        low = high = value.constant
        for atom, factor in value.parts if self.ranges else ():
            if (span := self._atom_range(atom)) is None:
                return None
            ends = sorted((span[0] * factor, span[1] * factor))
            low, high = low + ends[0], high + ends[1]
        return (low, high) if self.ranges else None

    def at_least(self, left: Sum, right: Sum) -> SmtFormula:
        return self.compare(self.minus(left, right), ZeroRelation.AT_LEAST)

    def above(self, left: Sum, right: Sum) -> SmtFormula:
        return self.compare(self.minus(left, right), ZeroRelation.ABOVE)

    def equal(self, left: Sum, right: Sum) -> SmtFormula:
        return self.compare(self.minus(left, right), ZeroRelation.EQUAL)

    def negation(self, formula: SmtFormula) -> SmtFormula:
        match formula:
            case Truth(value):
                return self.false if value else self.true
            case Negation(inner):
                return inner
            case _:
                return self._once(Negation(formula), Negation, formula)

    def all_of(self, formulas: Iterable[SmtFormula]) -> SmtFormula:
        """Return the conjunction; that of nothing is true."""
        return self._joined(Conjunction, formulas)

    def any_of(self, formulas: Iterable[SmtFormula]) -> SmtFormula:
        """Return the disjunction; that of nothing is false."""
        return self._joined(Disjunction, formulas)

    def _joined(self, kind: type[Conjunction | Disjunction], formulas: Iterable[SmtFormula]) -> SmtFormula:
        neutral, decisive = (self.true, self.false) if kind is Conjunction else (self.false, self.true)
        parts = tuple(dict.fromkeys(one for one in formulas if one is not neutral))
        if decisive in parts:
            return decisive
        if len(parts) < 2:  # noqa: PLR2004  # nothing to join
            return parts[0] if parts else neutral
        return self._once(kind(parts), kind, parts)

    def _atom_range(self, atom: Summand) -> Interval | None:
        match atom:
            case Variable():
                return self.ranges.get(atom)
            case VariableProduct():
                return None
            case Conditional(_, then, otherwise):
                one, other = self.range_of(then), self.range_of(otherwise)
                if one is None or other is None:
                    return None
                return min(one[0], other[0]), max(one[1], other[1])
            case _:
                assert_never(atom)

    def _once(self, made: Made, *key: object) -> Made:
        return cast("Made", self._known.setdefault(key, made))


def _times(one: Fraction, other: Fraction) -> Fraction:
    """Return a product; most are by one, and fractions are slow."""
    if one is _ONE or other is _ONE:
        return other if one is _ONE else one
    return one * other
