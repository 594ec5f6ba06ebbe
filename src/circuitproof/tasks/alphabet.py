"""The tokens a task speaks: numbers from 0, each with a name that a person can read."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from string import ascii_letters, digits, punctuation

from circuitproof.errors import DeclarationError, InputError
from circuitproof.files.canonical import Json
from circuitproof.files.reading import Fields, reading_part
from circuitproof.tasks.names import TokenNames

_MOST_TOKENS = 1 << 21
_PLAIN = frozenset(ascii_letters + digits + punctuation)


@dataclass(frozen=True, slots=True)
class Alphabet:
    """An ordered table of distinct token names; a token is its index."""

    names: tuple[str, ...]
    encode: Callable[[str], tuple[int, ...]] | None = field(default=None, compare=False, repr=False)
    """The tokens of a text, where a model comes with its tokenizer."""

    def __post_init__(self) -> None:
        if not self.names:
            raise DeclarationError("alphabet: no tokens; name at least one")
        if len(set(self.names)) != len(self.names):
            repeated = next(name for name in self.names if self.names.count(name) > 1)
            raise DeclarationError(
                f"alphabet: the name {repeated!r} stands for two tokens; give each its own"
            )

    def __len__(self) -> int:
        return len(self.names)

    def token(self, name: str) -> int:
        if name not in self.names:
            raise DeclarationError(f"{name!r} is not a token of this alphabet of {len(self)} tokens")
        return self.names.index(name)

    def tokens(self, names: Iterable[str]) -> tuple[int, ...]:
        return tuple(self.token(name) for name in names)

    def text(self, prompt: Iterable[int]) -> str:
        return " ".join(self._name(token) for token in prompt)

    def named(self) -> TokenNames:
        return _named(self)

    def other_name(self, alphabet: "Alphabet") -> str | None:
        """Say how another alphabet calls a token otherwise, if it does."""
        if len(alphabet) != len(self):
            return f"the task has {len(self)} tokens, the model {len(alphabet)}"
        for token, (own, its) in enumerate(zip(self.names, alphabet.names, strict=True)):
            if own != its:
                return f"token {token} is {own!r} there, {its!r} in the model"
        return None

    def to_json(self) -> dict[str, Json]:
        return {"alphabet": list(self.names)}

    def _name(self, token: int) -> str:
        if not 0 <= token < len(self):
            raise DeclarationError(f"token {token} is unknown; the alphabet has tokens 0 to {len(self) - 1}")
        return self.names[token]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """So many tokens, some of which have a name for readers."""

    size: int
    names: tuple[tuple[int, str], ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.size <= _MOST_TOKENS:
            raise DeclarationError(f"vocabulary is {self.size}, want 1 to {_MOST_TOKENS}")
        tokens = [token for token, _ in self.names]
        if outside := [token for token in tokens if not 0 <= token < self.size]:
            raise DeclarationError(
                f"names: token {outside[0]} has a name, but the vocabulary has tokens 0 to {self.size - 1}"
            )
        if len(set(tokens)) != len(tokens):
            repeated = next(token for token in tokens if tokens.count(token) > 1)
            raise DeclarationError(f"names: token {repeated} has two names; give it one")
        names = [name for _, name in self.names]
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DeclarationError(f"names: {twice!r} stands for two tokens; give each its own")

    def __len__(self) -> int:
        return self.size

    def text(self, prompt: Iterable[int]) -> str:
        names = self.named()
        return " ".join(names.get(token, f"<{token}>") for token in prompt)

    def named(self) -> TokenNames:
        return _named(self)

    def other_name(self, alphabet: Alphabet) -> str | None:
        """Say how an alphabet calls one of the named tokens otherwise, if it does."""
        for token, name in self.names:
            own = alphabet.names[token] if token < len(alphabet) else None
            if own != name:
                found = "has no name" if own is None else f"is called {own!r}"
                return f"token {token}, {name!r} there, {found} in the model; mend [names]"
        return None

    def to_json(self) -> dict[str, Json]:
        return {"vocabulary": self.size, "names": {str(token): name for token, name in self.names}}


@cache
def _named(tokens: Alphabet | Vocabulary) -> TokenNames:
    """Return the names by token, once for each alphabet: what kind they are takes a look at all of them."""
    return TokenNames(dict(tokens.names if isinstance(tokens, Vocabulary) else enumerate(tokens.names)))


def read_vocabulary(fields: Fields) -> Vocabulary:
    """Read how many tokens there are and what some of them are called."""
    size = fields.integer("vocabulary", least=1)
    if not fields.has("names"):
        return Vocabulary(size)
    with reading_part(fields, "names") as part:
        keys = part.keys()
        if wrong := [key for key in keys if not key.isdecimal() or not key.isascii()]:
            raise InputError(f"{part.where} has a key {wrong[0]!r}, want a token's number")
        return Vocabulary(size, tuple(sorted((int(key), part.text(key)) for key in keys)))


def token_of(word: str, numbers: Mapping[str, int], size: int) -> int | None:
    """Return the token that a word means among `size`: by its name, or by its number, plain or as in <9>.

    >>> token_of("A", {"A": 5}, 9), token_of("7", {"A": 5}, 9), token_of("<9>", {"A": 5}, 9)
    (5, 7, None)
    """
    if word in numbers:
        return numbers[word]
    digits = word.removeprefix("<").removesuffix(">")
    is_token = (
        digits.isascii() and digits.isdecimal() and len(digits) <= len(str(size)) and int(digits) < size
    )
    return int(digits) if is_token else None


def sparse_alphabet(size: int, names: Mapping[int, str]) -> Alphabet:
    """Return an alphabet of `size` tokens of which only some have a name of their own.

    >>> sparse_alphabet(3, {1: "A"}).names
    ('<0>', 'A', '<2>')
    """
    if outside := [token for token in names if not 0 <= token < size]:
        raise DeclarationError(f"alphabet: token {outside[0]} is named but the alphabet has {size} tokens")
    return Alphabet(tuple(names.get(token, f"<{token}>") for token in range(size)))


BYTES = Alphabet(tuple(chr(byte) if chr(byte) in _PLAIN else f"<0x{byte:02X}>" for byte in range(256)))
"""The tokens of a text that is read byte by byte."""

TOY = sparse_alphabet(
    32,
    {
        0: "<PAD>",
        1: "<BOS>",
        2: "<TASK_QUOTE>",
        3: "<TASK_BRACKET>",
        5: "A",
        6: "B",
        7: "C",
        8: "D",
        9: "'",
        10: '"',
        11: "[",
        12: "{",
        13: "]",
        14: "}",
    },
)
"""The 32-token table of the toy model."""
