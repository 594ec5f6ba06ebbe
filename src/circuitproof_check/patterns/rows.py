"""The weights of a program's row, key by key, while a prompt is read from its start.

A condition is a machine with states. What it says of a key may depend on keys before it, which the state
remembers, and on keys behind it, which are guessed: of all guesses one survives to the end of the prompt.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from circuitproof_check.programs import (
    TOKENS,
    Compare,
    Count,
    Formula,
    Joined,
    Linked,
    Match,
    Not,
    Program,
    Scan,
)
from circuitproof_check.work import NUMBER, OBJECT, STEP, paid, spend

RowState = Any
"""Numbers in nested tuples."""
TokenTest = Callable[[int], bool]


class UnsettledError(Exception):
    """Something is not determined in a region; the sentence says what."""


@dataclass(frozen=True, slots=True)
class KeyToken:
    """A token as it is read; `atom` is the place of its atom. The last one is the query."""

    atom: int
    token: int
    position: int
    is_last: bool


@dataclass(frozen=True, slots=True)
class QueryFacts:
    """What a region tells of the query: the length of the prompt, and atoms and tokens that it may hold."""

    length: int | None
    atoms: frozenset[int]
    tokens: tuple[int, ...]
    """A token of each atom."""
    is_single: bool
    longest: int
    """No prompt has more tokens."""

    def position(self, key: KeyToken) -> int:
        """Return the position of the query."""
        if key.is_last:
            return key.position
        if self.length is None:
            raise UnsettledError("a row depends on the length")
        return self.length - 1

    def same(self, answers: frozenset[bool]) -> bool:
        """Return the answer for every possible last token."""
        if not answers:
            raise UnsettledError("there are no prompts")
        if len(answers) > 1:
            raise UnsettledError("a row depends on the last token")
        return True in answers


@dataclass(frozen=True, slots=True)
class ConditionMachine:
    """From a state and a key, for each guess: whether the condition holds, and the next state."""

    starts: tuple[RowState, ...]
    step: Callable[[RowState, KeyToken], list[tuple[bool, RowState]]]
    ends: Callable[[RowState], bool]


@dataclass(frozen=True, slots=True)
class ProgramRow:
    """A program's row: the rules' weights and conditions."""

    default: Fraction
    weights: tuple[Fraction, ...]
    machines: tuple[ConditionMachine, ...]
    is_self: bool
    """Whether a row without weight attends to the query."""
    cost: int

    def starts(self) -> Iterator[RowState]:
        """Return the states before the first key."""
        return every_choice([machine.starts for machine in self.machines])

    def step(self, states: RowState, key: KeyToken) -> Iterator[tuple[Fraction, RowState]]:
        """Return the weight of a key and the next state, for each guess."""
        spend(STEP * len(self.machines))
        options = [machine.step(state, key) for machine, state in zip(self.machines, states, strict=True)]
        for chosen in every_choice(options):
            spend(len(chosen) * self.cost)
            held = zip(self.weights, chosen, strict=True)
            weight = sum((weight for weight, (holds, _) in held if holds), self.default)
            yield weight, tuple(after for _, after in chosen)

    def ends(self, states: RowState) -> bool:
        """Say whether every guess was right."""
        spend(NUMBER * len(self.machines))
        return all(machine.ends(state) for machine, state in zip(self.machines, states, strict=True))


def every_choice(options: Sequence[Sequence[RowState]]) -> Iterator[tuple[RowState, ...]]:
    """Return every way to choose one of each of some options."""
    spend(NUMBER * (1 + len(options)) * prod(map(len, options)))
    return product(*options)


def make_row(program: Program, query: QueryFacts) -> ProgramRow:
    """Return the row of a program."""
    weights = tuple(weight for weight, _ in paid(program.rules, OBJECT))
    machines = tuple(_always() if one is None else _machine(one, query) for _, one in program.rules)
    return ProgramRow(program.default, weights, machines, program.is_self, program.cost)


def is_local(program: Program) -> bool:
    """Say whether conditions look at one key and the query, and not at whether their tokens are the same."""
    return not any(isinstance(one, Match | Count | Linked | Scan) for one in program.conditions())


def token_tests(program: Program) -> list[TokenTest]:
    """Return what a program asks of a single token; whether two are the same is asked apart."""
    tests: list[TokenTest] = []
    for condition in program.conditions():
        match condition:
            case Compare(feature) if feature in TOKENS:
                tests.append(condition.test)
            case Count(_, of, False):
                tests.append(of.__contains__)
            case Compare() | Match() | Not() | Scan() | Joined() | Count() | Linked():
                pass  # no token is read, or the parts read it, or brackets, which no machine follows
    return tests


def _machine(condition: Formula, query: QueryFacts) -> ConditionMachine:
    spend(OBJECT)
    match condition:
        case Compare():
            return _compared(condition, query)
        case Match(wanted):
            return _stateless(lambda key: _is_same(key, query) == wanted)
        case Count(is_key, of, False, most, compared):
            return _count(of, min(most, query.longest), compared, is_key=is_key)
        case Count() | Linked():
            raise NotImplementedError("no machine follows brackets; gates and questions refuse them before")
        case Not(part):
            return _negated(_machine(part, query))
        case Scan("first", part):
            return _first(_machine(part, query))
        case Scan(pick, part):
            return _last(_machine(part, query), may_be_query=pick == "last")
        case Joined(word, parts):
            return _joined([_machine(part, query) for part in parts], any if word == "or" else all)


def _is_same(key: KeyToken, query: QueryFacts) -> bool:
    if key.is_last or (query.is_single and query.atoms == frozenset({key.atom})):
        return True
    return query.same(frozenset({False, key.atom in query.atoms}))


def _compared(condition: Compare, query: QueryFacts) -> ConditionMachine:
    holds = condition.test
    match condition.feature:
        case "query_token":
            answers = frozenset(map(holds, paid(query.tokens)))
            return _stateless(lambda key: holds(key.token) if key.is_last else query.same(answers))
        case "key_token":
            return _stateless(lambda key: holds(key.token))
        case "key_position":
            return _stateless(lambda key: holds(key.position))
        case "query_position":
            return _stateless(lambda key: holds(query.position(key)))
        case _:
            return _stateless(lambda key: holds(query.position(key) - key.position))


def _count(of: frozenset[Any], most: int, compared: Compare, *, is_key: bool) -> ConditionMachine:
    def count(number: int, key: KeyToken) -> int:
        return min(number + (key.token in of), most)

    def holds(number: int) -> bool:
        return compared.test(number)

    if is_key:
        return ConditionMachine((0,), lambda n, key: [(holds(count(n, key)), count(n, key))], lambda _: True)
    spend(NUMBER * most)
    return ConditionMachine(
        tuple((guess, 0) for guess in range(most + 1)),
        lambda state, key: [(holds(state[0]), (state[0], count(state[1], key)))],
        lambda state: state[0] == state[1],
    )


def _negated(part: ConditionMachine) -> ConditionMachine:
    def step(state: RowState, key: KeyToken) -> list[tuple[bool, RowState]]:
        return [(not holds, after) for holds, after in paid(part.step(state, key), NUMBER)]

    return ConditionMachine(part.starts, step, part.ends)


def _always() -> ConditionMachine:
    return _stateless(lambda _: True)


def _stateless(holds: Callable[[KeyToken], bool]) -> ConditionMachine:
    def step(state: RowState, key: KeyToken) -> list[tuple[bool, RowState]]:
        spend(NUMBER)
        return [(holds(key), state)]

    return ConditionMachine((0,), step, lambda _: True)


def _joined(parts: Sequence[ConditionMachine], join: Callable[[Iterator[bool]], bool]) -> ConditionMachine:
    def step(states: RowState, key: KeyToken) -> list[tuple[bool, RowState]]:
        options = [part.step(state, key) for part, state in zip(paid(parts), states, strict=True)]
        return [(join(a for a, _ in chosen), tuple(b for _, b in chosen)) for chosen in every_choice(options)]

    def ends(states: RowState) -> bool:
        return all(part.ends(state) for part, state in zip(paid(parts, NUMBER), states, strict=True))

    return ConditionMachine(tuple(every_choice([part.starts for part in parts])), step, ends)


def _first(part: ConditionMachine) -> ConditionMachine:
    def step(state: RowState, key: KeyToken) -> list[tuple[bool, RowState]]:
        inner, found = state
        options = paid(part.step(inner, key), NUMBER)
        return [(holds and not found, (after, found or holds)) for holds, after in options]

    starts = tuple((start, False) for start in paid(part.starts, NUMBER))
    return ConditionMachine(starts, step, lambda state: part.ends(state[0]))


def _last(part: ConditionMachine, *, may_be_query: bool) -> ConditionMachine:
    """Return the machine that guesses at each key where `part` holds whether it is the last such."""

    def step(state: RowState, key: KeyToken) -> list[tuple[bool, RowState]]:
        inner, phase = state
        found: list[tuple[bool, RowState]] = []
        for holds, after in paid(part.step(inner, key), 2 * NUMBER):
            if not holds or (key.is_last and not may_be_query):
                found.append((False, (after, phase)))
            elif phase != "picked":
                found += [(True, (after, "picked")), (False, (after, "owed"))]
        return found

    def ends(state: RowState) -> bool:
        return state[1] != "owed" and part.ends(state[0])

    return ConditionMachine(tuple((start, "none") for start in paid(part.starts, NUMBER)), step, ends)
