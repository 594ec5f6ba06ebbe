"""Attention programs: one grammar, read once into conditions that rows and patterns are then made of.

Tokens are names: no condition orders them. A token is read by `Compare` with a token feature, by `Match`, by
`Count` and through brackets, and by nothing else.
"""

import operator
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias, TypeVar, cast

from .reading import rational, require, show
from .work import NUMBER, STEP, paid, spend
from .work import weight as weight_of

TokenSet = tuple[int, ...]
Pairs = frozenset[tuple[int, int]]
Member = TypeVar("Member", int, tuple[int, int])

PLACES = ("key_position", "query_position", "relative_distance", "absolute_distance")
TOKENS = ("key_token", "query_token")
SCANS = ("first", "last", "nearest")
SIGNS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_EQUALITIES = ("==", "!=")
_NUMBER = re.compile(r"[0-9]{1,18}")
_WEIGHT = re.compile(r"[0-9]{1,100}(/(?=0*[1-9])[0-9]{1,100})?")
_WORD = re.compile(r"[a-z_]+|[0-9]+(?:/[0-9]+)?|[=!<>]=|[<>{}(),:]|(?P<stray>[^ ])")
_ENDS = (["otherwise", "self"], ["otherwise", "nowhere"])
_LEVELS, _NESTED = 16, 32


@dataclass(frozen=True, slots=True)
class Compare:
    """A place or a token compared with numbers: one, or with `in` some."""

    feature: str
    sign: str
    numbers: tuple[int, ...]
    """In their order."""

    def test(self, value: int) -> bool:
        """Say whether the comparison holds of a value."""
        if self.sign != "in":
            return SIGNS[self.sign](value, self.numbers[0])
        place = bisect_left(self.numbers, value)
        return self.numbers[place : place + 1] == (value,)


@dataclass(frozen=True, slots=True)
class Match:
    """Whether key and query hold the same token."""

    wanted: bool
    is_plain: bool = True
    """Whether it is told by `==`, or by nothing."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many of some tokens, or how many open brackets, there are up to the key or the query."""

    is_key: bool
    of: frozenset[int] | Pairs
    is_depth: bool
    most: int
    compared: Compare


@dataclass(frozen=True, slots=True)
class Linked:
    """How the bracket at the key stands to the query: unmatched, or its partner."""

    is_partner: bool
    pairs: Pairs


@dataclass(frozen=True, slots=True)
class Not:
    """What holds where the part does not."""

    part: "Formula"


@dataclass(frozen=True, slots=True)
class Scan:
    """The first, last or nearest key where the part holds."""

    pick: str
    part: "Formula"


@dataclass(frozen=True, slots=True)
class Joined:
    """All of some parts, or any of them."""

    word: str
    parts: "tuple[Formula, ...]"


Formula: TypeAlias = Compare | Match | Count | Linked | Not | Scan | Joined


@dataclass(frozen=True, slots=True)
class Program:
    """A default weight, rules that add to it, and what a row without weight attends to."""

    default: Fraction
    rules: tuple[tuple[Fraction, Formula | None], ...]
    is_self: bool

    def row(self, tokens: Sequence[int], query: int) -> tuple[Fraction, ...]:
        """Return the weights of the keys 0 to `query`; they sum to one or are all zero."""
        spend((query + 1) * (2 + len(self.rules)) * self.cost)
        seen = _Seen(tuple(tokens[: query + 1]))
        weights = [self._weight(seen, query, key) for key in range(query + 1)]
        mass = sum(weights)
        if mass:
            return tuple(weight / mass for weight in weights)
        return tuple(Fraction(self.is_self and key == query) for key in range(query + 1))

    @property
    def cost(self) -> int:
        """Return what it costs to add one of the weights to others."""
        spend(STEP * len(self.rules))
        weights = [self.default, *(weight for weight, _ in self.rules)]
        return NUMBER + weight_of(sum(weight.denominator.bit_length() - 1 for weight in weights))

    @property
    def is_fixed(self) -> bool:
        """Say whether it attends at every query, or at none, for want of a condition or of a weight."""
        spend(STEP * (1 + len(self.rules)))
        sure = self.is_self or self.default or any(w for w, condition in self.rules if condition is None)
        return bool(sure) or self.is_empty

    @property
    def is_empty(self) -> bool:
        """Say whether it attends nowhere, for want of a weight."""
        spend(STEP * (1 + len(self.rules)))
        return not (self.is_self or self.default or any(weight for weight, _ in self.rules))

    def _weight(self, seen: "_Seen", query: int, key: int) -> Fraction:
        found = (w for w, condition in self.rules if condition is None or _holds(condition, seen, query, key))
        return sum(found, self.default)

    @property
    def has_brackets(self) -> bool:
        """Say whether a condition looks at brackets, which no machine follows through a pattern."""
        found = self.conditions()
        return any(isinstance(one, Linked) or (isinstance(one, Count) and one.is_depth) for one in found)

    def conditions(self) -> Iterator[Formula]:
        """Return every condition, and every part of one."""
        for _, condition in paid(self.rules):
            if condition is not None:
                yield from _within(condition)


