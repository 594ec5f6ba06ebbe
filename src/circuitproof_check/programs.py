"""Attention programs: rule lists over tokens and positions that give exact rows of weights."""

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

from .reading import rational, require

Tokens = tuple[int, ...]
Condition = Callable[[Tokens, int, int], bool]
"""Whether a pair counts, from the tokens up to the query, the query position and the key position."""
Number = Callable[[Tokens, int, int], int]
Pairs = frozenset[tuple[int, int]]
Member = TypeVar("Member")
Rule = tuple[Fraction, Condition]
"""A weight for the pairs that meet a condition."""

_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_FEATURE: dict[str, Number] = {
    "key_position": lambda _tokens, _query, key: key,
    "query_position": lambda _tokens, query, _key: query,
    "relative_distance": lambda _tokens, query, key: query - key,
    "absolute_distance": lambda _tokens, query, key: abs(query - key),
    "key_token": lambda tokens, _query, key: tokens[key],
    "query_token": lambda tokens, query, _key: tokens[query],
}
_NUMBER = re.compile(r"[0-9]+")
_WORD = re.compile(r"[a-z_]+|[0-9]+|[=!<>]=|\S")
_LAST = ("otherwise self", "otherwise nowhere")


@dataclass(frozen=True, slots=True)
class Program:
    """A default weight, rules that add to it, and what a row without weight attends to."""

    default: Fraction
    rules: tuple[Rule, ...]
    otherwise_self: bool

    def row(self, tokens: Sequence[int], query: int) -> tuple[Fraction, ...]:
        """Return the weights of the keys 0 to `query`; they sum to one or are all zero."""
        seen = tuple(tokens[: query + 1])
        weights = [self._weight(seen, query, key) for key in range(query + 1)]
        mass = sum(weights)
        if mass:
            return tuple(weight / mass for weight in weights)
        return tuple(Fraction(self.otherwise_self and key == query) for key in range(query + 1))

    def _weight(self, seen: Tokens, query: int, key: int) -> Fraction:
        return sum((weight for weight, holds in self.rules if holds(seen, query, key)), self.default)


def parse_program(lines: Sequence[str], where: str) -> Program:
    """Return the program that the lines spell."""
    is_framed = len(lines) > 1 and lines[0].startswith("default ") and lines[-1] in _LAST
    require("programs_are_framed", is_framed, where, lines)
    rules = tuple(_parse_rule(line, where) for line in lines[1:-1])
    return Program(_weight(lines[0].removeprefix("default "), where), rules, lines[-1] == _LAST[0])


def _parse_rule(line: str, where: str) -> Rule:
    require("rules_add_weights", line.startswith("add "), where, line)
    spelled, when, condition = line.removeprefix("add ").partition(" when ")
    return _weight(spelled, where), _Words(condition, where).condition() if when else _always


def _always(_tokens: Tokens, _query: int, _key: int) -> bool:
    return True


def _weight(spelled: str, where: str) -> Fraction:
    weight = rational(spelled, where)
    require("weights_are_not_negative", weight >= 0, where, weight)
    return weight


