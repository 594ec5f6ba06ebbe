"""Patterns: sets of prompts written down by what they have in common, however many they are."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from circuitproof.errors import DeclarationError
from circuitproof.files.canonical import Json
from circuitproof.files.reading import Fields, reading, reading_part


@dataclass(frozen=True, slots=True)
class TokenClass:
    """A class of tokens: the listed ones, or every token of the vocabulary but those."""

    listed: tuple[int, ...]
    is_complement: bool = False

    def __post_init__(self) -> None:
        if not self.listed and not self.is_complement:
            raise DeclarationError("a class of no tokens, want at least one")
        if any(one >= other for one, other in pairwise(self.listed)) or min(self.listed, default=0) < 0:
            raise DeclarationError(f"tokens {self.listed}, want increasing numbers from 0, each once")

    def __contains__(self, token: int) -> bool:
        return (token in self.listed) != self.is_complement


ANY = TokenClass((), is_complement=True)


@dataclass(frozen=True, slots=True)
class Sequence:
    """One part after the other; at least two, none of which is again a sequence."""

    parts: "tuple[Shape, ...]"

    def __post_init__(self) -> None:
        if len(self.parts) <= 1 or any(isinstance(part, Sequence) for part in self.parts):
            raise DeclarationError("a sequence wants two or more parts, none of them a sequence")


@dataclass(frozen=True, slots=True)
class Alternation:
    """Any of some parts; at least two, none of which is again a choice."""

    parts: "tuple[Shape, ...]"

    def __post_init__(self) -> None:
        if len(self.parts) <= 1 or any(isinstance(part, Alternation) for part in self.parts):
            raise DeclarationError("a choice wants two or more parts, none of them a choice")


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part from `least` to `most` times, or any number of times from `least`."""

    part: "Shape"
    least: int
    most: int | None

    def __post_init__(self) -> None:
        if self.least < 0 or (self.most is not None and (self.most < self.least or not self.most)):
            raise DeclarationError(
                f"repeated {self.least} to {self.most} times, want a most of at least 1 and the least"
            )


Shape: TypeAlias = TokenClass | Sequence | Alternation | Repeat


@dataclass(frozen=True, slots=True)
class CountClause:
    """How many tokens of a class the whole prompt holds."""

    of: TokenClass
    least: int
    most: int | None

    def __post_init__(self) -> None:
        if self.least < 0 or (self.most is not None and self.most < self.least):
            raise DeclarationError(
                f"counted {self.least} to {self.most} times, want a most that is no less than the least"
            )


@dataclass(frozen=True, slots=True)
class Only:
    """Tokens of a class stand nowhere but at the positions `first` to `last`, counted from 0."""

    of: TokenClass
    first: int
    last: int

    def __post_init__(self) -> None:
        if not 0 <= self.first <= self.last:
            raise DeclarationError(f"positions {self.first} to {self.last}, want a range from 0 upwards")


Clause: TypeAlias = CountClause | Only


@dataclass(frozen=True, slots=True)
class Pattern:
    """The prompts of a shape, of at most `longest` tokens, that meet every clause."""

    shape: Shape
    clauses: tuple[Clause, ...]
    longest: int

    def __post_init__(self) -> None:
        if self.longest < 1:
            raise DeclarationError(f"prompts of up to {self.longest} tokens, want at least 1")
        most = longest_of(self.shape)
        if most is not None and self.longest > most:
            raise DeclarationError(f"up to {self.longest} tokens, but the shape has at most {most}")

    def classes(self) -> Iterator[TokenClass]:
        """Return the classes that shape and clauses speak of."""
        yield from _classes(self.shape)
        yield from (clause.of for clause in self.clauses)

    def tokens(self) -> frozenset[int]:
        """Return every token that is listed somewhere."""
        return frozenset(token for one in self.classes() for token in one.listed)

    def to_json(self) -> dict[str, Json]:
        clauses: list[Json] = [_clause_to_json(clause) for clause in self.clauses]
        return {"shape": _shape_to_json(self.shape), "clauses": clauses, "longest": self.longest}


