"""The bounded abstract domain: every word over a few tokens, of every length between two bounds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from typing import TypeAlias, assert_never

from circuitproof.errors import DeclarationError, InputError
from circuitproof.files.canonical import Json
from circuitproof.files.reading import Fields
from circuitproof.tasks.alphabet import Alphabet

Word: TypeAlias = tuple[int, ...]

MOST_LISTED = 200_000
"""The most words that are listed one by one; a larger domain is asked about symbolically only."""


@dataclass(frozen=True, slots=True)
class Words:
    """All words over `tokens` of `shortest` to `longest` tokens, shorter ones first, then in token order."""

    tokens: Alphabet
    shortest: int
    longest: int

    def __post_init__(self) -> None:
        if not 1 <= self.shortest <= self.longest:
            raise DeclarationError(
                f"words: lengths from {self.shortest} to {self.longest} leave an empty domain, about which "
                f"nothing can be proved; want 1 <= shortest <= longest"
            )

    def __len__(self) -> int:
        return sum(len(self.tokens) ** length for length in range(self.shortest, self.longest + 1))

    def __iter__(self) -> Iterator[Word]:
        self.refuse_unlistable()
        for length in range(self.shortest, self.longest + 1):
            yield from product(range(len(self.tokens)), repeat=length)

    def __contains__(self, word: Word) -> bool:
        is_known = all(0 <= token < len(self.tokens) for token in word)
        return is_known and self.shortest <= len(word) <= self.longest

    @property
    def is_listable(self) -> bool:
        return len(self) <= MOST_LISTED

    def refuse_unlistable(self) -> None:
        if not self.is_listable:
            raise InputError(
                f"the domain has {len(self)} words, at most {MOST_LISTED} can be listed; "
                f"lower the longest length"
            )

    def place(self, word: Word) -> int:
        """Return the index of a word in the order of the domain.

        >>> Words(Alphabet(("a", "b")), 1, 2).place((1, 0))
        4
        """
        if word not in self:
            raise DeclarationError(f"word {word} is not in the domain")
        base = len(self.tokens)
        number = 0
        for token in word:
            number = number * base + token
        return number + sum(base**length for length in range(self.shortest, len(word)))

    def word(self, place: int) -> Word:
        base, length = len(self.tokens), self.shortest
        while place >= base**length:
            place -= base**length
            length += 1
        return tuple(place // base**power % base for power in reversed(range(length)))

    def named(self, names: Sequence[str], where: str) -> Word:
        """Return the tokens that a file names at a place."""
        for name in names:
            if name not in self.tokens.names:
                raise InputError(f"{where}: {name!r} is not one of the tokens {list(self.tokens.names)}")
        return self.tokens.tokens(names)

    def listed(self, names: Sequence[str], where: str) -> Word:
        """Return the word of the domain that a file names at a place."""
        word = self.named(names, where)
        if word not in self:
            raise InputError(f"{where} has {len(word)} tokens, want {self.shortest} to {self.longest}")
        return word

    def to_json(self) -> dict[str, Json]:
        return {"tokens": list(self.tokens.names), "shortest": self.shortest, "longest": self.longest}


def read_words(fields: Fields) -> Words:
    tokens = Alphabet(fields.texts("tokens"))
    return Words(tokens, fields.integer("shortest", least=1), fields.integer("longest", least=1))


class _WordData(StrEnum):
    SHORT = "short"
    """Every word up to a length."""
    AT_MOST_ONE = "at most one"
    """Every word in which the named tokens together occur at most once."""
    LISTED = "listed"
    """The words that are listed."""


def read_data(fields: Fields, words: Words) -> tuple[Word, ...]:
    """Read which words of a domain are the data that an explanation is fitted to; none at all are refused."""
    match fields.choice("kind", _WordData):
        case _WordData.SHORT:
            longest = fields.integer("longest", least=1)
            data = [word for word in words if len(word) <= longest]
        case _WordData.AT_MOST_ONE:
            named = frozenset(words.named(fields.texts("tokens"), fields.path("tokens")))
            data = [word for word in words if sum(token in named for token in word) <= 1]
        case _WordData.LISTED:
            where = fields.path("words")
            data = [words.listed(text.split(), f"{where}: {text!r}") for text in fields.texts("words")]
        case _ as kind:
            assert_never(kind)
    if not data:
        raise InputError(f"{fields.where} leaves no data to fit an explanation to")
    return tuple(dict.fromkeys(data))
