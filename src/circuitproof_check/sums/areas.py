"""Parts of a pattern by label, length and tokens at positions, with their prompts as graphs."""

from dataclasses import dataclass

from circuitproof_check.patterns.shapes import TokenClass
from circuitproof_check.rules import Label
from circuitproof_check.work import NUMBER, OBJECT, paid, spend

from .automaton import Automaton
from .graphs import Graph

Tokens = tuple[tuple[int, TokenClass], ...]
"""Positions, each with a class of which the token there is one."""


@dataclass(frozen=True, slots=True, eq=False)
class Area:
    """Prompts of a label (or of any), of some lengths, with tokens of classes at positions."""

    automaton: Automaton
    label: Label | None
    tokens: Tokens
    graphs: dict[int, Graph]
    """By the number of tokens, where there are such prompts."""
    is_of_length: bool = False
    """Whether its length was asked for."""

    def of_label(self, label: Label) -> "Area":
        """Return the part with a label, where none was asked for."""
        found = _graphs(self.automaton, label, paid(tuple(self.graphs), NUMBER), self.tokens)
        return Area(self.automaton, label, self.tokens, found, self.is_of_length)

    def of_length(self, length: int) -> "Area":
        spend(OBJECT)
        found = {length: self.graphs[length]} if length in self.graphs else {}
        return Area(self.automaton, self.label, self.tokens, found, is_of_length=True)

    def of_token(self, position: int, tokens: TokenClass) -> "Area":
        """Return the part with a token of a class at a position, which all prompts have."""
        spend(OBJECT + NUMBER * len(self.tokens))
        told = ((position, tokens),)
        return Area(
            self.automaton,
            self.label,
            (*self.tokens, *told),
            _within(self.graphs, told),
            self.is_of_length,
        )

    def counts(self) -> dict[Label, int]:
        """Return how many prompts of each label there are, of labels that are there."""
        labels = self.automaton.labels if self.label is None else [self.label]
        found: dict[Label, int] = {}
        for label in paid(labels, NUMBER):
            part = self if self.label is not None else self.of_label(label)
            count = sum(graph.count() for graph in paid(part.graphs, NUMBER).values())
            if count:
                found[label] = count
        return found

    def holds(self, prompt: tuple[int, ...], label: Label) -> bool:
        """Say whether a prompt of the pattern, which has a label, is here."""
        is_here = len(prompt) in self.graphs and self.label in (None, label)
        return is_here and all(prompt[place] in one for place, one in paid(self.tokens, NUMBER))


def whole(automaton: Automaton) -> Area:
    """Return all prompts of a pattern."""
    spend(NUMBER * automaton.longest)
    return Area(automaton, None, (), _graphs(automaton, None, tuple(range(1, 1 + automaton.longest)), ()))


def _graphs(
    automaton: Automaton, label: Label | None, lengths: tuple[int, ...], tokens: Tokens
) -> dict[int, Graph]:
    spend(NUMBER * len(lengths))
    found = {length: graph for length in lengths if (graph := automaton.graph(label, length)) is not None}
    return _within(found, tokens)


def _within(graphs: dict[int, Graph], tokens: Tokens) -> dict[int, Graph]:
    for position, one in paid(tokens, NUMBER):
        parts = {length: graph.within(position, one) for length, graph in paid(graphs, NUMBER).items()}
        graphs = {length: part for length, part in parts.items() if part is not None}
    return graphs