def joined(kind: type[Sequence] | type[Alternation], parts: Iterable[Shape]) -> Shape:
    """Return a sequence, or a choice, of some parts, of which those of the same kind are taken apart."""
    flat = tuple(one for part in parts for one in (part.parts if isinstance(part, kind) else (part,)))
    return flat[0] if len(flat) == 1 else kind(flat)


def longest_of(shape: Shape) -> int | None:
    """Return how many tokens a shape has at most; nothing if there is no bound."""
    match shape:
        case TokenClass():
            return 1
        case Sequence(parts):
            sizes = [longest_of(part) for part in parts]
            return None if None in sizes else sum(size or 0 for size in sizes)
        case Alternation(parts):
            sizes = [longest_of(part) for part in parts]
            return None if None in sizes else max(size or 0 for size in sizes)
        case Repeat(part, _, most):
            size = longest_of(part)
            return None if most is None or size is None else most * size


def _classes(shape: Shape) -> Iterator[TokenClass]:
    match shape:
        case TokenClass():
            yield shape
        case Sequence(parts) | Alternation(parts):
            for part in parts:
                yield from _classes(part)
        case Repeat(part):
            yield from _classes(part)


def atoms_of(classes: Iterable[TokenClass], vocabulary: int) -> tuple[tuple[int, ...], ...]:
    """Return the vocabulary cut into the largest sets that no class cuts; those of listed tokens first."""
    distinct = tuple(dict.fromkeys(classes))
    listed = sorted({token for one in distinct for token in one.listed})
    if listed and listed[-1] >= vocabulary:
        raise DeclarationError(
            f"token {listed[-1]} is unknown; the vocabulary has tokens 0 to {vocabulary - 1}"
        )
    members = [frozenset(one.listed) for one in distinct]
    groups: dict[tuple[bool, ...], list[int]] = {}
    for token in listed:
        signature = tuple(token in one for one in members)
        groups.setdefault(signature, []).append(token)
    mentioned = frozenset(listed)
    rest = tuple(token for token in range(vocabulary) if token not in mentioned)
    return (*map(tuple, groups.values()), *((rest,) if rest else ()))


def tokens_to_json(tokens: TokenClass) -> Json:
    return {"all but" if tokens.is_complement else "tokens": list(tokens.listed)}


def read_tokens(fields: Fields) -> TokenClass:
    if fields.has("tokens"):
        return TokenClass(fields.integers("tokens"))
    return TokenClass(fields.integers("all but"), is_complement=True)


def read_pattern(domain: Fields) -> Pattern:
    with reading_part(domain, "pattern") as fields:
        shape = _read_shape(fields.value("shape"), fields.path("shape"))
        clauses = fields.each("clauses", _read_clause)
        return Pattern(shape, clauses, fields.integer("longest", least=1))


def _shape_to_json(shape: Shape) -> Json:
    match shape:
        case TokenClass():
            return tokens_to_json(shape)
        case Sequence(parts):
            return {"sequence": [_shape_to_json(part) for part in parts]}
        case Alternation(parts):
            return {"choice": [_shape_to_json(part) for part in parts]}
        case Repeat(part, least, most):
            return {"repeat": _shape_to_json(part), "least": least, "most": most}


def _read_shape(content: object, where: str) -> Shape:
    with reading(content, where) as fields:
        for name, make in (("sequence", Sequence), ("choice", Alternation)):
            if fields.has(name):
                return make(tuple(_read_shape(part, place) for part, place in fields.entries(name)))
        if fields.has("repeat"):
            part = _read_shape(fields.value("repeat"), fields.path("repeat"))
            return Repeat(part, fields.integer("least"), _read_most(fields))
        return read_tokens(fields)


def _clause_to_json(clause: Clause) -> Json:
    match clause:
        case CountClause(of, least, most):
            return {"of": tokens_to_json(of), "least": least, "most": most}
        case Only(of, first, last):
            return {"of": tokens_to_json(of), "first": first, "last": last}


def _read_clause(fields: Fields) -> Clause:
    with reading_part(fields, "of") as part:
        of = read_tokens(part)
    if fields.has("first"):
        return Only(of, fields.integer("first"), fields.integer("last"))
    return CountClause(of, fields.integer("least"), _read_most(fields))


def _read_most(fields: Fields) -> int | None:
    return None if fields.value("most") is None else fields.integer("most")
