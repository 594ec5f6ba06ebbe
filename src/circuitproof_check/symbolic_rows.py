"""The weights of a program's row, key by key, while a prompt is read from its start.

A condition is a machine with states. What it says of a key may depend on keys before it, which the state
remembers, and on keys behind it, which are guessed: of all guesses one survives to the end of the prompt.
"""

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from .symbolic_patterns import Tokens

_WORD = re.compile(r"[a-z_]+|[0-9]+|[=!<>]=|\S")
_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_SCANS = frozenset({"first", "last", "nearest", "unmatched", "partner"})
_TALLIES = frozenset({"key_count", "query_count", "key_depth", "query_depth"})
_NOT_LOCAL = _SCANS | _TALLIES | {"token_match"}
State = Any
"""Numbers in nested tuples."""


class UnsettledError(Exception):
    """Something is not determined in a region; the sentence says what."""


@dataclass(frozen=True, slots=True)
class Key:
    """A token as it is read; `atom` is the place of its atom. The last one is the query."""

    atom: int
    token: int
    position: int
    is_last: bool


@dataclass(frozen=True, slots=True)
class Query:
    """What a region tells of the query: the length of the prompt, and atoms and tokens that it may hold."""

    length: int | None
    atoms: tuple[int, ...]
    tokens: tuple[int, ...]
    """A token of each atom."""
    is_single: bool

    def position(self, key: Key) -> int:
        """Return the position of the query."""
        if key.is_last:
            return key.position
        if self.length is None:
            raise UnsettledError("a row depends on the length")
        return self.length - 1

    def same(self, answers: set[bool]) -> bool:
        """Return the answer for every possible last token."""
        if len(answers) > 1:
            raise UnsettledError("a row depends on the last token")
        return answers.pop()


@dataclass(frozen=True, slots=True)
class Machine:
    """From a state and a key, for each guess: whether the condition holds, and the next state."""

    starts: tuple[State, ...]
    step: Callable[[State, Key], list[tuple[bool, State]]]
    ends: Callable[[State], bool]


@dataclass(frozen=True, slots=True)
class Row:
    """A program's row: the rules' weights and conditions."""

    default: Fraction
    weights: tuple[Fraction, ...]
    machines: tuple[Machine, ...]
    is_self: bool
    """Whether a row without weight attends to the query."""

    def starts(self) -> Iterator[State]:
        """Return the states before the first key."""
        return product(*(machine.starts for machine in self.machines))

    def step(self, states: State, key: Key) -> Iterator[tuple[Fraction, State]]:
        """Return the weight of a key and the next state, for each guess."""
        options = [machine.step(state, key) for machine, state in zip(self.machines, states, strict=True)]
        for chosen in product(*options):
            held = zip(self.weights, chosen, strict=True)
            weight = sum((weight for weight, (holds, _) in held if holds), self.default)
            yield weight, tuple(after for _, after in chosen)

    def ends(self, states: State) -> bool:
        """Say whether every guess was right."""
        return all(machine.ends(state) for machine, state in zip(self.machines, states, strict=True))


def make_row(lines: Sequence[str], query: Query) -> Row:
    """Return the row of a program, whose lines `parse_program` has accepted."""
    weights: list[Fraction] = []
    machines: list[Machine] = []
    for line in lines[1:-1]:
        spelled, when, condition = line.removeprefix("add ").partition(" when ")
        weights.append(Fraction(spelled))
        machines.append(_Reader(condition, query).condition() if when else _stateless(lambda _: True))
    default = Fraction(lines[0].removeprefix("default "))
    return Row(default, tuple(weights), tuple(machines), lines[-1] == "otherwise self")


def is_local(lines: Sequence[str]) -> bool:
    """Say whether conditions look at one key and the query, and not at whether their tokens are the same."""
    words = {word for line in lines[1:-1] for word in _WORD.findall(line.partition(" when ")[2])}
    return not words & _NOT_LOCAL


def token_classes(lines: Sequence[str]) -> list[Tokens]:
    """Return every number that a program names as a class of its own, whether it is a token or not."""
    numbers = {int(word) for line in lines[1:-1] for word in _WORD.findall(line) if word.isdecimal()}
    return [Tokens(frozenset({number}), is_complement=False) for number in sorted(numbers)]