def parse_program(lines: Sequence[str], where: str, vocabulary: int) -> Program:
    words = [_words(line, where) for line in lines]
    is_framed = len(words) > 1 and words[0][:1] == ["default"] and words[-1] in _ENDS
    require("programs_are_framed", is_framed, where, lines)
    rules = tuple(_parse_rule(line, where, vocabulary) for line in words[1:-1])
    return Program(_weight(words[0][1:], where), rules, words[-1] == _ENDS[0])


def _words(line: str, where: str) -> list[str]:
    spend(2 * NUMBER * len(line))
    words = [word[0] for word in _WORD.finditer(line) if not word["stray"]]
    has_strays = any(word["stray"] for word in _WORD.finditer(line))
    require("programs_are_made_of_words", words and not has_strays, where, line)
    return words


def _parse_rule(words: list[str], where: str, vocabulary: int) -> tuple[Fraction, Formula | None]:
    require("rules_add_weights", words[0] == "add", where, words)
    when = words.index("when") if "when" in words else len(words)
    condition = _Reader(words[when + 1 :], where, vocabulary).read() if when < len(words) else None
    return _weight(words[1:when], where), condition


def _weight(words: list[str], where: str) -> Fraction:
    spelled = " ".join(words)
    require("weights_are_short_and_not_negative", _WEIGHT.fullmatch(spelled), where, spelled)
    return rational(spelled, where)


class _Reader:
    """Reads a condition word by word: `or` joins what `and` joins, `and` what stands alone."""

    def __init__(self, words: list[str], where: str, vocabulary: int) -> None:
        self._left = words[::-1]
        self._where = f"{where}: {show(' '.join(words))}"
        self._vocabulary = vocabulary
        self._nested = 0

    def read(self) -> Formula:
        """Read to the end."""
        condition = self._either()
        self._demand(not self._left)
        require("conditions_have_few_levels", _levels(condition) <= _LEVELS, self._where)
        return condition

    def _either(self) -> Formula:
        return self._joined("or", lambda: self._joined("and", self._alone))

    def _joined(self, word: str, read: Callable[[], Formula]) -> Formula:
        parts = [read()]
        while self._skip(word):
            parts.append(read())
        flat = [inner for part in parts for inner in _parts_joined(part, word)]
        return flat[0] if len(flat) == 1 else Joined(word, tuple(flat))

    def _alone(self) -> Formula:
        self._nested += 1
        require("conditions_are_not_nested_deeply", self._nested <= _NESTED, self._where)
        word = self._take()
        if word == "(":
            found = self._either()
            self._demand(self._skip(")"))
        elif word == "not":
            part = self._alone()
            found = Match(wanted=False) if part == Match(wanted=True) else Not(part)
        elif word in SCANS:
            found = Scan(word, self._alone())
        else:
            found = self._atom(word)
        self._nested -= 1
        return found

    def _atom(self, word: str) -> Formula:
        if word == "token_match":
            return self._match()
        if word in ("unmatched", "partner"):
            return Linked(word == "partner", self._pairs())
        if word in ("key_count", "query_count", "key_depth", "query_depth"):
            return self._count(*word.split("_"))
        self._demand(word in PLACES or word in TOKENS)
        return self._compare(word, self._token if word in TOKENS else self._number)

    def _match(self) -> Formula:
        if self._left[-1:] not in (["=="], ["!="]):
            return Match(wanted=True)
        sign, truth = self._take(), self._take()
        self._demand(truth in ("true", "false"))
        return Match((sign == "==") == (truth == "true"), sign == "==")

    def _count(self, place: str, what: str) -> Formula:
        of = self._pairs() if what == "depth" else frozenset(self._members(self._token))
        self._demand(self._skip("up") and self._skip("to"))
        most = self._number()
        compared = self._compare("count", self._number)
        fits = most and compared.numbers[-1] <= most
        require("counts_are_compared_within_their_bound", fits, self._where, most, compared.numbers)
        return Count(place == "key", of, what == "depth", most, compared)

    def _compare(self, feature: str, read: Callable[[], int]) -> Compare:
        sign = self._take()
        if sign == "in":
            return Compare(feature, sign, tuple(self._members(read)))
        self._demand(sign in SIGNS)
        is_ordered = feature in TOKENS and sign not in _EQUALITIES
        require("tokens_have_no_order", not is_ordered, self._where, sign)
        return Compare(feature, sign, (read(),))

    def _pairs(self) -> Pairs:
        pairs = frozenset(self._members(self._pair))
        both = {opener for opener, _ in pairs} & {closer for _, closer in pairs}
        require("brackets_open_or_close", not both, self._where, both)
        return pairs

    def _pair(self) -> tuple[int, int]:
        opener = self._token()
        self._demand(self._skip(":"))
        return opener, self._token()

    def _members(self, read: Callable[[], Member]) -> list[Member]:
        """Return what stands in braces, in order; numbers may be long, so none is hashed."""
        self._demand(self._skip("{"))
        members = [read()]
        while self._skip(","):
            members.append(read())
        self._demand(self._skip("}"))
        members.sort()
        require("members_are_distinct", all(a < b for a, b in pairwise(members)), self._where, members)
        return members

    def _token(self) -> int:
        token = self._number()
        require("programs_name_known_tokens", token < self._vocabulary, self._where, token)
        return token

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
        rest = () if is_met else (" ".join(reversed(self._left)),)
        require("conditions_are_known", is_met, self._where, *rest)


