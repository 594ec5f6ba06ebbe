"""The single conditions of programs, and their words: comparisons of features and counts, and brackets."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, pairwise
from typing import TypeAlias, TypeVar

from circuitproof.errors import DeclarationError
from circuitproof.files.words import LexicalRules, Reader
from circuitproof.programs.features import Comparison, Feature, FeatureValue, WordKind, value_text

Member = TypeVar("Member", int, tuple[int, int])

_WHOLE = re.compile(r"[0-9]+")
NUMBER_DIGITS = 18
"""How many digits a token, position, distance or count may have."""


class PairEnd(StrEnum):
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
    value: FeatureValue

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

    def __str__(self) -> str:
        if self.feature.words is None and self.comparison is Comparison.EQUAL:
            return f"{self.feature}" if self.value else f"not {self.feature}"
        return f"{self.feature} {self.comparison} {value_text(self.value)}"

    def tokens(self) -> Iterable[int]:
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

    def __str__(self) -> str:
        return f"{{{', '.join(f'{opener}: {closer}' for opener, closer in self.pairs)}}}"

    @property
    def openers(self) -> frozenset[int]:
        return frozenset(opener for opener, _ in self.pairs)


@dataclass(frozen=True, slots=True)
class Bracketed:
    """Holds where the bracket at the key stands to the query as `link` says."""

    link: Link
    brackets: Brackets

    def __str__(self) -> str:
        return f"{self.link} {self.brackets}"

    def tokens(self) -> Iterable[int]:
        return chain(*self.brackets.pairs)


@dataclass(frozen=True, slots=True)
class Tally:
    """One comparison of a count with a value; the count goes up to `bound` and no further.

    With tokens `of`, it is how many of them stand from the start up to the place; with brackets, how many
    are open there. The token at the place counts.
    """

    at: PairEnd
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

    def __str__(self) -> str:
        counted = self.of if isinstance(self.of, Brackets) else value_text(self.of)
        return f"{self.name} {counted} up to {self.bound} {self.comparison} {value_text(self.value)}"

    @property
    def name(self) -> str:
        """Return what the count is called in the text of a program."""
        return f"{self.at}_depth" if isinstance(self.of, Brackets) else f"{self.at}_count"

    def numbers(self) -> tuple[int, ...]:
        return _numbers(self.value)

    def tokens(self) -> Iterable[int]:
        return chain(*self.of.pairs) if isinstance(self.of, Brackets) else self.of


Atom: TypeAlias = Condition | Tally | Bracketed
"""A condition that is not made of others; `AtomReader` reads its text back."""

MATCH = Condition(Feature.TOKEN_MATCH, Comparison.EQUAL, value=True)
"""Query and key hold the same token."""
MISMATCH = Condition(Feature.TOKEN_MATCH, Comparison.EQUAL, value=False)


_TALLIES = {f"{at}_{kind}": (at, kind) for at in PairEnd for kind in ("count", "depth")}
BEGINNINGS = (*Feature, *_TALLIES, *Link)
"""The words that a condition may begin with."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How many tokens and positions there are, where that is known: larger numbers are refused."""

    tokens: int | None = None
    positions: int | None = None


NO_LIMITS = Limits()


class AtomReader(Reader):
    """Reads single conditions from the words of a text."""

    def __init__(self, text: str, where: str, grammar: LexicalRules, limits: Limits) -> None:
        super().__init__(text, where, grammar)
        self._limits = limits

    def atom(self, wanted: str) -> Atom:
        """Read a condition; `wanted` says all that could begin here."""
        start = self.word
        word = self.one_of(BEGINNINGS, wanted)
        if word in tuple(Link):
            return self.build(start, lambda: Bracketed(Link(word), self._brackets()))
        if word in _TALLIES:
            return self.build(start, lambda: self._tally(*_TALLIES[word]))
        return self.build(start, lambda: self._comparison(Feature(word)))

    def _comparison(self, feature: Feature) -> Condition:
        if feature.words is None:
            return self._match()
        number = self._token if feature.words is WordKind.TOKEN else self._position
        return Condition(feature, *self._compared(number))

    def _match(self) -> Condition:
        for comparison in (Comparison.EQUAL, Comparison.UNEQUAL):
            if self.skip(comparison):
                value = self.one_of(("true", "false"), "one of true, false") == "true"
                return Condition(Feature.TOKEN_MATCH, comparison, value)
        return MATCH

    def _tally(self, at: PairEnd, kind: str) -> Tally:
        of = self._brackets() if kind == "depth" else self._set(self._token)
        self.expect("up", "'up to' and how far it is counted")
        self.expect("to")
        bound = self._whole()
        return Tally(at, of, bound, *self._compared(self._whole))

    def _compared(self, number: Callable[[], int]) -> tuple[Comparison, int | tuple[int, ...]]:
        comparison = self.choice(Comparison)
        return comparison, self._set(number) if comparison is Comparison.AMONG else number()

    def _brackets(self) -> Brackets:
        return Brackets(self._set(self._pair))

    def _pair(self) -> tuple[int, int]:
        opener = self._token()
        self.expect(":")
        return opener, self._token()

    def _set(self, read: Callable[[], Member]) -> tuple[Member, ...]:
        self.expect("{")
        members = self.separated(",", read)
        self.expect("}", "',' or '}'")
        return tuple(sorted(members))

    def _token(self) -> int:
        return self._below(self._limits.tokens, "token", "tokens")

    def _position(self) -> int:
        return self._below(self._limits.positions, "position or distance", "positions")

    def _below(self, limit: int | None, one: str, many: str) -> int:
        start = self.word
        number = self._whole()
        if limit is not None and number >= limit:
            raise self.refusal(start, f"found {one} {number}, but there are {limit} {many}, 0 to {limit - 1}")
        return number

    def _whole(self) -> int:
        start = self.word
        text = self.matching(_WHOLE, "a whole number from 0")
        if len(text) > NUMBER_DIGITS:
            raise self.refusal(start, f"found a number of {len(text)} digits, want at most {NUMBER_DIGITS}")
        return int(text)


def _numbers(value: int | tuple[int, ...]) -> tuple[int, ...]:
    return value if isinstance(value, tuple) else (value,)


def _check_value(comparison: Comparison, value: FeatureValue, where: str) -> None:
    if comparison is Comparison.AMONG:
        _check_members(value, where)
    else:
        _check_natural(value, where)


def _check_members(value: FeatureValue, where: str) -> None:
    if not isinstance(value, tuple) or not value:
        raise DeclarationError(f"{where}: value {value!r}, want a tuple of numbers, not empty")
    for number in value:
        _check_natural(number, where)
    if any(one >= other for one, other in pairwise(value)):
        raise DeclarationError(f"{where}: {value!r}, want increasing numbers, each once")


def _check_natural(value: FeatureValue, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise DeclarationError(f"{where}: value {value!r}, want a whole number from 0")
    if value >= 10**NUMBER_DIGITS:
        raise DeclarationError(f"{where}: a number of more than {NUMBER_DIGITS} digits, want a smaller one")
