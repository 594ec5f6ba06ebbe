"""Program templates: ways to read a word, with holes to fill; a filled one is a program, and an automaton."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from circuitproof.errors import DeclarationError
from circuitproof.files.canonical import Json
from circuitproof.tasks.alphabet import Alphabet
from circuitproof_lab.surrogate.words import Word, Words

MachineState: TypeAlias = Hashable
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
    """What every program of a family reads and answers."""

    words: Words
    answers: Alphabet

    @property
    def tokens(self) -> tuple[str, ...]:
        return self.words.tokens.names


class ProgramTemplate(Protocol):
    """A family of programs that differ only in how the holes are filled.

    A program starts in `start`, takes a `step` for each token, and gives the `answer` of the state it is
    in at the end. Both read the fill, and only where they need it: a run that never reads a hole says the
    same of every way to fill it. `lines` are what a person reads of a filled template.
    """

    @property
    def name(self) -> str: ...
    @property
    def start(self) -> MachineState: ...
    def holes(self, signature: Signature) -> Holes: ...
    def step(self, fill: Fill, state: MachineState, token: str, /) -> MachineState: ...
    def answer(self, fill: Fill, state: MachineState, /) -> str: ...
    def lines(self, fill: Fill, signature: Signature, /) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class MooreMachine:
    """A Moore machine that starts in state 0; what a program means on words up to a length.

    States that only words of the full length reach take no further step; they lead back to themselves.
    """

    steps: tuple[tuple[int, ...], ...]
    """The next state for each state and token."""
    answers: tuple[int, ...]
    """The answer of each state."""

    def answer(self, word: Word) -> int:
        state = 0
        for token in word:
            state = self.steps[state][token]
        return self.answers[state]

    def row(self, words: Words) -> npt.NDArray[np.uint8]:
        """Return the answer to every word, in the order of the domain."""
        words.refuse_unlistable()
        steps = np.array(self.steps, dtype=np.int64)
        answers = np.array(self.answers, dtype=np.uint8)
        states: npt.NDArray[Any] = np.zeros(1, dtype=np.int64)
        rows: list[npt.NDArray[np.uint8]] = []
        for length in range(1, words.longest + 1):
            states = steps[states].reshape(-1)
            if length >= words.shortest:
                rows.append(answers[states])
        return np.concatenate(rows)


@dataclass(frozen=True)
class FilledTemplate:
    """A program: a template over a signature with every hole filled."""

    template: ProgramTemplate
    signature: Signature
    choices: Mapping[str, str]

    def __post_init__(self) -> None:
        name, holes = self.template.name, self.template.holes(self.signature)
        for hole, allowed in holes.items():
            if (found := self.choices.get(hole)) not in allowed:
                raise DeclarationError(f"program {name}: {hole!r} is {found!r}, want one of {allowed}")
        if unknown := sorted(self.choices.keys() - holes.keys()):
            raise DeclarationError(f"program {name}: {unknown[0]!r} is not one of its holes")

    @property
    def lines(self) -> tuple[str, ...]:
        return self.template.lines(Fill(self.choices), self.signature)

    @cached_property
    def automaton(self) -> MooreMachine:
        """What the program means on words up to the signature's length."""
        return explore(self.template, Fill(self.choices), self.signature)

    def to_json(self) -> Json:
        return {"template": self.template.name, "choices": dict(self.choices)}


def run(template: ProgramTemplate, fill: Fill, signature: Signature, word: Word) -> int:
    """Return the answer to a word, or raise `OpenHoleError` where it depends on a hole not filled."""
    state = template.start
    for token in word:
        state = template.step(fill, state, signature.tokens[token])
    return signature.answers.token(template.answer(fill, state))


def explore(template: ProgramTemplate, fill: Fill, signature: Signature) -> MooreMachine:
    """Return the automaton of the states that words up to the signature's length reach."""
    places: dict[MachineState, int] = {template.start: 0}
    steps: list[tuple[int, ...]] = []
    front: list[MachineState] = [template.start]
    for _ in range(signature.words.longest):
        seen = len(places)
        for state in front:
            after = (template.step(fill, state, token) for token in signature.tokens)
            steps.append(tuple(places.setdefault(one, len(places)) for one in after))
        front = list(places)[seen:]
    steps += [(len(steps) + extra,) * len(signature.tokens) for extra in range(len(front))]
    answers = (signature.answers.token(template.answer(fill, state)) for state in places)
    return MooreMachine(tuple(steps), tuple(answers))


def effects(fill: Fill, signature: Signature, hole: str, idle: str) -> str:
    """Return what each token does, tokens of one effect together; those without effect are left out.

    `hole` is the name of a token's hole with `{}` for the token.
    """
    groups: dict[str, list[str]] = {}
    for token in signature.tokens:
        if (effect := fill[hole.format(token)]) != idle:
            groups.setdefault(effect, []).append(token)
    parts = [f"on {' or '.join(tokens)}: {effect}" for effect, tokens in groups.items()]
    return "; ".join(parts) or "no token has an effect"
