"""The finite dataset that an explanation is fitted to: a declared part of the bounded domain."""

from enum import StrEnum
from typing import assert_never

from circuitproof.errors import InputError
from circuitproof.lab.surrogate.words import Word, Words
from circuitproof.text.reading import Fields


class _Kind(StrEnum):
    SHORT = "short"
    """Every word up to a length."""
    AT_MOST_ONE = "at most one"
    """Every word in which the named tokens together occur at most once."""
    LISTED = "listed"
    """The words that are listed."""


def read_data(fields: Fields, words: Words) -> tuple[Word, ...]:
    """Read which words of a domain are the data; none at all are refused."""
    match fields.choice("kind", _Kind):
        case _Kind.SHORT:
            longest = fields.integer("longest", least=1)
            data = [word for word in words if len(word) <= longest]
        case _Kind.AT_MOST_ONE:
            named = frozenset(_tokens(fields.texts("tokens"), words, fields.path("tokens")))
            data = [word for word in words if sum(token in named for token in word) <= 1]
        case _Kind.LISTED:
            data = [_listed(text, words, fields.path("words")) for text in fields.texts("words")]
        case _ as kind:
            assert_never(kind)
    if not data:
        raise InputError(f"{fields.where} leaves no data to fit an explanation to")
    return tuple(dict.fromkeys(data))


def _listed(text: str, words: Words, where: str) -> Word:
    word = _tokens(text.split(), words, where)
    if word not in words:
        raise InputError(
            f"{where}: {text!r} has {len(word)} tokens, want {words.shortest} to {words.longest}"
        )
    return word


def _tokens(names: tuple[str, ...] | list[str], words: Words, where: str) -> Word:
    for name in names:
        if name not in words.tokens.names:
            raise InputError(f"{where}: {name!r} is not one of the tokens {list(words.tokens.names)}")
    return words.tokens.tokens(names)
