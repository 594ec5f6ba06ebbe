"""The tokens a task speaks: numbers from 0, each with a name that a person can read."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from circuitproof.errors import DeclarationError


@dataclass(frozen=True, slots=True)
class Alphabet:
    """An ordered table of distinct token names; a token is its index."""

    names: tuple[str, ...]

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
        """Return the token that `name` stands for."""
        if name not in self.names:
            raise DeclarationError(f"{name!r} is not a token of this alphabet of {len(self)} tokens")
        return self.names.index(name)

    def tokens(self, names: Iterable[str]) -> tuple[int, ...]:
        """Return the tokens that several names stand for."""
        return tuple(self.token(name) for name in names)

    def text(self, prompt: Iterable[int]) -> str:
        """Return a prompt as a person reads it."""
        return " ".join(self._name(token) for token in prompt)

    def _name(self, token: int) -> str:
        if not 0 <= token < len(self):
            raise DeclarationError(f"token {token} is unknown; the alphabet has tokens 0 to {len(self) - 1}")
        return self.names[token]


def sparse_alphabet(size: int, names: Mapping[int, str]) -> Alphabet:
    """Return an alphabet of `size` tokens of which only some have a name of their own.

    >>> sparse_alphabet(3, {1: "A"}).names
    ('<0>', 'A', '<2>')
    """
    if outside := [token for token in names if not 0 <= token < size]:
        raise DeclarationError(f"alphabet: token {outside[0]} is named but the alphabet has {size} tokens")
    return Alphabet(tuple(names.get(token, f"<{token}>") for token in range(size)))


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
