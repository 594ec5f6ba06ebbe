"""Attention programs: rule lists over tokens and positions that give exact rows of weights."""

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from circuitproof_check.reading import ForgedError, rational, show

_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_FEATURES = "key_position|query_position|relative_distance|absolute_distance|key_token|query_token"
_COMPARISON = re.compile(rf"({_FEATURES}) (==|!=|<=|>=|<|>) (-?[0-9]+)")
_MEMBERSHIP = re.compile(rf"({_FEATURES}) in \{{(-?[0-9]+(?:, *-?[0-9]+)*)\}}")
_MATCH = re.compile(r"(not )?token_match|token_match (==|!=) (true|false)")
_ADD = re.compile(r"add (\S+)(?: when (.+))?")

Condition = Callable[[Sequence[int], int, int], bool]
"""Whether a pair counts, from the tokens, the query position and the key position."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A weight for the pairs that meet every condition."""

    weight: Fraction
    conditions: tuple[Condition, ...]


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
        rules = (rule for rule in self.rules if all(holds(tokens, query, key) for holds in rule.conditions))
        return sum((rule.weight for rule in rules), self.default)


def parse_program(lines: Sequence[str], where: str) -> Program:
    """Return the program that the lines spell."""
    if len(lines) < len(("default", "otherwise")):
        raise ForgedError(f"{where} has {len(lines)} lines, want at least `default` and `otherwise`")
    first, *middle, last = lines
    if not first.startswith("default "):
        raise ForgedError(f"{where}: the first line is {show(first)}, want `default W`")
    if last not in ("otherwise self", "otherwise nowhere"):
        raise ForgedError(f"{where}: the last line is {show(last)}, want `otherwise self` or `nowhere`")
    rules = tuple(_parse_rule(line, f"{where}, line {index}") for index, line in enumerate(middle, start=2))
    return Program(_weight(first.removeprefix("default "), where), rules, last == "otherwise self")


def _parse_rule(line: str, where: str) -> Rule:
    match = _ADD.fullmatch(line)
    if match is None:
        raise ForgedError(f"{where} is {show(line)}, want `add W` or `add W when C and C ...`")
    spelled = match[2].split(" and ") if match[2] else []
    conditions = tuple(_parse_condition(condition, where) for condition in spelled)
    return Rule(_weight(match[1], where), conditions)


def _weight(spelled: str, where: str) -> Fraction:
    weight = rational(spelled, where)
    rule_weights_are_not_negative(weight, where)
    return weight


def rule_weights_are_not_negative(weight: Fraction, where: str) -> None:
    """The weights of a program are non-negative."""
    if weight < 0:
        raise ForgedError(f"{where}: the weight is {show(weight)}, want at least 0")


def _parse_condition(spelled: str, where: str) -> Condition:
    if match := _COMPARISON.fullmatch(spelled):
        return _comparison(match[1], match[2], int(match[3]))
    if match := _MEMBERSHIP.fullmatch(spelled):
        return _membership(match[1], frozenset(map(int, match[2].split(","))))
    if match := _MATCH.fullmatch(spelled):
        return _token_match(wanted=match[1] is None and (match[2] != "!=") == (match[3] != "false"))
    raise ForgedError(f"{where}: {show(spelled)} is not a condition")


def _comparison(feature: str, sign: str, value: int) -> Condition:
    return lambda tokens, query, key: _COMPARE[sign](_feature(feature, tokens, query, key), value)


def _membership(feature: str, members: frozenset[int]) -> Condition:
    return lambda tokens, query, key: _feature(feature, tokens, query, key) in members


def _token_match(*, wanted: bool) -> Condition:
    return lambda tokens, query, key: (tokens[query] == tokens[key]) == wanted


def _feature(feature: str, tokens: Sequence[int], query: int, key: int) -> int:
    match feature:
        case "key_position":
            return key
        case "query_position":
            return query
        case "relative_distance":
            return query - key
        case "absolute_distance":
            return abs(query - key)
        case "key_token":
            return tokens[key]
        case _:
            return tokens[query]
