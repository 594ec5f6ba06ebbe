"""The single conditions of programs: comparisons of features and counts, and how brackets stand."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, pairwise
from typing import TypeAlias

from circuitproof.declare.programs.features import Comparison, Feature, Value, WordKind
from circuitproof.errors import DeclarationError

NUMBER_DIGITS = 18
"""How many digits a token, position, distance or count may have."""


class Place(StrEnum):
    """The end of a pair at which something is counted."""

    KEY = "key"
    QUERY = "query"


class Link(StrEnum):
    """How the bracket at a key may stand to the query."""

    UNMATCHED = "unmatched"
    """The key holds an opener that is open once the query has been read."""
    PARTNER = "partner"
    """The query holds the closer of the opener at the key."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison of a feature with a value.

    Token numbers are names, so they are never ordered: `key_token < 5` is refused.
    """

    feature: Feature
    comparison: Comparison
    value: Value

    def __post_init__(self) -> None:
        where = f"condition '{self.feature} {self.comparison} ...'"
        has_order = not (self.comparison.is_equality or self.comparison is Comparison.AMONG)
        if self.feature.words is None:
            self._check_match(where)
        elif self.feature.words is WordKind.TOKEN and has_order:
            raise DeclarationError(f"{where}: tokens have no order to compare; want ==, != or in")
        else:
            _check_value(self.comparison, self.value, where)

    def numbers(self) -> tuple[int, ...]:
        """Return the numbers that the feature is compared with; `token_match` is compared with none."""
        return () if isinstance(self.value, bool) else _numbers(self.value)

    def tokens(self) -> Iterable[int]:
        """Return the tokens that the condition mentions."""
        return self.numbers() if self.feature.words is WordKind.TOKEN else ()

    def _check_match(self, where: str) -> None:
        if not self.comparison.is_equality:
            raise DeclarationError(f"{where}: '{self.comparison}' is not for it, want == or !=")
        if not isinstance(self.value, bool):
            raise DeclarationError(f"{where}: value {self.value!r}, want true or false")


@dataclass(frozen=True, slots=True)
class Brackets:
    """Pairs of an opener and a closer, in order.

    A prompt is read from its start: an opener is put on a stack; a closer takes the top off if the two are a
    pair, and does nothing otherwise. Several openers may share a closer and the other way round.
    """

    pairs: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        if not self.pairs:
            raise DeclarationError("brackets: no pairs, want at least one of an opener and a closer")
        for token in chain(*self.pairs):
            _check_natural(token, "brackets")
        if any(one >= other for one, other in pairwise(self.pairs)):
            raise DeclarationError(f"brackets: {self.pairs!r}, want increasing pairs, each once")
        if both := self.openers & {closer for _, closer in self.pairs}:
            raise DeclarationError(f"brackets: token {min(both)} opens and closes, want one of the two")

    @property
    def openers(self) -> frozenset[int]:
        """Return the tokens that open."""
        return frozenset(opener for opener, _ in self.pairs)


@dataclass(frozen=True, slots=True)
class Bracketed:
    """Holds where the bracket at the key stands to the query as `link` says."""

    link: Link
    brackets: Brackets

    def tokens(self) -> Iterable[int]:
        """Return the tokens that the condition mentions."""
        return chain(*self.brackets.pairs)


@dataclass(frozen=True, slots=True)
class Tally:
    """One comparison of a count with a value; the count goes up to `bound` and no further.

    With tokens `of`, it is how many of them stand from the start up to the place; with brackets, how many
    are open there. The token at the place counts.
    """

    at: Place
    of: tuple[int, ...] | Brackets
    bound: int
    comparison: Comparison
    value: int | tuple[int, ...]

    def __post_init__(self) -> None:
        where = f"condition '{self.name} ...'"
        if not isinstance(self.of, Brackets):
            _check_members(self.of, where)
        _check_natural(self.bound, where)
        _check_value(self.comparison, self.value, where)
        if (largest := max(self.numbers())) > self.bound or not self.bound:
            raise DeclarationError(
                f"{where}: compared with {largest} but counted up to {self.bound}; want a bound from 1 "
                "and numbers up to it"
            )

    @property
    def name(self) -> str:
        """Return what the count is called in the text of a program."""
        return f"{self.at}_depth" if isinstance(self.of, Brackets) else f"{self.at}_count"

    def numbers(self) -> tuple[int, ...]:
        """Return the numbers that the count is compared with."""
        return _numbers(self.value)

    def tokens(self) -> Iterable[int]:
        """Return the tokens that the condition mentions."""
        return chain(*self.of.pairs) if isinstance(self.of, Brackets) else self.of


Atom: TypeAlias = Condition | Tally | Bracketed

MATCH = Condition(Feature.TOKEN_MATCH, Comparison.EQUAL, value=True)
"""Query and key hold the same token."""


def _numbers(value: int | tuple[int, ...]) -> tuple[int, ...]:
    return value if isinstance(value, tuple) else (value,)


def _check_value(comparison: Comparison, value: Value, where: str) -> None:
    if comparison is Comparison.AMONG:
        _check_members(value, where)
    else:
        _check_natural(value, where)


def _check_members(value: Value, where: str) -> None:
    if not isinstance(value, tuple) or not value:
        raise DeclarationError(f"{where}: value {value!r}, want a tuple of numbers, not empty")
    for number in value:
        _check_natural(number, where)
    if any(one >= other for one, other in pairwise(value)):
        raise DeclarationError(f"{where}: {value!r}, want increasing numbers, each once")


def _check_natural(value: Value, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise DeclarationError(f"{where}: value {value!r}, want a whole number from 0")
    if value >= 10**NUMBER_DIGITS:
        raise DeclarationError(f"{where}: a number of more than {NUMBER_DIGITS} digits, want a smaller one")
