"""Patterns of prompts, read from JSON and followed token by token.

What may come after some tokens is a set of continuations, sequences of parts still to be matched (derivatives
after Brzozowski, one per alternative). Tokens of which everything that is asked says the same are one atom.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from circuitproof_check.architecture import Architecture
from circuitproof_check.reading import fields, integer, integers, items, mapping, require
from circuitproof_check.work import NUMBER, STEP, key, paid, spend

Continuation = tuple["TokenClass | Either | Times", ...]
State = tuple[frozenset[Continuation], tuple[int, ...]]
"""The continuations, and how many tokens of each counted class there were."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenClass:
    """A class of tokens, or all but those of a class; `_tokens` makes the same one for the same."""

    listed: frozenset[int]
    is_complement: bool

    may_be_empty = False

    def __contains__(self, token: int) -> bool:
        return (token in self.listed) != self.is_complement


@dataclass(frozen=True, slots=True, eq=False)
class Either:
    """One of several sequences; told from others by identity, which costs nothing however large it is."""

    options: tuple[Continuation, ...]
    may_be_empty: bool


@dataclass(frozen=True, slots=True, eq=False)
class Times:
    """A sequence between so many times; None is any number. `_times` makes the same one for the same."""

    part: Continuation
    least: int
    most: int | None
    may_be_empty: bool


@dataclass(frozen=True, slots=True)
class Pattern:
    """A shape, counts (class, least, most), places (class, first, last), and the most tokens."""

    shape: Continuation
    counts: tuple[tuple[TokenClass, int, int | None], ...]
    places: tuple[tuple[TokenClass, int, int], ...]
    longest: int

    def start(self) -> State:
        return frozenset({self.shape}), (0,) * len(self.counts)

    def step(self, state: State, token: int, position: int) -> State | None:
        """Return the state after a token; None if no prompt goes on so."""
        spend(NUMBER * (1 + len(self.counts) + len(self.places)))
        if any(token in of and not first <= position <= last for of, first, last in self.places):
            return None
        left = frozenset(after for continuation in state[0] for after in _after(continuation, token))
        counts = tuple(n + (token in of) for n, (of, _, _) in zip(state[1], self.counts, strict=True))
        bounded = zip(counts, self.counts, strict=True)
        is_over = any(most is not None and n > most for n, (_, _, most) in bounded)
        capped = tuple(
            min(n, least) if most is None else n
            for n, (_, least, most) in zip(counts, self.counts, strict=True)
        )
        return None if is_over or not left else (left, capped)

    def ends(self, state: State) -> bool:
        """Say whether a prompt may end in a state."""
        spend(NUMBER * (1 + len(self.counts)))
        enough = all(n >= least for n, (_, least, _) in zip(state[1], self.counts, strict=True))
        return enough and any(_may_be_empty(continuation) for continuation in state[0])

    def classes(self) -> Iterator[TokenClass]:
        """Return every class of the pattern."""
        yield from _classes(self.shape)
        yield from (of for of, *_ in (*self.counts, *self.places))


def _after(parts: Continuation, token: int) -> Iterator[Continuation]:
    """Return what may be left of a sequence after a token."""
    spend(NUMBER * (2 + len(parts)))
    if not parts:
        return
    first, rest = parts[0], parts[1:]
    if isinstance(first, TokenClass):
        if token in first:
            yield rest
        return
    if isinstance(first, Either):
        for option in first.options:
            yield from _followed(_after(option, token), rest)
    else:
        most = None if first.most is None else first.most - 1
        again = () if most == 0 else (_times(first.part, max(first.least - 1, 0), most),)
        yield from _followed(_after(first.part, token), again + rest)
    if first.may_be_empty:
        yield from _after(rest, token)


def _followed(continuations: Iterator[Continuation], rest: Continuation) -> Iterator[Continuation]:
    for left in continuations:
        spend(NUMBER + len(left) + len(rest))
        yield left + rest


def _times(part: Continuation, least: int, most: int | None) -> Times:
    spend(NUMBER + len(part))
    return _made_times(part, least, most)


@lru_cache(maxsize=1 << 16)
def _made_times(part: Continuation, least: int, most: int | None) -> Times:
    return Times(part, least, most, least == 0 or _may_be_empty(part))


@lru_cache(maxsize=1 << 16)
def _tokens(_: bytes, listed: tuple[int, ...], *, is_complement: bool) -> TokenClass:
    return TokenClass(frozenset(listed), is_complement)


