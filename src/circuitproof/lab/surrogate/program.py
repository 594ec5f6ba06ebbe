"""A program: a template with every hole filled, and its exact meaning as an automaton."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from circuitproof.errors import InputError
from circuitproof.lab.surrogate.machines import find_template
from circuitproof.lab.surrogate.template import Fill, Signature, State, Template, size
from circuitproof.lab.surrogate.words import Word, Words
from circuitproof.text.canonical import Json
from circuitproof.text.codec import Codec
from circuitproof.text.reading import Fields


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
    """A filled template over a signature."""

    template: Template
    signature: Signature
    choices: Mapping[str, str]

    def __post_init__(self) -> None:
        holes = self.template.holes(self.signature)
        for hole, allowed in holes.items():
            if (found := self.choices.get(hole)) not in allowed:
                raise InputError(
                    f"program {self.template.name}: {hole!r} is {found!r}, want one of {allowed}"
                )
        if unknown := sorted(self.choices.keys() - holes.keys()):
            raise InputError(f"program {self.template.name}: {unknown[0]!r} is not one of its holes")

    @property
    def size(self) -> int:
        """Return how many choices the program makes."""
        return size(self.template, self.signature)

    @property
    def lines(self) -> tuple[str, ...]:
        return self.template.lines(Fill(self.choices), self.signature)

    @cached_property
    def automaton(self) -> MooreMachine:
        """Return what the program means on words up to the signature's length."""
        return explore(self.template, Fill(self.choices), self.signature)

    def to_json(self) -> Json:
        return {"template": self.template.name, "choices": dict(self.choices)}


def read_program(fields: Fields, signature: Signature) -> FilledTemplate:
    template = find_template(fields.text("template"), fields.path("template"))
    choices = Codec().value(Mapping[str, str], fields, "choices")
    try:
        return FilledTemplate(template, signature, choices)
    except InputError as error:
        raise InputError(f"{fields.where}: {error}") from error


def run(template: Template, fill: Fill, signature: Signature, word: Word) -> int:
    """Return the answer to a word, or raise `OpenHoleError` where it depends on a hole not filled."""
    state = template.start
    for token in word:
        state = template.step(fill, state, signature.tokens.names[token])
    return signature.answers.token(template.answer(fill, state))


def explore(template: Template, fill: Fill, signature: Signature) -> MooreMachine:
    """Return the automaton of the states that words up to the signature's length reach."""
    places: dict[State, int] = {template.start: 0}
    steps: list[tuple[int, ...]] = []
    front: list[State] = [template.start]
    for _ in range(signature.longest):
        seen = len(places)
        for state in front:
            after = (template.step(fill, state, token) for token in signature.tokens.names)
            steps.append(tuple(places.setdefault(one, len(places)) for one in after))
        front = list(places)[seen:]
    steps += [(len(steps) + extra,) * len(signature.tokens) for extra in range(len(front))]
    answers = (signature.answers.token(template.answer(fill, state)) for state in places)
    return MooreMachine(tuple(steps), tuple(answers))
