"""Rules that find the right answer by reading a prompt token by token, in a number of states.

A rule starts in one state, or, where its answer turns on the last token, in one state for each that may come
last: of those just one turns out to be `settled` at the end of a prompt.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar, TypeAlias

from circuitproof.errors import DeclarationError

RuleState: TypeAlias = tuple[int, ...]
_NONE = -1
"""The place of what is not there."""
MOST_STATES = 10_000


@dataclass(frozen=True, slots=True)
class _OfTokens:
    """A rule about some tokens in an order; all others are passed over."""

    of: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.of or len(set(self.of)) != len(self.of):
            raise DeclarationError(
                f"answer: the tokens of the rule are {self.of}, want one or more, distinct"
            )

    def classes(self) -> tuple[tuple[int, ...], ...]:
        """Return sets of tokens that the rule treats alike; all tokens in none of them are one more."""
        return tuple((token,) for token in self.of)

    def outputs(self) -> tuple[int, ...]:
        """Return every token that the rule may answer."""
        return self.of

    def starts(self) -> tuple[RuleState, ...]:
        return ((),)

    def settled(self, state: RuleState) -> bool:  # noqa: ARG002  # nothing is supposed
        """Say whether what was supposed of the last token at the start is so."""
        return True

    def answer(self, state: RuleState) -> int | None:
        """Return the answer to a prompt that ends in a settled state, the token at its place, or nothing."""
        return self.of[state[0]] if state else None

    def place(self, token: int) -> int:
        """Return the place of a token in the order; -1 for those that are passed over."""
        return self.of.index(token) if token in self.of else _NONE


class _OneOf(_OfTokens, ABC):
    """One of the rule's tokens in the prompt; the state is its place."""

    __slots__ = ()
    lack: ClassVar[str] = "holds none of the rule's tokens"

    def step(self, state: RuleState, token: int) -> RuleState:
        place = self.place(token)
        if place == _NONE or (state and self.keeps(state[0], place)):
            return state
        return (place,)

    @abstractmethod
    def keeps(self, old: int, place: int) -> bool:
        """Say whether an earlier token of the prompt is kept where another one follows."""
        ...


class Maximum(_OneOf):
    """The token of the prompt that is latest in the rule's order."""

    __slots__ = ()
    tag: ClassVar[str] = "maximum"

    def keeps(self, old: int, place: int) -> bool:
        return old >= place


class Minimum(_OneOf):
    """The token of the prompt that is earliest in the rule's order."""

    __slots__ = ()
    tag: ClassVar[str] = "minimum"

    def keeps(self, old: int, place: int) -> bool:
        return old <= place


class First(_OneOf):
    """The first of the rule's tokens in the prompt."""

    __slots__ = ()
    tag: ClassVar[str] = "first"

    def keeps(self, old: int, place: int) -> bool:  # noqa: ARG002  # whichever it is
        return True


class Last(_OneOf):
    """The last of the rule's tokens in the prompt."""

    __slots__ = ()
    tag: ClassVar[str] = "last"

    def keeps(self, old: int, place: int) -> bool:  # noqa: ARG002  # whichever it is
        return False


class MostFrequent(_OfTokens):
    """The token that the prompt holds most often; of several, the earliest in the rule's order.

    The state is how much more often each token was seen than the rarest.
    """

    __slots__ = ()
    tag: ClassVar[str] = "most frequent"
    lack: ClassVar[str] = "holds none of the rule's tokens"

    def step(self, state: RuleState, token: int) -> RuleState:
        place = self.place(token)
        if place == _NONE:
            return state
        counts = [seen + (other == place) for other, seen in enumerate(state or (0,) * len(self.of))]
        return tuple(seen - min(counts) for seen in counts)

    def answer(self, state: RuleState) -> int | None:
        return self.of[state.index(max(state))] if state else None


@dataclass(frozen=True, slots=True)
class _Cyclic(_OfTokens):
    """A number modulo the number of answers; the state is the number."""

    answers: tuple[int, ...]
    lack: ClassVar[str] = "has no answer"

    def __post_init__(self) -> None:
        _OfTokens.__post_init__(self)
        if len(self.answers) <= 1:
            raise DeclarationError(f"the rule has the answers {self.answers}, want two or more")

    def outputs(self) -> tuple[int, ...]:
        return self.answers

    def starts(self) -> tuple[RuleState, ...]:
        return ((0,),)

    def answer(self, state: RuleState) -> int | None:
        return self.answers[state[0]]


class Count(_Cyclic):
    """The answer at the place that is how many of the rule's tokens the prompt holds, modulo the answers."""

    __slots__ = ()
    tag: ClassVar[str] = "count"

    def classes(self) -> tuple[tuple[int, ...], ...]:
        return (tuple(sorted(self.of)),)

    def step(self, state: RuleState, token: int) -> RuleState:
        return ((state[0] + (token in self.of)) % len(self.answers),)


class Sum(_Cyclic):
    """The answer at the place that is the sum of the places of the prompt's tokens, modulo the answers."""

    __slots__ = ()
    tag: ClassVar[str] = "sum"

    def step(self, state: RuleState, token: int) -> RuleState:
        return ((state[0] + max(self.place(token), 0)) % len(self.answers),)


