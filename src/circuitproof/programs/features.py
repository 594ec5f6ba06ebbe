"""What a condition may compare in a pair of a query and a key.

Each feature has its one home here: its word, the operands it is computed from, how, and what it is compared
with. The grammar, rows, cells of patterns and batches in torch follow, so `compute` must work on numbers and
on arrays of them.
"""

import operator
from collections.abc import Callable
from enum import Enum, StrEnum, auto
from functools import partial
from typing import Any, Self, TypeAlias

FeatureValue: TypeAlias = bool | int | tuple[int, ...]
"""A boolean for `token_match`, an increasing tuple for `in`, and a number for everything else."""


class Operand(Enum):
    """What a feature may be computed from."""

    QUERY_POSITION = auto()
    KEY_POSITION = auto()
    QUERY_TOKEN = auto()
    KEY_TOKEN = auto()


class WordKind(StrEnum):
    """What a number in a condition stands for."""

    TOKEN = "token"  # noqa: S105  # a token of text
    POSITION = "position"
    DISTANCE = "distance"


def _gap(query: Any, key: Any) -> Any:  # noqa: ANN401  # numbers, or arrays of any library
    return abs(query - key)


_PLACES = (Operand.QUERY_POSITION, Operand.KEY_POSITION)


class Feature(StrEnum):
    """What a condition may look at in a pair of a query and a key."""

    words: WordKind | None
    """What it is compared with; nothing where it says whether both tokens are the same."""
    operands: tuple[Operand, ...]
    """All that it depends on."""
    compute: Callable[..., Any]
    """What gives its value for operands in their order."""

    KEY_POSITION = "key_position", WordKind.POSITION, (Operand.KEY_POSITION,)
    QUERY_POSITION = "query_position", WordKind.POSITION, (Operand.QUERY_POSITION,)
    RELATIVE_DISTANCE = "relative_distance", WordKind.DISTANCE, _PLACES, operator.sub
    """Query position minus key position."""
    ABSOLUTE_DISTANCE = "absolute_distance", WordKind.DISTANCE, _PLACES, _gap
    """The relative distance without its sign."""
    KEY_TOKEN = "key_token", WordKind.TOKEN, (Operand.KEY_TOKEN,)
    QUERY_TOKEN = "query_token", WordKind.TOKEN, (Operand.QUERY_TOKEN,)
    TOKEN_MATCH = "token_match", None, (Operand.QUERY_TOKEN, Operand.KEY_TOKEN), operator.eq
    """Whether query and key hold the same token."""

    def __new__(
        cls,
        word: str,
        words: WordKind | None,
        operands: tuple[Operand, ...],
        compute: Callable[..., Any] = operator.pos,
    ) -> Self:
        feature = str.__new__(cls, word)
        feature._value_ = word
        feature.words, feature.operands, feature.compute = words, operands, compute
        return feature


class Comparison(StrEnum):
    """How a condition compares a feature with its value."""

    EQUAL = "=="
    UNEQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="
    AMONG = "in"

    @property
    def is_equality(self) -> bool:
        """Say whether it needs no order."""
        return self in {Comparison.EQUAL, Comparison.UNEQUAL}

    def of_constant(self, value: int) -> Callable[[Any], Any]:
        """Return what says of a number, or of each in an array, how it compares with `value`."""
        return partial(_REVERSED[self], value)


# The constant of a condition comes first so that `partial` can hold it: `5 > x` says `x < 5`.
_REVERSED: dict[Comparison, Callable[[Any, Any], Any]] = {
    Comparison.EQUAL: operator.eq,
    Comparison.UNEQUAL: operator.ne,
    Comparison.LESS: operator.gt,
    Comparison.AT_MOST: operator.ge,
    Comparison.MORE: operator.lt,
    Comparison.AT_LEAST: operator.le,
}


def comparing(comparison: Comparison, value: FeatureValue) -> Callable[[int], bool]:
    """Return what says of a number whether the comparison with `value` holds.

    >>> list(map(comparing(Comparison.LESS, 2), range(4)))
    [True, True, False, False]
    """
    return frozenset(value).__contains__ if isinstance(value, tuple) else comparison.of_constant(value)


def value_text(value: FeatureValue) -> str:
    return f"{{{', '.join(map(str, value))}}}" if isinstance(value, tuple) else str(value).lower()
