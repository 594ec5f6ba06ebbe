"""What a prompt's label is while it is read: by its only opener, or by a rule with states."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

from circuitproof.errors import DeclarationError
from circuitproof.tasks.answer_rules import MOST_STATES, RuleState, SequenceRule
from circuitproof.tasks.patterns import TokenClass
from circuitproof.tasks.rules import OnlyOpener, SameOpener


@dataclass(frozen=True, slots=True, order=True)
class Label:
    """What the rules say of a prompt: its right answer, and its class: an opener, or the answer itself."""

    answer: int
    group: int
    is_by_rule: bool = field(default=False, compare=False)
    """Whether the class is the answer, and no opener."""

    def __str__(self) -> str:
        return f"answer {self.answer}" if self.is_by_rule else f"opener {self.group}"


OpenersSeen: TypeAlias = tuple[int | None, int | None]
"""The answer's opener and the class's opener, as far as a prompt has been read."""
LabelState: TypeAlias = Any
"""What was seen of openers, nothing after a second one; or the number of a rule's state."""
_UNLISTED = -1
"""Stands for the tokens of none of a rule's classes."""


@dataclass(frozen=True)
class OpenerLabels:
    """Labels by openers: a prompt holds just one of the answer's, and just one of the relation's."""

    answer: OnlyOpener
    relation: SameOpener
    size: ClassVar[int] = 1
    """What is seen of openers is little."""

    @property
    def starts(self) -> tuple[LabelState, ...]:
        return ((None, None),)

    @property
    def classes(self) -> tuple[TokenClass, ...]:
        """Return the classes that tell the openers apart."""
        return tuple(TokenClass((opener,)) for opener in sorted(self.openers))

    @cached_property
    def openers(self) -> frozenset[int]:
        """Return the tokens of which each prompt needs one."""
        return frozenset(self._openers[0]) | self._openers[1]

    def see(self, seen: LabelState, token: int) -> OpenersSeen | None:
        """Return what is seen after a token; nothing after a second opener."""
        if seen is None:
            return None
        (answers, groups), (opener, group) = self._openers, seen
        if (token in answers and opener is not None) or (token in groups and group is not None):
            return None
        return (token if token in answers else opener, token if token in groups else group)

    def is_settled(self, seen: LabelState) -> bool:  # noqa: ARG002  # nothing is supposed
        return True

    def label(self, seen: LabelState) -> Label | None:
        """Return the label of a prompt that ends so; nothing if an opener is missing."""
        opener, group = seen or (None, None)
        return None if opener is None or group is None else Label(self._openers[0][opener], group)

    def may_become(self, seen: LabelState, label: Label) -> bool:
        """Say whether what is seen so far does not rule a label out."""
        opener, group = seen
        return (opener is None or self._openers[0][opener] == label.answer) and group in (None, label.group)

    def fault(self, shown: str) -> str:
        """Return what is to be said of a prompt without a label."""
        wanted = sorted(self._openers[0])
        return (
            f"prompt {shown}, which does not hold just one of the openers {wanted} (and of the relation's); "
            f"add 'with exactly 1 of {wanted}'"
        )

    @cached_property
    def _openers(self) -> tuple[Mapping[int, int], frozenset[int]]:
        return dict(self.answer.answers), frozenset(self.relation.openers)


class RuleLabels:
    """Labels by a rule's automaton, worked out for prompts of up to so many tokens: states are numbers."""

    openers: frozenset[int] = frozenset()

    def __init__(self, rule: SequenceRule, longest: int) -> None:
        self.rule = rule
        self._classes = {token: k for k, members in enumerate(rule.classes()) for token in members}
        self._samples = (*(members[0] for members in rule.classes()), _UNLISTED)
        self._numbers: dict[RuleState, int] = {state: k for k, state in enumerate(rule.starts())}
        self.starts: tuple[LabelState, ...] = tuple(self._numbers.values())
        self.steps: list[tuple[int, ...]] = []
        """For each state where each class leads; the last is of all tokens in none."""
        self._follow(longest)
        answers = [rule.answer(state) if rule.settled(state) else None for state in self._numbers]
        self._labels: list[Label | None] = [
            None if one is None else Label(one, one, is_by_rule=True) for one in answers
        ]
        self._places = {answer: k for k, answer in enumerate(dict.fromkeys(rule.outputs()))}
        self._settled = [rule.settled(state) for state in self._numbers]

    @property
    def classes(self) -> tuple[TokenClass, ...]:
        """Return the classes that the rule tells apart."""
        return tuple(TokenClass(tuple(sorted(members))) for members in self.rule.classes())

    @property
    def size(self) -> int:
        """Return how many states there are."""
        return len(self._labels)

    def see(self, seen: int, token: int) -> LabelState:
        return self.steps[seen][self.class_of(token)]

    def class_of(self, token: int) -> int:
        """Return the place of a token's class; that of tokens in none is the last."""
        return self._classes.get(token, len(self._samples) - 1)

    def is_settled(self, seen: int) -> bool:
        """Say whether what a state supposed of the last token is so."""
        return self._settled[seen]

    def label(self, seen: int) -> Label | None:
        return self._labels[seen]

    def may_become(self, seen: int, label: Label) -> bool:
        """Say whether some tokens lead from a state to a label."""
        return bool(self._reached[seen] & self._bit(label))

    def fault(self, shown: str) -> str:
        """Return what is to be said of a prompt without a label."""
        tag, lack = self.rule.tag, self.rule.lack
        return f"prompt {shown}, to which rule {tag!r} gives no answer: it {lack}; narrow the pattern"

    def _follow(self, longest: int) -> None:
        """Number the states that so many tokens lead to, and their steps."""
        reached = list(self._numbers)
        for position in range(longest):
            known = len(self._numbers)
            for state in reached:
                targets = [self.rule.step(state, sample) for sample in self._samples]
                self.steps.append(tuple(self._number(target) for target in targets))
            self._refuse_many(position + 1, longest)
            reached = list(self._numbers)[known:]

    def _number(self, state: RuleState) -> int:
        return self._numbers.setdefault(state, len(self._numbers))

    def _refuse_many(self, length: int, longest: int) -> None:
        if (count := len(self._numbers)) > MOST_STATES:
            raise DeclarationError(
                f"rule {self.rule.tag!r} has {count} states after {length} of {longest} tokens, want at most "
                f"{MOST_STATES}; give it fewer tokens, or shorten the pattern by 'up to N tokens'"
            )

    @cached_property
    def _reached(self) -> list[int]:
        """Return for each state, as bits, the labels of prompts that may come of it, itself included."""
        found = [0 if label is None else self._bit(label) for label in self._labels]
        is_changed = True
        while is_changed:
            is_changed = False
            for state in reversed(range(len(self.steps))):
                grown = found[state]
                for target in self.steps[state]:
                    grown |= found[target]
                is_changed |= grown != found[state]
                found[state] = grown
        return found

    def _bit(self, label: Label) -> int:
        return 1 << self._places.get(label.answer, len(self._places))


Labelling: TypeAlias = OpenerLabels | RuleLabels