class _ByLast(_OfTokens):
    """A rule about the last token, which a state supposes: its place, whether it was just read, and a place.

    The place -1 of the last token stands for any that the rule passes over, that of what is found for none.
    """

    __slots__ = ()

    def starts(self) -> tuple[RuleState, ...]:
        return tuple((last, 0, _NONE) for last in range(_NONE, len(self.of)))

    def settled(self, state: RuleState) -> bool:
        return bool(state[1])

    def answer(self, state: RuleState) -> int | None:
        return None if state[2] == _NONE else self.of[state[2]]


class AfterPrevious(_ByLast):
    """The token after the previous occurrence of the last one."""

    __slots__ = ()
    tag: ClassVar[str] = "after previous"
    lack: ClassVar[str] = (
        "has a last token that did not occur before, or this or the token that followed is not one of "
        "the rule's"
    )

    def step(self, state: RuleState, token: int) -> RuleState:
        last, was_read, found = state
        place = self.place(token)
        return last, int(place == last), place if was_read and last != _NONE else found


class NextAbove(_ByLast):
    """The earliest token of the prompt behind the last one in the rule's order.

    Where the last token is not one of the rule's, the earliest of all.
    """

    __slots__ = ()
    tag: ClassVar[str] = "next above"
    lack: ClassVar[str] = "holds none of the rule's tokens behind its last one in their order"

    def step(self, state: RuleState, token: int) -> RuleState:
        last, _, found = state
        place = self.place(token)
        is_nearer = place > last and (found == _NONE or place < found)
        return last, int(place == last), place if is_nearer else found


@dataclass(frozen=True, slots=True)
class StateMachine:
    """An automaton written out: it begins in state 0, and tokens in none of its classes do not move it."""

    tag: ClassVar[str] = "automaton"
    lack: ClassVar[str] = "ends in a state without an answer"
    tokens: tuple[tuple[int, ...], ...]
    """The classes of tokens, of which no two share one."""
    transitions: tuple[tuple[int, ...], ...]
    """For each state where each class leads."""
    answers: tuple[tuple[int, int], ...]
    """Pairs of a state and its answer; a state that is not listed has none."""

    def __post_init__(self) -> None:
        for fault in self._faults():
            raise DeclarationError(f"{fault}")

    def classes(self) -> tuple[tuple[int, ...], ...]:
        return self.tokens

    def outputs(self) -> tuple[int, ...]:
        return tuple(answer for _, answer in self.answers)

    def starts(self) -> tuple[RuleState, ...]:
        return ((0,),)

    def step(self, state: RuleState, token: int) -> RuleState:
        row = self.transitions[state[0]]
        return next(((row[place],) for place, members in enumerate(self.tokens) if token in members), state)

    def settled(self, state: RuleState) -> bool:  # noqa: ARG002  # nothing is supposed
        return True

    def answer(self, state: RuleState) -> int | None:
        return dict(self.answers).get(state[0])

    def _faults(self) -> Sequence[str]:
        """Return what keeps it from being a deterministic automaton with answers, a sentence each."""
        count, listed = len(self.transitions), list(chain.from_iterable(self.tokens))
        stated = [state for state, _ in self.answers]
        twice = [token for token in dict.fromkeys(listed) if listed.count(token) > 1]
        found = [
            f"the automaton has {count} states, want 1 to {MOST_STATES}"
            if not 1 <= count <= MOST_STATES
            else "",
            "a class of the automaton has no tokens, want at least one" if not all(self.tokens) else "",
            f"token {twice[0]} stands in two classes of the automaton, want one next state" if twice else "",
            *(
                f"state {state} of the automaton has {len(row)} transitions for {len(self.tokens)} classes, "
                "want one for each"
                for state, row in enumerate(self.transitions)
                if len(row) != len(self.tokens)
            ),
            *(
                f"the automaton speaks of state {state}, want 0 to {count - 1}"
                for state in (*chain.from_iterable(self.transitions), *stated)
                if not 0 <= state < count
            ),
            "a state of the automaton has two answers, want one" if len(set(stated)) < len(stated) else "",
            "no state of the automaton has an answer, want at least one" if not stated else "",
        ]
        return [fault for fault in found if fault]


SequenceRule: TypeAlias = (
    Maximum | Minimum | First | Last | MostFrequent | Count | Sum | AfterPrevious | NextAbove | StateMachine
)
SEQUENCE_RULES: tuple[type[SequenceRule], ...] = (
    Maximum,
    Minimum,
    First,
    Last,
    MostFrequent,
    Count,
    Sum,
    AfterPrevious,
    NextAbove,
    StateMachine,
)


def rule_answer(rule: SequenceRule, prompt: Sequence[int]) -> int | None:
    """Return the answer that a rule gives to a prompt, if it has one."""
    for start in rule.starts():
        state = start
        for token in prompt:
            state = rule.step(state, token)
        if rule.settled(state):
            return rule.answer(state)
    return None