def _parts_joined(condition: Formula, word: str) -> Sequence[Formula]:
    is_same = isinstance(condition, Joined) and condition.word == word
    return condition.parts if isinstance(condition, Joined) and is_same else (condition,)


def parts_of(condition: Formula) -> Sequence[Formula]:
    """Return the conditions that one is made of."""
    match condition:
        case Not(part) | Scan(_, part):
            return (part,)
        case Joined(_, parts):
            return parts
        case Compare() | Match() | Count() | Linked():
            return ()


def _levels(condition: Formula) -> int:
    return max((1 + _levels(part) for part in parts_of(condition)), default=0)


def _within(condition: Formula) -> Iterator[Formula]:
    spend(NUMBER)
    yield condition
    for part in parts_of(condition):
        yield from _within(part)


class _Seen:
    """The tokens up to a query, and the open brackets that were looked for among them."""

    def __init__(self, tokens: TokenSet) -> None:
        self.tokens = tokens
        self._stacks: dict[tuple[int, int], frozenset[int]] = {}

    def open(self, last: int, pairs: Pairs) -> frozenset[int]:
        """Return the positions of the openers that are open once the token at `last` has been read."""
        name = (last, id(pairs))
        if name not in self._stacks:
            self._stacks[name] = frozenset(_stack(self.tokens[: last + 1], pairs))
        return self._stacks[name]


def _holds(condition: Formula, seen: _Seen, query: int, key: int) -> bool:
    """Say whether a condition holds of a query and a key."""
    spend(NUMBER)
    tokens = seen.tokens
    match condition:
        case Compare(feature):
            return condition.test(_value(feature, tokens, query, key))
        case Match(wanted):
            return (tokens[query] == tokens[key]) == wanted
        case Count(is_key, of, is_depth, most, compared):
            last = key if is_key else query
            spend(len(tokens))
            count = len(seen.open(last, cast("Pairs", of))) if is_depth else _counted(tokens, last, of)
            return compared.test(min(count, most))
        case Linked(is_partner, pairs):
            spend(4 * len(tokens))
            now = seen.open(query, pairs)
            return key in (seen.open(query - 1, pairs) - now if is_partner else now)
        case Not(part):
            return not _holds(part, seen, query, key)
        case Scan(pick, part):
            return _picks(pick, part, seen, query, key)
        case Joined(word, parts):
            return (any if word == "or" else all)(_holds(part, seen, query, key) for part in parts)


def _value(feature: str, tokens: TokenSet, query: int, key: int) -> int:
    match feature:
        case "key_position":
            return key
        case "query_position":
            return query
        case "key_token":
            return tokens[key]
        case "query_token":
            return tokens[query]
        case _:
            return query - key


def _picks(pick: str, part: Formula, seen: _Seen, query: int, key: int) -> bool:
    end = query if pick == "nearest" else query + 1
    rivals = range(key) if pick == "first" else range(key + 1, end)
    is_one = key < end and _holds(part, seen, query, key)
    return is_one and not any(_holds(part, seen, query, rival) for rival in rivals)


def _counted(tokens: TokenSet, last: int, of: frozenset[object]) -> int:
    return sum(token in of for token in tokens[: last + 1])


def _stack(tokens: TokenSet, pairs: Pairs) -> list[int]:
    """Return the positions of the openers that are open once all tokens have been read."""
    spend(NUMBER * len(tokens) + STEP * len(pairs))
    openers = {opener for opener, _ in pairs}
    stack: list[int] = []
    for position, token in enumerate(tokens):
        if token in openers:
            stack.append(position)
        elif stack and (tokens[stack[-1]], token) in pairs:
            stack.pop()
    return stack