class _Words:
    """Reads a condition word by word: `or` joins what `and` joins, `and` what stands alone."""

    def __init__(self, text: str, where: str) -> None:
        self._left = _WORD.findall(text)[::-1]
        self._where = f"{where}: {text!r}"

    def condition(self) -> Condition:
        """Read to the end."""
        condition = self._either()
        self._demand(not self._left)
        return condition

    def _either(self) -> Condition:
        parts = [self._both()]
        while self._skip("or"):
            parts.append(self._both())
        return lambda tokens, query, key: any(part(tokens, query, key) for part in parts)

    def _both(self) -> Condition:
        parts = [self._alone()]
        while self._skip("and"):
            parts.append(self._alone())
        return lambda tokens, query, key: all(part(tokens, query, key) for part in parts)

    def _alone(self) -> Condition:
        word = self._take()
        if word == "(":
            inner = self._either()
            self._demand(self._skip(")"))
            return inner
        if word == "not":
            part = self._alone()
            return lambda tokens, query, key: not part(tokens, query, key)
        if word in ("first", "last", "nearest"):
            return _scan(word, self._alone())
        if word in ("unmatched", "partner"):
            return _link(word, frozenset(self._members(self._pair)))
        return self._match() if word == "token_match" else self._comparison(self._read(word))

    def _match(self) -> Condition:
        wanted = True
        if self._left[-1:] in (["=="], ["!="]):
            sign, truth = self._take(), self._take()
            self._demand(truth in ("true", "false"))
            wanted = (sign == "==") == (truth == "true")
        return lambda tokens, query, key: (tokens[query] == tokens[key]) == wanted

    def _comparison(self, number: Number) -> Condition:
        sign = self._take()
        if sign == "in":
            members = frozenset(self._members(self._number))
            return lambda tokens, query, key: number(tokens, query, key) in members
        self._demand(sign in _COMPARE)
        compare, value = _COMPARE[sign], self._number()
        return lambda tokens, query, key: compare(number(tokens, query, key), value)

    def _read(self, name: str) -> Number:
        if name in ("key_count", "query_count"):
            tokens = frozenset(self._members(self._number))
            return self._bounded(
                name, lambda seen, last: sum(seen[place] in tokens for place in range(last + 1))
            )
        if name in ("key_depth", "query_depth"):
            pairs = frozenset(self._members(self._pair))
            return self._bounded(name, lambda seen, last: len(_open(seen, last, pairs)))
        self._demand(name in _FEATURE)
        return _FEATURE[name]

    def _bounded(self, name: str, count: Callable[[Tokens, int], int]) -> Number:
        self._demand(self._skip("up") and self._skip("to"))
        bound, is_key = self._number(), name.startswith("key")
        return lambda tokens, query, key: min(bound, count(tokens, key if is_key else query))

    def _pair(self) -> tuple[int, int]:
        opener = self._number()
        self._demand(self._skip(":"))
        return opener, self._number()

    def _members(self, read: Callable[[], Member]) -> list[Member]:
        self._demand(self._skip("{"))
        members = [read()]
        while self._skip(","):
            members.append(read())
        self._demand(self._skip("}"))
        return members

    def _number(self) -> int:
        word = self._take()
        self._demand(_NUMBER.fullmatch(word))
        return int(word)

    def _take(self) -> str:
        self._demand(self._left)
        return self._left.pop()

    def _skip(self, word: str) -> bool:
        return self._left[-1:] == [word] and bool(self._left.pop())

    def _demand(self, is_met: object) -> None:
        require("conditions_are_known", is_met, self._where, " ".join(reversed(self._left)))


def _scan(pick: str, part: Condition) -> Condition:
    def holds(tokens: Tokens, query: int, key: int) -> bool:
        end = query if pick == "nearest" else query + 1
        rivals = range(key) if pick == "first" else range(key + 1, end)
        return key < end and part(tokens, query, key) and not any(part(tokens, query, one) for one in rivals)

    return holds


def _link(name: str, pairs: Pairs) -> Condition:
    if name == "unmatched":
        return lambda tokens, query, key: key in _open(tokens, query, pairs)
    return lambda tokens, query, key: key in _open(tokens, query - 1, pairs) - _open(tokens, query, pairs)


@lru_cache(maxsize=4096)
def _open(tokens: Tokens, last: int, pairs: Pairs) -> frozenset[int]:
    """Return the positions of the openers that are open once the token at `last` has been read."""
    openers = {opener for opener, _ in pairs}
    stack: list[int] = []
    for position in range(last + 1):
        if tokens[position] in openers:
            stack.append(position)
        elif stack and (tokens[stack[-1]], tokens[position]) in pairs:
            stack.pop()
    return frozenset(stack)
