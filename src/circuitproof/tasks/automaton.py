"""The automaton of a pattern: reads prompts token by token, so that nothing is counted twice.

The state after some tokens is what of the shape is still to come (its Brzozowski derivative), with the counts
of the clauses. Tokens that no class tells apart are one *atom*.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from enum import Enum
from functools import lru_cache
from typing import TypeAlias

from circuitproof.errors import InputError
from circuitproof.tasks.domain import Prompt
from circuitproof.tasks.patterns import (
    Alternation,
    CountClause,
    Only,
    Pattern,
    Repeat,
    Sequence,
    Shape,
    TokenClass,
    atoms_of,
    joined,
)

State: TypeAlias = tuple[int, tuple[int, ...]]
"""What is to come, by number, and the counts."""
_MOST_STATES = 200_000
_MOST_BITS = 1 << 32
"""What the counts of all states may need: each has as many bits as the tokens of its prompts together."""


class _Stop(Enum):
    """What is to come where it is not a shape."""

    END = "nothing more"
    NONE = "no prompt goes on so"


_Rest: TypeAlias = Shape | _Stop


class Automaton:
    """A pattern over a vocabulary, whose atoms also respect some further classes."""

    def __init__(self, pattern: Pattern, vocabulary: int, further: Iterable[TokenClass] = ()) -> None:
        self.pattern, self.vocabulary = pattern, vocabulary
        self.atoms = atoms_of((*pattern.classes(), *further), vocabulary)
        self.sizes = tuple(map(len, self.atoms))
        self._counts = tuple(clause for clause in pattern.clauses if isinstance(clause, CountClause))
        self._only = tuple(clause for clause in pattern.clauses if isinstance(clause, Only))
        self._inside = {
            clause.of: frozenset(k for k, members in enumerate(self.atoms) if members[0] in clause.of)
            for clause in pattern.clauses
        }
        self._rests: list[_Rest] = []
        self._numbers: dict[_Rest, int] = {}
        self._steps: dict[tuple[int, int], int] = {}
        self._completions: dict[tuple[int, State], int] = {}
        self.start: State = (self._number(pattern.shape), (0,) * len(self._counts))

    def step(self, state: State, atom: int, position: int) -> State | None:
        """Return the state after a token of an atom at a position; nothing if no prompt goes on so."""
        if any(atom in self._inside[one.of] and not one.first <= position <= one.last for one in self._only):
            return None
        rest = self._step(state[0], atom)
        if self._rests[rest] is _Stop.NONE:
            return None
        counts = tuple(
            found + (atom in self._inside[clause.of])
            if clause.most is not None or found < clause.least
            else found
            for found, clause in zip(state[1], self._counts, strict=True)
        )
        is_over = any(c.most is not None and n > c.most for n, c in zip(counts, self._counts, strict=True))
        return None if is_over else (rest, counts)

    def accepts(self, state: State) -> bool:
        """Say whether a prompt may end in a state."""
        is_met = all(n >= clause.least for n, clause in zip(state[1], self._counts, strict=True))
        return is_met and _is_nullable(self._rests[state[0]])

    def atom(self, token: int) -> int:
        return next(place for place, members in enumerate(self.atoms) if _is_member(token, members))

    def __contains__(self, prompt: Prompt) -> bool:
        if not 1 <= len(prompt) <= self.pattern.longest:
            return False
        state: State | None = self.start
        for position, token in enumerate(prompt):
            if not 0 <= token < self.vocabulary or state is None:
                return False
            state = self.step(state, self.atom(token), position)
        return state is not None and self.accepts(state)

    @property
    def size(self) -> int:
        """Return how many prompts the pattern denotes."""
        self._complete()
        return self._completions[0, self.start] - self.accepts(self.start)

    def _targets(self, state: State, position: int) -> Iterator[tuple[int, State]]:
        if position < self.pattern.longest:
            for atom in range(len(self.atoms)):
                if (target := self.step(state, atom, position)) is not None:
                    yield atom, target

    def _complete(self) -> None:
        """Count for each state at each position the prompts that go on from there, itself included."""
        if self._completions:
            return
        layers: list[dict[State, list[tuple[int, State]]]] = []
        states, reached = {self.start}, 0
        while states:
            position = len(layers)
            layers.append({state: list(self._targets(state, position)) for state in sorted(states)})
            states = {target for targets in layers[-1].values() for _, target in targets}
            reached += len(layers[-1])
            self._refuse_many(reached, position)
        for position in reversed(range(len(layers))):
            for state, targets in layers[position].items():
                below = sum(self.sizes[atom] * self._completions[position + 1, s] for atom, s in targets)
                self._completions[position, state] = self.accepts(state) + below

    def _refuse_many(self, states: int, length: int) -> None:
        if states * length * self.vocabulary.bit_length() > _MOST_BITS:
            raise InputError(
                f"the prompts of the pattern are too many to count: it has {states} states up to a length of "
                f"{length} tokens; shorten it by 'up to N tokens', N the model's context"
            )
        if states > _MOST_STATES:
            raise InputError(
                f"the pattern has more than {_MOST_STATES} states; write repetitions without bounds and "
                "'up to N tokens' instead of many bounds"
            )

    def _number(self, rest: _Rest) -> int:
        if rest not in self._numbers:
            self._numbers[rest] = len(self._rests)
            self._rests.append(rest)
        return self._numbers[rest]

    def _step(self, rest: int, atom: int) -> int:
        if (rest, atom) not in self._steps:
            self._steps[rest, atom] = self._number(_derived(self._rests[rest], self.atoms[atom][0]))
        return self._steps[rest, atom]


@lru_cache(maxsize=64)
def automaton(pattern: Pattern, vocabulary: int, further: tuple[TokenClass, ...] = ()) -> Automaton:
    """Return the automaton of a pattern, made once."""
    return Automaton(pattern, vocabulary, further)


def _is_member(token: int, members: tuple[int, ...]) -> bool:
    place = bisect_left(members, token)
    return place < len(members) and members[place] == token


def _derived(rest: _Rest, token: int) -> _Rest:
    """Return what is to come after a token."""
    match rest:
        case TokenClass():
            return _Stop.END if token in rest else _Stop.NONE
        case Sequence((first, *others)):
            left = joined(Sequence, others)
            gone = _then(_derived(first, token), left)
            return _either([gone, _derived(left, token)]) if _is_nullable(first) else gone
        case Alternation(parts):
            return _either([_derived(part, token) for part in parts])
        case Repeat(part, least, most):
            return _then(_derived(part, token), _repeat(part, max(least - 1, 0), most))
        case _:
            return _Stop.NONE


def _then(first: _Rest, second: _Rest) -> _Rest:
    if isinstance(first, _Stop) or isinstance(second, _Stop):
        if _Stop.NONE in (first, second):
            return _Stop.NONE
        return second if first is _Stop.END else first
    return joined(Sequence, (first, second))


def _either(parts: list[_Rest]) -> _Rest:
    """Return any of some rests; the end among them is a part that may be left out."""
    may_end = _Stop.END in parts
    flat: dict[Shape, None] = {}
    for part in parts:
        if isinstance(part, Repeat) and (part.least, part.most) == (0, 1):
            part, may_end = part.part, True  # noqa: PLW2901  # the same rest, taken apart
        if not isinstance(part, _Stop):
            flat.update(dict.fromkeys(part.parts if isinstance(part, Alternation) else (part,)))
    if not flat:
        return _Stop.END if may_end else _Stop.NONE
    shape = joined(Alternation, flat)
    return Repeat(shape, 0, 1) if may_end and not _is_nullable(shape) else shape


def _repeat(part: Shape, least: int, most: int | None) -> _Rest:
    """Return what is left of a repetition of at most `most` times after the first."""
    if most == 1:
        return _Stop.END
    return Repeat(part, least, None if most is None else most - 1)


def _is_nullable(rest: _Rest) -> bool:
    match rest:
        case Sequence(parts):
            return all(_is_nullable(part) for part in parts)
        case Alternation(parts):
            return any(_is_nullable(part) for part in parts)
        case Repeat(part, least, _):
            return least == 0 or _is_nullable(part)
        case _:
            return rest is _Stop.END
