"""What a program consists of: conditions on a query and a key, rules that add weight, and a fallback."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import chain
from typing import TypeAlias

from circuitproof.errors import DeclarationError
from circuitproof.programs.atoms import MATCH, MISMATCH, Atom


class Pick(StrEnum):
    """Which key a scan picks among those where its condition holds, seen from the query."""

    FIRST = "first"
    LAST = "last"
    """The query's own position counts, as for the first."""
    NEAREST = "nearest"
    """The last one to the left of the query."""


class Otherwise(StrEnum):
    """Where a row attends when no key has weight."""

    SELF = "self"
    """To its own position."""
    NOWHERE = "nowhere"
    """To nothing: the row is zero."""


DEEPEST = 16
"""How many levels of `and`, `or`, `not` and scans a condition may have."""
WEIGHT_DIGITS = 100
"""How many digits a weight may have above and below its bar."""


@dataclass(frozen=True, slots=True)
class Not:
    """Holds where its part does not."""

    part: "Formula"

    def __post_init__(self) -> None:
        if self.part == MATCH:
            raise DeclarationError("not token_match: want the condition 'token_match == false', its one form")
        _check_levels(self)


@dataclass(frozen=True, slots=True)
class Scan:
    """Holds at one key of a query at most: the picked one of the causal keys where its part holds."""

    pick: Pick
    part: "Formula"

    def __post_init__(self) -> None:
        _check_levels(self)


@dataclass(frozen=True, slots=True)
class AllOf:
    """Holds where all parts do; at least two, none of which is again an `AllOf`."""

    parts: tuple["Formula", ...]

    def __post_init__(self) -> None:
        _check_parts(self, self.parts)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Holds where some part does; at least two, none of which is again an `AnyOf`."""

    parts: tuple["Formula", ...]

    def __post_init__(self) -> None:
        _check_parts(self, self.parts)


Formula: TypeAlias = Atom | Not | Scan | AllOf | AnyOf
"""What may be asked of a query and a key. Each way of writing it has one value, so that printing and
parsing are inverse."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Adds `weight` to each pair of query and key where all conditions hold; without any, to every pair."""

    weight: Fraction
    conditions: tuple[Formula, ...] = ()

    def __post_init__(self) -> None:
        _refuse_unwritable(self.weight, "rule")
        if any(isinstance(condition, AllOf) for condition in self.conditions):
            raise DeclarationError("rule: an AllOf among its conditions, want the parts of it instead")
        if len(self.conditions) > 1:
            AllOf(self.conditions)  # refuses what would be too deep

    def tokens(self) -> frozenset[int]:
        """Return every token that a condition mentions."""
        found = (atom.tokens() for condition in self.conditions for atom in atoms(condition))
        return frozenset(chain.from_iterable(found))


@dataclass(frozen=True, slots=True)
class Program:
    """The attention of a head: each causal pair weighs `default` plus what the rules add.

    The order of the rules is kept as written and changes nothing in the meaning.
    """

    default: Fraction
    rules: tuple[Rule, ...]
    otherwise: Otherwise

    def __post_init__(self) -> None:
        _refuse_unwritable(self.default, "default")

    @property
    def always_attends(self) -> bool:
        """Say whether each row has weight for want of a condition, or falls back on itself."""
        unconditional = (rule.weight for rule in self.rules if not rule.conditions)
        return self.otherwise is Otherwise.SELF or any((self.default, *unconditional))

    @property
    def never_attends(self) -> bool:
        """Say whether each row is zero because there is no weight to have."""
        weights = (self.default, *(rule.weight for rule in self.rules))
        return self.otherwise is Otherwise.NOWHERE and not any(weights)

    def tokens(self) -> frozenset[int]:
        """Return every token that a rule mentions."""
        return frozenset(chain.from_iterable(rule.tokens() for rule in self.rules))


def atoms(formula: Formula) -> Iterator[Atom]:
    """Return the comparisons and bracket conditions that a formula is made of, from left to right."""
    return (part for part in walk(formula) if not isinstance(part, (Not, Scan, AllOf, AnyOf)))


def walk(formula: Formula) -> Iterator[Formula]:
    """Return a formula and all that it is made of, from left to right."""
    yield formula
    for part in _parts(formula):
        yield from walk(part)


def all_of(formulas: Iterable[Formula]) -> Formula:
    """Return what holds where all of these do; there is at least one."""
    parts = tuple(chain.from_iterable(f.parts if isinstance(f, AllOf) else (f,) for f in formulas))
    return parts[0] if len(parts) == 1 else AllOf(parts)


def any_of(formulas: Iterable[Formula]) -> Formula:
    """Return what holds where some of these do; there is at least one."""
    parts = tuple(chain.from_iterable(f.parts if isinstance(f, AnyOf) else (f,) for f in formulas))
    return parts[0] if len(parts) == 1 else AnyOf(parts)


def negate(formula: Formula) -> Formula:
    """Return what holds where `formula` does not."""
    return MISMATCH if formula == MATCH else Not(formula)


def _parts(formula: Formula) -> tuple[Formula, ...]:
    match formula:
        case Not(part) | Scan(_, part):
            return (part,)
        case AllOf(parts) | AnyOf(parts):
            return parts
        case _:
            return ()


def _levels(formula: Formula) -> int:
    return max((1 + _levels(part) for part in _parts(formula)), default=0)


def _check_levels(formula: Formula) -> None:
    if (found := _levels(formula)) > DEEPEST:
        raise DeclarationError(f"a condition of {found} levels, want at most {DEEPEST}; write several rules")


def _check_parts(formula: AllOf | AnyOf, parts: tuple[Formula, ...]) -> None:
    kind = type(formula).__name__
    if len(parts) <= 1:
        raise DeclarationError(f"{kind} of {len(parts)} parts, want two or more")
    if any(type(part) is type(formula) for part in parts):
        raise DeclarationError(f"{kind} with a part that is {kind} again, want the parts of that one instead")
    _check_levels(formula)


def _refuse_unwritable(weight: Fraction, where: str) -> None:
    """Refuse a weight that the text of a program cannot hold."""
    if weight < 0:
        raise DeclarationError(f"{where}: weight {weight}, want at least 0")
    if max(weight.numerator, weight.denominator) >= 10**WEIGHT_DIGITS:
        raise DeclarationError(
            f"{where}: a weight of more than {WEIGHT_DIGITS} digits above or below; round it"
        )
