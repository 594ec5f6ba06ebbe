"""The prompts of a pattern with what the rules say of each: its right answer, and its class."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce

from circuitproof.errors import DeclarationError, InputError
from circuitproof.tasks.answer_rules import SequenceRule
from circuitproof.tasks.automaton import Automaton, State, automaton
from circuitproof.tasks.domain import Prompt
from circuitproof.tasks.labelling import Label, Labelling, LabelState, OpenerLabels, RuleLabels
from circuitproof.tasks.pattern_text import print_pattern
from circuitproof.tasks.patterns import Pattern, TokenClass
from circuitproof.tasks.rules import OnlyOpener, SameAnswer, SameOpener


@dataclass(frozen=True)
class Labelled:
    """Every prompt of a pattern with its label. Holding it is proof that each has just one."""

    pattern: Pattern
    vocabulary: int
    answer: OnlyOpener | SequenceRule
    relation: SameOpener | SameAnswer

    def __post_init__(self) -> None:
        """Refuse a pattern of no prompt, or of one that the rules do not answer, which is then shown."""
        text = print_pattern(self.pattern)
        if self.machine.accepts(self.machine.start):
            raise DeclarationError(f"{text!r} denotes the empty prompt, want at least one token")
        if not self.size:
            raise DeclarationError(f"{text!r} denotes no prompt; a claim about nothing says nothing")
        for prompt, seen in self._ends():
            if self.labels_by.label(seen) is None:
                raise DeclarationError(f"{text!r} denotes {self.labels_by.fault(_shown(prompt))}")

    @cached_property
    def labels_by(self) -> Labelling:
        """Return what follows labels while prompts are read."""
        match self.answer, self.relation:
            case OnlyOpener() as answer, SameOpener() as relation:
                return OpenerLabels(answer, relation)
            case OnlyOpener(), SameAnswer():
                raise DeclarationError(
                    f"the answer is by openers and classes are by answers, want {SameOpener.tag!r}"
                )
            case rule, SameAnswer():
                return RuleLabels(rule, self.pattern.longest)
            case rule, SameOpener():
                raise DeclarationError(
                    f"the answer is by rule {rule.tag!r} and classes are by openers, want {SameAnswer.tag!r}"
                )

    @cached_property
    def machine(self) -> Automaton:
        return self.machine_of(())

    @property
    def size(self) -> int:
        return self.machine.size

    def machine_of(self, further: tuple[TokenClass, ...]) -> Automaton:
        """Return the automaton with atoms that also respect further classes."""
        return automaton(
            self.pattern, self.vocabulary, tuple(dict.fromkeys((*self.labels_by.classes, *further)))
        )

    @cached_property
    def examples(self) -> Mapping[Label, Prompt]:
        """Return a shortest prompt of each label, in the order of labels."""
        found: dict[Label, Prompt] = {}
        for prompt, seen in self._ends():
            if (label := self.labels_by.label(seen)) is not None:
                found.setdefault(label, prompt)
        return {label: found[label] for label in sorted(found)}

    @property
    def labels(self) -> tuple[Label, ...]:
        return tuple(self.examples)

    def label_of(self, prompt: Prompt) -> Label:
        if prompt in self.machine:
            for start in self.labels_by.starts:
                seen = reduce(self.labels_by.see, prompt, start)
                if self.labels_by.is_settled(seen) and (found := self.labels_by.label(seen)) is not None:
                    return found
        raise InputError(f"prompt {prompt} is not one of the pattern")

    def lengths(self) -> set[int]:
        return {len(prompt) for prompt, _ in self._ends()}

    def answer_counts(self) -> Mapping[int, int]:
        """Return for each right answer of how many prompts it is."""
        machine, labels, counts = self.machine, self.labels_by, dict[int, int]()
        layer: dict[tuple[State, LabelState], int] = {(machine.start, seen): 1 for seen in labels.starts}
        for position in range(self.pattern.longest):
            after: dict[tuple[State, LabelState], int] = {}
            for (state, seen), count in layer.items():
                for atom, members in enumerate(machine.atoms):
                    if (target := machine.step(state, atom, position)) is not None:
                        key = (target, labels.see(seen, members[0]))
                        after[key] = after.get(key, 0) + count * len(members)
            for (state, seen), count in after.items():
                found = labels.label(seen) if labels.is_settled(seen) else None
                if machine.accepts(state) and found is not None:
                    counts[found.answer] = counts.get(found.answer, 0) + count
            layer = after
        return counts

    def _ends(self) -> Iterator[tuple[Prompt, LabelState]]:
        """Return for each way to end one prompt that ends so, and what was seen on the way."""
        machine, labels = self.machine, self.labels_by
        layer: dict[tuple[State, LabelState], Prompt] = {(machine.start, seen): () for seen in labels.starts}
        for position in range(self.pattern.longest):
            after: dict[tuple[State, LabelState], Prompt] = {}
            for (state, seen), prompt in layer.items():
                for atom, members in enumerate(machine.atoms):
                    if (target := machine.step(state, atom, position)) is not None:
                        after.setdefault((target, labels.see(seen, members[0])), (*prompt, members[0]))
            for (state, seen), prompt in after.items():
                if machine.accepts(state) and labels.is_settled(seen):
                    yield prompt, seen
            layer = after


def _shown(prompt: Prompt) -> str:
    most = 12
    return str(prompt) if len(prompt) <= most else f"({', '.join(map(str, prompt[:most]))}, ...)"
