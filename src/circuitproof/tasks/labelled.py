"""The prompts of a pattern with what the rules say of each: the answer to its only opener, and its class."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TypeAlias

from circuitproof.errors import DeclarationError, InputError
from circuitproof.tasks.automaton import Automaton, State, automaton
from circuitproof.tasks.domain import Prompt
from circuitproof.tasks.pattern_text import print_pattern
from circuitproof.tasks.patterns import Pattern, TokenClass
from circuitproof.tasks.rules import OnlyOpener, SameOpener


@dataclass(frozen=True, slots=True, order=True)
class Label:
    """What the rules say of a prompt: its right answer, and the opener that is its class."""

    answer: int
    group: int


OpenersSeen: TypeAlias = tuple[int | None, int | None]
"""The answer's opener and the class's opener, as far as a prompt has been read."""
NOTHING_OPENED: OpenersSeen = (None, None)


@dataclass(frozen=True)
class Labelled:
    """Every prompt of a pattern with its label. Holding it is proof that each has just one."""

    pattern: Pattern
    vocabulary: int
    answer: OnlyOpener
    relation: SameOpener

    def __post_init__(self) -> None:
        """Refuse a pattern of no prompt, or of one without just one opener, which is then shown."""
        text = print_pattern(self.pattern)
        if self.machine.accepts(self.machine.start):
            raise DeclarationError(f"{text!r} denotes the empty prompt, want at least one token")
        if not self.size:
            raise DeclarationError(f"{text!r} denotes no prompt; a claim about nothing says nothing")
        for prompt, seen in self._ends():
            if self.label(seen) is None:
                wanted = sorted(self._openers[0])
                raise DeclarationError(
                    f"{text!r} denotes prompt {_shown(prompt)}, which does not hold just one of "
                    f"the openers {wanted} (and of the relation's); add 'with exactly 1 of {wanted}'"
                )

    @property
    def classes(self) -> tuple[TokenClass, ...]:
        """Return the classes that tell the openers apart."""
        openers = {*self._openers[0], *self._openers[1]}
        return tuple(TokenClass((opener,)) for opener in sorted(openers))

    @cached_property
    def machine(self) -> Automaton:
        return self.machine_of(())

    @property
    def size(self) -> int:
        return self.machine.size

    def machine_of(self, further: tuple[TokenClass, ...]) -> Automaton:
        """Return the automaton with atoms that also respect further classes."""
        return automaton(self.pattern, self.vocabulary, tuple(dict.fromkeys((*self.classes, *further))))

    def see(self, seen: OpenersSeen | None, token: int) -> OpenersSeen | None:
        """Return what is seen after a token; nothing after a second opener."""
        if seen is None:
            return None
        (answers, groups), (opener, group) = self._openers, seen
        if (token in answers and opener is not None) or (token in groups and group is not None):
            return None
        return (token if token in answers else opener, token if token in groups else group)

    def label(self, seen: OpenersSeen | None) -> Label | None:
        """Return the label of a prompt that ends so; nothing if an opener is missing."""
        opener, group = seen or NOTHING_OPENED
        return None if opener is None or group is None else Label(self._openers[0][opener], group)

    @cached_property
    def examples(self) -> Mapping[Label, Prompt]:
        """Return a shortest prompt of each label, in the order of labels."""
        found: dict[Label, Prompt] = {}
        for prompt, seen in self._ends():
            if (label := self.label(seen)) is not None:
                found.setdefault(label, prompt)
        return {label: found[label] for label in sorted(found)}

    @property
    def labels(self) -> tuple[Label, ...]:
        return tuple(self.examples)

    def answer_counts(self) -> Mapping[int, int]:
        """Return for each right answer of how many prompts it is."""
        counts: dict[int, int] = {}
        layer: dict[tuple[State, OpenersSeen | None], int] = {(self.machine.start, NOTHING_OPENED): 1}
        for position in range(self.pattern.longest):
            after: dict[tuple[State, OpenersSeen | None], int] = {}
            for (state, seen), count in layer.items():
                for atom, members in enumerate(self.machine.atoms):
                    if (target := self.machine.step(state, atom, position)) is not None:
                        key = (target, self.see(seen, members[0]))
                        after[key] = after.get(key, 0) + count * len(members)
            for (state, seen), count in after.items():
                if self.machine.accepts(state) and (label := self.label(seen)) is not None:
                    counts[label.answer] = counts.get(label.answer, 0) + count
            layer = after
        return counts

    def may_become(self, seen: OpenersSeen, label: Label) -> bool:
        """Say whether what is seen so far does not rule a label out."""
        opener, group = seen
        return (opener is None or self._openers[0][opener] == label.answer) and group in (None, label.group)

    def label_of(self, prompt: Prompt) -> Label:
        found = self.label(reduce(self.see, prompt, NOTHING_OPENED))
        if found is None or prompt not in self.machine:
            raise InputError(f"prompt {prompt} is not one of the pattern")
        return found

    def lengths(self) -> set[int]:
        return {len(prompt) for prompt, _ in self._ends()}

    @cached_property
    def _openers(self) -> tuple[Mapping[int, int], frozenset[int]]:
        return dict(self.answer.answers), frozenset(self.relation.openers)

    def _ends(self) -> Iterator[tuple[Prompt, OpenersSeen | None]]:
        """Return for each way to end one prompt that ends so, and what was seen on the way."""
        machine = self.machine
        layer: dict[tuple[State, OpenersSeen | None], Prompt] = {(machine.start, NOTHING_OPENED): ()}
        for position in range(self.pattern.longest):
            after: dict[tuple[State, OpenersSeen | None], Prompt] = {}
            for (state, seen), prompt in layer.items():
                for atom, members in enumerate(machine.atoms):
                    if (target := machine.step(state, atom, position)) is not None:
                        after.setdefault((target, self.see(seen, members[0])), (*prompt, members[0]))
            yield from ((prompt, seen) for (state, seen), prompt in after.items() if machine.accepts(state))
            layer = after


def _shown(prompt: Prompt) -> str:
    most = 12
    return str(prompt) if len(prompt) <= most else f"({', '.join(map(str, prompt[:most]))}, ...)"
