"""What a program template is: a fixed way to read a word, with holes for what is not yet decided."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from circuitproof.declare.tasks.alphabet import Alphabet
from circuitproof.lab.surrogate.words import Words

State: TypeAlias = Hashable
"""What a program remembers of the tokens read so far."""
Holes: TypeAlias = Mapping[str, tuple[str, ...]]
"""The holes of a template with the choices for each, simplest choice first."""


class OpenHoleError(Exception):
    """A run came to a hole that is not filled."""

    def __init__(self, hole: str) -> None:
        super().__init__(hole)
        self.hole = hole


class Fill(dict[str, str]):
    """Choices for holes. Reading a hole that is not filled stops the run with `OpenHoleError`."""

    def __missing__(self, hole: str) -> str:
        raise OpenHoleError(hole)


@dataclass(frozen=True, slots=True)
class Signature:
    """What every program of a family reads and answers: tokens in, answers out, words up to a length."""

    tokens: Alphabet
    answers: Alphabet
    longest: int


def signature_of(words: Words, answers: Alphabet) -> Signature:
    """Return the signature of programs that read the words of a domain."""
    return Signature(words.tokens, answers, words.longest)


class Template(Protocol):
    """A family of programs that differ only in how the holes are filled.

    A program starts in `start`, takes a `step` for each token, and gives the `answer` of the state it is
    in at the end. Both read the fill, and only where they need it: a run that never reads a hole says the
    same of every way to fill it.
    """

    @property
    def name(self) -> str:
        """Return what the template is called, in recipes and reports."""
        ...

    @property
    def start(self) -> State:
        """Return the state before the first token."""
        ...

    def holes(self, signature: Signature) -> Holes:
        """Return every hole and its choices."""
        ...

    def step(self, fill: Fill, state: State, token: str, /) -> State:
        """Return the state after a token."""
        ...

    def answer(self, fill: Fill, state: State, /) -> str:
        """Return the answer in a state."""
        ...

    def lines(self, fill: Fill, signature: Signature, /) -> tuple[str, ...]:
        """Return a filled template as a person reads it."""
        ...


def size(template: Template, signature: Signature) -> int:
    """Return how many holes a template has: how much a program of it says."""
    return len(template.holes(signature))


def effects(fill: Fill, signature: Signature, hole: str, idle: str) -> str:
    """Return what each token does, tokens of one effect together; those without effect are left out.

    `hole` is the name of a token's hole with `{}` for the token.
    """
    groups: dict[str, list[str]] = {}
    for token in signature.tokens.names:
        if (effect := fill[hole.format(token)]) != idle:
            groups.setdefault(effect, []).append(token)
    parts = [f"on {' or '.join(tokens)}: {effect}" for effect, tokens in groups.items()]
    return "; ".join(parts) or "no token has an effect"
