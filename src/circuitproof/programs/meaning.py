"""What a program means: for each query of a prompt, the exact weights of the keys it attends to."""

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from math import lcm
from typing import TypeAlias

from circuitproof.errors import InputError
from circuitproof.programs.syntax import Comparison, Condition, Feature, Otherwise, Program

Row: TypeAlias = tuple[tuple[int, Fraction], ...]
"""The keys with weight, by position, and their weights, which sum to 1 unless there are none."""

_Reading: TypeAlias = Callable[[Sequence[int], int, int], int]
_Filter: TypeAlias = Callable[[Sequence[int], int, Iterable[int]], Iterable[int]]

_READINGS: dict[Feature, _Reading] = {
    Feature.KEY_POSITION: lambda _, __, key: key,
    Feature.QUERY_POSITION: lambda _, query, __: query,
    Feature.RELATIVE_DISTANCE: lambda _, query, key: query - key,
    Feature.ABSOLUTE_DISTANCE: lambda _, query, key: abs(query - key),
    Feature.KEY_TOKEN: lambda prompt, _, key: prompt[key],
    Feature.QUERY_TOKEN: lambda prompt, query, _: prompt[query],
    Feature.TOKEN_MATCH: lambda prompt, query, key: prompt[query] == prompt[key],
}

# The constant of a condition comes first so that `partial` can hold it: `5 > x` says `x < 5`.
_COMPARISONS: dict[Comparison, Callable[[int, int], bool]] = {
    Comparison.EQUAL: operator.eq,
    Comparison.UNEQUAL: operator.ne,
    Comparison.LESS: operator.gt,
    Comparison.AT_MOST: operator.ge,
    Comparison.MORE: operator.lt,
    Comparison.AT_LEAST: operator.le,
}


def row(program: Program, prompt: Sequence[int], query: int) -> Row:
    r"""Return the attention of position `query`: each causal key's weight divided by their sum.

    Keys without weight are left out. When no key has any, `otherwise` decides: the query's own position,
    or an empty row.

    >>> from circuitproof.programs.text import parse
    >>> row(parse("default 0\nadd 1 when key_token in {7}\notherwise self"), (7, 8, 7), 2)
    ((0, Fraction(1, 2)), (2, Fraction(1, 2)))
    """
    if not 0 <= query < len(prompt):
        raise InputError(
            f"query {query} is outside a prompt of {len(prompt)} tokens; want 0 to {len(prompt) - 1}"
        )
    plan = _plan(program)
    weights = [plan.default] * (query + 1)
    for rule in plan.rules:
        for key in rule.keys(prompt, query):
            weights[key] += rule.weight
    return _normalised(weights) or _fallback(program.otherwise, query)


def reads(program: Program) -> frozenset[Feature]:
    """Return the features that the rows of a program may depend on.

    Beyond these a row depends only on the position of its query. A rule of weight zero reads nothing.
    """
    return frozenset(
        condition.feature for rule in program.rules if rule.weight for condition in rule.conditions
    )


@dataclass(frozen=True, slots=True)
class _PlannedRule:
    """A rule with its weight as an integer and its conditions as filters of keys."""

    weight: int
    filters: tuple[_Filter, ...]

    def keys(self, prompt: Sequence[int], query: int) -> Iterable[int]:
        keys: Iterable[int] = range(query + 1)
        for keep in self.filters:
            keys = keep(prompt, query, keys)
        return keys


@dataclass(frozen=True, slots=True)
class _Plan:
    """A program whose weights are integers: all of them times their common denominator, which rows cancel."""

    default: int
    rules: tuple[_PlannedRule, ...]


@lru_cache(maxsize=256)
def _plan(program: Program) -> _Plan:
    scale = lcm(program.default.denominator, *(rule.weight.denominator for rule in program.rules))
    rules = tuple(
        _PlannedRule(int(rule.weight * scale), tuple(map(_filter, rule.conditions))) for rule in program.rules
    )
    return _Plan(int(program.default * scale), rules)


def _filter(condition: Condition) -> _Filter:
    read = _READINGS[condition.feature]
    holds = _test(condition)
    return lambda prompt, query, keys: [key for key in keys if holds(read(prompt, query, key))]


def _test(condition: Condition) -> Callable[[int], bool]:
    if isinstance(condition.value, tuple):
        return frozenset(condition.value).__contains__
    return partial(_COMPARISONS[condition.comparison], condition.value)


def _normalised(weights: Sequence[int]) -> Row:
    total = sum(weights)
    shares = {weight: Fraction(weight, total) for weight in set(weights) if weight}
    return tuple((key, shares[weight]) for key, weight in enumerate(weights) if weight)


def _fallback(otherwise: Otherwise, query: int) -> Row:
    return ((query, Fraction(1)),) if otherwise is Otherwise.SELF else ()