class _Reader:
    """Reads a condition that is known to be well formed into a machine."""

    def __init__(self, text: str, query: Query) -> None:
        self._left = _WORD.findall(text)[::-1]
        self._query = query

    def condition(self) -> Machine:
        parts = [self._all()]
        while self._skip("or"):
            parts.append(self._all())
        return _joined(parts, any)

    def _all(self) -> Machine:
        parts = [self._one()]
        while self._skip("and"):
            parts.append(self._one())
        return _joined(parts, all)

    def _one(self) -> Machine:
        word = self._left.pop()
        if word == "(":
            inner = self.condition()
            self._skip(")")
            return inner
        if word == "not":
            part = self._one()
            return Machine(part.starts, lambda s, k: [(not a, b) for a, b in part.step(s, k)], part.ends)
        if word == "first":
            return _first(self._one())
        if word in ("last", "nearest"):
            return _last(self._one(), may_be_query=word == "last")
        if word in ("key_count", "query_count"):
            return self._count(is_key=word == "key_count")
        if word in ("unmatched", "partner", "key_depth", "query_depth"):
            raise UnsettledError("a row depends on brackets")
        return self._match() if word == "token_match" else self._feature(word)

    def _match(self) -> Machine:
        wanted, query = self._match_wanted(), self._query

        def holds(key: Key) -> bool:
            if key.is_last or (query.is_single and query.atoms == (key.atom,)):
                return wanted
            return query.same({False, True} if key.atom in query.atoms else {False}) == wanted

        return _stateless(holds)

    def _feature(self, name: str) -> Machine:
        holds, query = self._test(), self._query
        if name == "query_token":
            return _stateless(lambda k: query.same({*map(holds, (k.token,) if k.is_last else query.tokens)}))
        readings: dict[str, Callable[[Key], int]] = {
            "key_token": lambda key: key.token,
            "key_position": lambda key: key.position,
            "query_position": query.position,
            "relative_distance": lambda key: query.position(key) - key.position,
            "absolute_distance": lambda key: query.position(key) - key.position,
        }
        read = readings[name]
        return _stateless(lambda key: holds(read(key)))

    def _count(self, *, is_key: bool) -> Machine:
        tokens = self._numbers()
        self._left = self._left[: -len(("up", "to"))]
        bound = int(self._left.pop())
        holds = self._test()

        def count(number: int, key: Key) -> int:
            return min(number + (key.token in tokens), bound)

        if is_key:
            return Machine((0,), lambda n, key: [(holds(count(n, key)), count(n, key))], lambda _: True)
        return Machine(
            tuple((guess, 0) for guess in range(bound + 1)),
            lambda state, key: [(holds(state[0]), (state[0], count(state[1], key)))],
            lambda state: state[0] == state[1],
        )

    def _match_wanted(self) -> bool:
        if self._left[-1:] not in (["=="], ["!="]):
            return True
        sign, truth = self._left.pop(), self._left.pop()
        return (sign == "==") == (truth == "true")

    def _test(self) -> Callable[[int], bool]:
        sign = self._left.pop()
        if sign == "in":
            members = self._numbers()
            return lambda number: number in members
        compare, value = _COMPARE[sign], int(self._left.pop())
        return lambda number: compare(number, value)

    def _numbers(self) -> frozenset[int]:
        """Read a set of numbers in braces."""
        words: list[str] = []
        while (word := self._left.pop()) != "}":
            words.append(word)
        return frozenset(int(word) for word in words if word.isdecimal())

    def _skip(self, word: str) -> bool:
        return self._left[-1:] == [word] and bool(self._left.pop())


def _stateless(holds: Callable[[Key], bool]) -> Machine:
    return Machine((0,), lambda state, key: [(holds(key), state)], lambda _: True)


def _joined(parts: Sequence[Machine], join: Callable[[Iterator[bool]], bool]) -> Machine:
    if len(parts) == 1:
        return parts[0]

    def step(states: State, key: Key) -> list[tuple[bool, State]]:
        options = [part.step(state, key) for part, state in zip(parts, states, strict=True)]
        return [(join(a for a, _ in chosen), tuple(b for _, b in chosen)) for chosen in product(*options)]

    def ends(states: State) -> bool:
        return all(part.ends(state) for part, state in zip(parts, states, strict=True))

    return Machine(tuple(product(*(part.starts for part in parts))), step, ends)


def _first(part: Machine) -> Machine:
    def step(state: State, key: Key) -> list[tuple[bool, State]]:
        inner, found = state
        return [(holds and not found, (after, found or holds)) for holds, after in part.step(inner, key)]

    return Machine(tuple((start, False) for start in part.starts), step, lambda state: part.ends(state[0]))


def _last(part: Machine, *, may_be_query: bool) -> Machine:
    """Return the machine that guesses at each key where `part` holds whether it is the last such."""

    def step(state: State, key: Key) -> list[tuple[bool, State]]:
        inner, phase = state
        found: list[tuple[bool, State]] = []
        for holds, after in part.step(inner, key):
            if not holds or (key.is_last and not may_be_query):
                found.append((False, (after, phase)))
            elif phase != "picked":
                found += [(True, (after, "picked")), (False, (after, "owed"))]
        return found

    def ends(state: State) -> bool:
        return state[1] != "owed" and part.ends(state[0])

    return Machine(tuple((start, "none") for start in part.starts), step, ends)