def _may_be_empty(parts: Continuation) -> bool:
    return all(part.may_be_empty for part in paid(parts))


def _classes(parts: Continuation) -> Iterator[TokenClass]:
    left = list(paid(parts, NUMBER))
    while left:
        part = left.pop()
        if isinstance(part, TokenClass):
            yield part
        else:
            inner = part.options if isinstance(part, Either) else (part.part,)
            left += [one for option in inner for one in paid(option, NUMBER)]


def divided(parts: Sequence[tuple[int, ...]], test: Callable[[int], bool]) -> list[tuple[int, ...]]:
    """Return parts of the vocabulary, each cut into the tokens of which a test holds and the others.

    Every member is asked: that a part is uniform is found, not believed.
    """
    spend(sum(STEP + 5 * len(part) for part in parts))
    halves = [
        tuple(token for token in part if test(token) == wanted) for part in parts for wanted in (True, False)
    ]
    return [half for half in halves if half]


def read_pattern(value: object, where: str, size: Architecture) -> Pattern:
    shape, clauses, longest = fields(value, where, "shape", "clauses", "longest")
    counts: list[tuple[TokenClass, int, int | None]] = []
    places: list[tuple[TokenClass, int, int]] = []
    for clause in items(clauses, where):
        if "first" in mapping(clause, where):
            of, first, last = fields(clause, where, "of", "first", "last")
            start = integer(first, where, 0)
            places.append((read_tokens(of, where, size), start, integer(last, where, start)))
        else:
            of, least, most = fields(clause, where, "of", "least", "most")
            highest = None if most is None else integer(most, where, 0)
            counts.append((read_tokens(of, where, size), integer(least, where, 0, highest), highest))
    most_tokens = integer(longest, f"{where}.longest", 1, size.context)
    pattern = Pattern(_read_shape(shape, where, size), tuple(counts), tuple(places), most_tokens)
    fits = most_tokens <= _longest(pattern.shape, most_tokens)
    require("shapes_have_prompts_as_long_as_the_longest", fits, where, most_tokens)
    return pattern


def _longest(parts: Continuation, most: int) -> int:
    """Return how many tokens a sequence may have, but no more than `most`."""
    spend(NUMBER * (1 + len(parts)))
    total = 0
    for part in parts:
        if isinstance(part, TokenClass):
            total += 1
        elif isinstance(part, Either):
            total += max(_longest(option, most) for option in part.options)
        else:
            total += most if part.most is None else part.most * _longest(part.part, most)
    return min(total, most)


def read_tokens(value: object, where: str, size: Architecture) -> TokenClass:
    name = "all but" if "all but" in mapping(value, where) else "tokens"
    listed = integers(fields(value, where, name)[0], where)
    are_known = all(0 <= token < size.vocabulary for token in listed)
    is_class = are_known and all(a < b for a, b in pairwise(listed)) and (listed or name == "all but")
    require("classes_list_tokens_in_order", is_class, where, listed, size.vocabulary)
    return _tokens(key(listed), listed, is_complement=name == "all but")


def _read_shape(value: object, where: str, size: Architecture) -> Continuation:
    """Read a shape; a prompt has no part more often than it has tokens, so large numbers are cut."""
    content = mapping(value, where)
    if "sequence" in content:
        parts = _read_parts(value, "sequence", where, size)
        return tuple(one for part in parts for one in part)
    if "choice" in content:
        read = tuple(_read_parts(value, "choice", where, size))
        return (Either(read, any(map(_may_be_empty, read))),)
    if "repeat" in content:
        part, least, most = fields(value, where, "repeat", "least", "most")
        highest, enough = None if most is None else integer(most, where, 1), size.context + 1
        lowest = min(integer(least, where, 0, highest), enough)
        inner = _read_shape(part, where, size)
        return (_times(inner, lowest, None if highest is None else min(highest, enough)),)
    return (read_tokens(value, where, size),)


def _read_parts(value: object, name: str, where: str, size: Architecture) -> list[Continuation]:
    parts = items(fields(value, where, name)[0], where)
    require("sequences_and_choices_have_several_parts", len(parts) > 1, where, name, len(parts))
    is_flat = not any(name in mapping(part, where) for part in parts)
    require("parts_are_of_another_kind_than_the_whole", is_flat, where, name)
    return [_read_shape(part, where, size) for part in parts]
