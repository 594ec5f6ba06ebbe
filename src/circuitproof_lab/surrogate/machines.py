"""Templates that remember a token, and small state machines; and the ladder of all templates by size."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from circuitproof.errors import InputError
from circuitproof.files.codec import Codec
from circuitproof.files.reading import Fields
from circuitproof_lab.surrogate.registers import Constant, Counter, Predicate, Toggle, Toggles, When
from circuitproof_lab.surrogate.template import (
    Fill,
    FilledTemplate,
    Holes,
    MachineState,
    ProgramTemplate,
    Signature,
    effects,
)

_IGNORE, _HOLD = "ignore", "hold"
_KEEP, _FORGET, _REPLACE = "keep", "forget", "replace"
_SAME, _OTHER = "holding, on the same", "holding, on another"


@dataclass(frozen=True, slots=True)
class Latest:
    """The latest of the watched tokens decides."""

    name: str = "latest"
    start: MachineState = None

    def holes(self, signature: Signature) -> Holes:
        tokens = {f"on {token}": (_IGNORE, _HOLD) for token in signature.tokens}
        held = {f"holding {token}": signature.answers.names for token in signature.tokens}
        return tokens | {"empty": signature.answers.names} | held

    def step(self, fill: Fill, state: MachineState, token: str) -> MachineState:
        return token if fill[f"on {token}"] == _HOLD else state

    def answer(self, fill: Fill, state: MachineState) -> str:
        return fill["empty" if state is None else f"holding {state}"]

    def lines(self, fill: Fill, signature: Signature) -> tuple[str, ...]:
        return (
            f"memory, empty at first; {effects(fill, signature, 'on {}', _IGNORE)}",
            *_held_answers(fill, signature),
        )


@dataclass(frozen=True, slots=True)
class TokenMemory(Latest):
    """A memory of one token with guarded updates: what a token does depends on what is held."""

    name: str = "memory"

    def holes(self, signature: Signature) -> Holes:
        guards = {_SAME: (_KEEP, _FORGET), _OTHER: (_KEEP, _REPLACE, _FORGET)}
        return {**Latest.holes(self, signature), **guards}

    def step(self, fill: Fill, state: MachineState, token: str) -> MachineState:
        if fill[f"on {token}"] == _IGNORE:
            return state
        if state is None:
            return token
        after = {_KEEP: state, _FORGET: None, _REPLACE: token}
        return after[fill[_SAME if token == state else _OTHER]]

    def lines(self, fill: Fill, signature: Signature) -> tuple[str, ...]:
        return (
            f"memory, empty at first; while empty, {effects(fill, signature, 'on {}', _IGNORE)}",
            f"while holding, on the same token: {fill[_SAME]}; on another of them: {fill[_OTHER]}",
            *_held_answers(fill, signature),
        )


@dataclass(frozen=True, slots=True)
class StateMachine:
    """Any machine of so many states."""

    states: int
    start: MachineState = "0"

    @property
    def name(self) -> str:
        return f"machine {self.states}"

    def holes(self, signature: Signature) -> Holes:
        names = tuple(map(str, range(self.states)))
        moves = {f"{name} on {token}": names for name in names for token in signature.tokens}
        return moves | {f"answer {name}": signature.answers.names for name in names}

    def step(self, fill: Fill, state: MachineState, token: str) -> MachineState:
        return fill[f"{state} on {token}"]

    def answer(self, fill: Fill, state: MachineState) -> str:
        return fill[f"answer {state}"]

    def lines(self, fill: Fill, signature: Signature) -> tuple[str, ...]:
        return tuple(
            f"state {name}: answer {fill[f'answer {name}']}; "
            + "; ".join(f"on {token}: to {fill[f'{name} on {token}']}" for token in signature.tokens)
            for name in map(str, range(self.states))
        )


TEMPLATES: tuple[ProgramTemplate, ...] = (
    Constant(),
    *map(Predicate, When),
    Toggle(),
    Counter(1),
    Counter(2),
    Latest(),
    StateMachine(2),
    TokenMemory(),
    Toggles(),
    StateMachine(3),
)
"""The family that is searched when nobody says otherwise."""

_OTHERS = (*map(Counter, range(1, 10)), *map(StateMachine, range(2, 10)))
"""Sizes of which only some are in the family; a recipe can name any."""
_NAMED: Mapping[str, ProgramTemplate] = {template.name: template for template in (*TEMPLATES, *_OTHERS)}


def find_template(name: str, where: str) -> ProgramTemplate:
    if name not in _NAMED:
        known = ", ".join(template.name for template in TEMPLATES)
        raise InputError(
            f"{where}: there is no template {name!r}; known: {known}, and other counters and machines"
        )
    return _NAMED[name]


def read_program(fields: Fields, signature: Signature) -> FilledTemplate:
    template = find_template(fields.text("template"), fields.path("template"))
    return FilledTemplate(template, signature, Codec().value(Mapping[str, str], fields, "choices"))


def ladder(templates: Sequence[ProgramTemplate], signature: Signature) -> tuple[ProgramTemplate, ...]:
    """Return the templates that fit a signature, those of fewest holes first, then in the order given.

    A counter with more thresholds than a word has tokens has no programs, and is left out.
    """
    usable = [template for template in templates if all(template.holes(signature).values())]
    return tuple(sorted(usable, key=lambda template: len(template.holes(signature))))


def _held_answers(fill: Fill, signature: Signature) -> tuple[str, ...]:
    watched = [token for token in signature.tokens if fill[f"on {token}"] == _HOLD]
    held = (f"answer {fill[f'holding {token}']} when holding {token}" for token in watched)
    return (f"answer {fill['empty']} when empty", *held)
