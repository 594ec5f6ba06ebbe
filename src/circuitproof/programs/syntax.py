"""What a program consists of: conditions on a query and a key, rules that add weight, and a fallback."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from circuitproof.errors import DeclarationError


class Feature(StrEnum):
    """What a condition may look at in a pair of a query and a key."""

    KEY_POSITION = "key_position"
    QUERY_POSITION = "query_position"
    RELATIVE_DISTANCE = "relative_distance"
    """Query position minus key position."""
    ABSOLUTE_DISTANCE = "absolute_distance"
    """The relative distance without its sign."""
    KEY_TOKEN = "key_token"  # noqa: S105  # a token of text
    QUERY_TOKEN = "query_token"  # noqa: S105  # the same
    TOKEN_MATCH = "token_match"  # noqa: S105  # the same
    """Whether query and key hold the same token."""


class Comparison(StrEnum):
    """How a condition compares a feature with its value."""

    EQUAL = "=="
    UNEQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="
    AMONG = "in"


class Otherwise(StrEnum):
    """Where a row attends when no key has weight."""

    SELF = "self"
    """To its own position."""
    NOWHERE = "nowhere"
    """To nothing: the row is zero."""


Value: TypeAlias = bool | int | tuple[int, ...]
"""A boolean for `token_match`, an increasing tuple for `in`, and a number for everything else."""

TOKEN_FEATURES = frozenset({Feature.KEY_TOKEN, Feature.QUERY_TOKEN})
"""The features whose value is a token's number."""

_EQUALITIES = frozenset({Comparison.EQUAL, Comparison.UNEQUAL})


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison of a feature with a value.

    Token numbers are names, so they are never ordered: `key_token < 5` is refused.
    """

    feature: Feature
    comparison: Comparison
    value: Value

    def __post_init__(self) -> None:
        if self.feature is Feature.TOKEN_MATCH:
            self._check_match()
        elif self.comparison is Comparison.AMONG:
            self._check_members()
        else:
            self._check_number()

    def numbers(self) -> tuple[int, ...]:
        """Return the numbers that the feature is compared with; `token_match` is compared with none."""
        if isinstance(self.value, tuple):
            return self.value
        return () if isinstance(self.value, bool) else (self.value,)

    def _check_match(self) -> None:
        if self.comparison not in _EQUALITIES:
            raise DeclarationError(
                f"condition {self._named()}: '{self.comparison}' is not for it, want == or !="
            )
        if not isinstance(self.value, bool):
            raise DeclarationError(f"condition {self._named()}: value {self.value!r}, want true or false")

    def _check_members(self) -> None:
        if not isinstance(self.value, tuple) or not self.value:
            raise DeclarationError(
                f"condition {self._named()}: value {self.value!r}, want a tuple of numbers, not empty"
            )
        for number in self.value:
            self._check_natural(number)
        if any(one >= other for one, other in pairwise(self.value)):
            raise DeclarationError(
                f"condition {self._named()}: {self.value!r}, want increasing numbers, each once"
            )

    def _check_number(self) -> None:
        if self.feature in TOKEN_FEATURES and self.comparison not in _EQUALITIES:
            raise DeclarationError(
                f"condition {self._named()}: tokens have no order to compare; want ==, != or in"
            )
        self._check_natural(self.value)

    def _check_natural(self, value: Value) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise DeclarationError(f"condition {self._named()}: value {value!r}, want a whole number from 0")

    def _named(self) -> str:
        return f"'{self.feature} {self.comparison} ...'"


@dataclass(frozen=True, slots=True)
class Rule:
    """Adds `weight` to each pair of query and key where all conditions hold; without any, to every pair."""

    weight: Fraction
    conditions: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        _refuse_negative(self.weight, "rule")


@dataclass(frozen=True, slots=True)
class Program:
    """The attention of a head: each causal pair weighs `default` plus what the rules add.

    The order of the rules is kept as written and changes nothing in the meaning.
    """

    default: Fraction
    rules: tuple[Rule, ...]
    otherwise: Otherwise

    def __post_init__(self) -> None:
        _refuse_negative(self.default, "default")

    def tokens(self) -> frozenset[int]:
        """Return every token that a condition mentions."""
        return frozenset(
            number
            for rule in self.rules
            for condition in rule.conditions
            if condition.feature in TOKEN_FEATURES
            for number in condition.numbers()
        )


def _refuse_negative(weight: Fraction, where: str) -> None:
    if weight < 0:
        raise DeclarationError(f"{where}: weight {weight}, want at least 0")
