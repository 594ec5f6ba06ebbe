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
            named = frozenset(words.named(fields.texts("tokens"), fields.path("tokens")))
            data = [word for word in words if sum(token in named for token in word) <= 1]
        case _Kind.LISTED:
            where = fields.path("words")
            data = [words.listed(text.split(), f"{where}: {text!r}") for text in fields.texts("words")]
        case _ as kind:
            assert_never(kind)
    if not data:
        raise InputError(f"{fields.where} leaves no data to fit an explanation to")
    return tuple(dict.fromkeys(data))
