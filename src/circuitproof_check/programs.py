"""Attention programs: rule lists over tokens and positions that give exact rows of weights."""

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from .reading import rational, require

_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_FEATURE: dict[str, Callable[[Sequence[int], int, int], int]] = {
    "key_position": lambda _tokens, _query, key: key,
    "query_position": lambda _tokens, query, _key: query,
    "relative_distance": lambda _tokens, query, key: query - key,
    "absolute_distance": lambda _tokens, query, key: abs(query - key),
    "key_token": lambda tokens, _query, key: tokens[key],
    "query_token": lambda tokens, query, _key: tokens[query],
}
_COMPARISON = re.compile(rf"({'|'.join(_FEATURE)}) (==|!=|<=|>=|<|>) (-?[0-9]+)")
_MEMBERSHIP = re.compile(rf"({'|'.join(_FEATURE)}) in \{{(-?[0-9]+(?:, *-?[0-9]+)*)\}}")
_MATCH = ("token_match", "token_match == true", "token_match != false")
_MISMATCH = ("not token_match", "token_match != true", "token_match == false")
_LAST = ("otherwise self", "otherwise nowhere")

Condition = Callable[[Sequence[int], int, int], bool]
"""Whether a pair counts, from the tokens, the query position and the key position."""
Rule = tuple[Fraction, tuple[Condition, ...]]
"""A weight for the pairs that meet every condition."""


@dataclass(frozen=True, slots=True)
class Program:
    """A default weight, rules that add to it, and what a row without weight attends to."""

    default: Fraction
    rules: tuple[Rule, ...]
    otherwise_self: bool

    def row(self, tokens: Sequence[int], query: int) -> tuple[Fraction, ...]:
        """Return the weights of the keys 0 to `query`; they sum to one or are all zero."""
        weights = [self._weight(tokens, query, key) for key in range(query + 1)]
        mass = sum(weights)
        if mass:
            return tuple(weight / mass for weight in weights)
        return tuple(Fraction(self.otherwise_self and key == query) for key in range(query + 1))

    def _weight(self, tokens: Sequence[int], query: int, key: int) -> Fraction:
        added = (
            weight
            for weight, conditions in self.rules
            if all(holds(tokens, query, key) for holds in conditions)
        )
        return sum(added, self.default)


def parse_program(lines: Sequence[str], where: str) -> Program:
    """Return the program that the lines spell."""
    is_framed = len(lines) > 1 and lines[0].startswith("default ") and lines[-1] in _LAST
    require("programs_are_framed", is_framed, where, lines)
    rules = tuple(_parse_rule(line, where) for line in lines[1:-1])
    return Program(_weight(lines[0].removeprefix("default "), where), rules, lines[-1] == _LAST[0])


def _parse_rule(line: str, where: str) -> Rule:
    require("rules_add_weights", line.startswith("add "), where, line)
    spelled, when, conditions = line.removeprefix("add ").partition(" when ")
    parsed = tuple(_parse_condition(condition, where) for condition in conditions.split(" and ") if when)
    return _weight(spelled, where), parsed


def _weight(spelled: str, where: str) -> Fraction:
    weight = rational(spelled, where)
    require("weights_are_not_negative", weight >= 0, where, weight)
    return weight


def _parse_condition(spelled: str, where: str) -> Condition:
    if match := _COMPARISON.fullmatch(spelled):
        feature, compare, value = _FEATURE[match[1]], _COMPARE[match[2]], int(match[3])
        return lambda tokens, query, key: compare(feature(tokens, query, key), value)
    if match := _MEMBERSHIP.fullmatch(spelled):
        feature, members = _FEATURE[match[1]], frozenset(map(int, match[2].split(",")))
        return lambda tokens, query, key: feature(tokens, query, key) in members
    require("conditions_are_known", spelled in _MATCH or spelled in _MISMATCH, where, spelled)
    return lambda tokens, query, key: (tokens[query] == tokens[key]) == (spelled in _MATCH)
