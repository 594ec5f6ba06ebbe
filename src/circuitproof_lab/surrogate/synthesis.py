"""Counterexample-guided inductive synthesis (CEGIS) of the smallest program that agrees with a teacher.

It is complete within the family: a search fills holes only where a run reads them. A partial program that
some input already refutes stands for all programs that fill its other holes, so a template that is exhausted
leaves a closed tree: splits on holes, and at each leaf an input that refutes every program below.
`refutation.py` checks such trees.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, TypeAlias

from circuitproof.errors import DeclarationError
from circuitproof.files.codec import Key
from circuitproof_lab.surrogate.relation import Relation
from circuitproof_lab.surrogate.template import Fill, FilledTemplate, OpenHoleError, ProgramTemplate, run
from circuitproof_lab.surrogate.words import Word


@dataclass(frozen=True, slots=True)
class RefutedLeaf:
    """An input that refutes every program that fills the other holes."""

    word: Annotated[Word, Key("input")]


@dataclass(frozen=True, slots=True)
class HoleSplit:
    """A hole, with a tree for each of its choices in their order."""

    hole: str
    children: "tuple[RefutationTree, ...]"


RefutationTree: TypeAlias = RefutedLeaf | HoleSplit
Oracle: TypeAlias = Callable[[FilledTemplate], Word | None]
"""Returns an input on which a program disagrees with the teacher, or none if there is none."""


@dataclass(frozen=True, slots=True)
class CandidateTrial:
    """A program that agreed with every example so far, and the input that then refuted it."""

    program: FilledTemplate
    word: Annotated[Word, Key("input")]


@dataclass(frozen=True, slots=True)
class Exhausted:
    """A template of which no program agrees with the teacher, and the tree that shows it."""

    template: ProgramTemplate
    tree: RefutationTree


@dataclass(frozen=True, slots=True)
class GaveUp:
    """The search reached its budget in a template; nothing is known about it and the larger ones."""

    template: ProgramTemplate


@dataclass(frozen=True, slots=True)
class TemplateSynthesis:
    """What a search came to, what it refuted on the way, and the candidates that examples did not refute."""

    outcome: FilledTemplate | GaveUp | None
    """The first program that the oracle does not refute; none where no template has one that agrees."""
    exhausted: tuple[Exhausted, ...]
    trials: tuple[CandidateTrial, ...]


class _BudgetError(Exception):
    """The search has looked at as many partial programs as it may."""


@dataclass(slots=True)
class _TemplateSearch:
    """The state of a search: examples and trials grow, the budget shrinks."""

    relation: Relation
    oracle: Oracle
    examples: list[Word]
    budget: int
    trials: list[CandidateTrial] = field(default_factory=list[CandidateTrial])

    def explore(self, template: ProgramTemplate, fill: Fill) -> RefutationTree | FilledTemplate:
        """Return a program that extends `fill` and agrees, or the tree that refutes all of them."""
        if self.budget == 0:
            raise _BudgetError
        self.budget -= 1
        while True:
            met = self._first_obstacle(template, fill)
            if isinstance(met, str):
                return self._split(template, fill, met)
            if met is not None:
                return RefutedLeaf(met)
            program = self._completed(template, fill)
            word = self.oracle(program)
            if word is None:
                return program
            self._refuse_idle(program, word)
            self.trials.append(CandidateTrial(program, word))
            self.examples.append(word)

    def _split(self, template: ProgramTemplate, fill: Fill, hole: str) -> RefutationTree | FilledTemplate:
        children: list[RefutationTree] = []
        for choice in template.holes(self.relation.signature)[hole]:
            below = self.explore(template, Fill({**fill, hole: choice}))
            if isinstance(below, FilledTemplate):
                return below
            children.append(below)
        return HoleSplit(hole, tuple(children))

    def _first_obstacle(self, template: ProgramTemplate, fill: Fill) -> Word | str | None:
        """Return the first example that refutes, or else the first hole that an example needs, or nothing."""
        needed, signature = None, self.relation.signature
        for word in self.examples:
            try:
                if run(template, fill, signature, word) != self.relation.answer(word):
                    return word
            except OpenHoleError as error:
                needed = needed or error.hole
        return needed

    def _completed(self, template: ProgramTemplate, fill: Fill) -> FilledTemplate:
        signature = self.relation.signature
        choices = {hole: fill.get(hole, allowed[0]) for hole, allowed in template.holes(signature).items()}
        return FilledTemplate(template, signature, choices)

    def _refuse_idle(self, program: FilledTemplate, word: Word) -> None:
        """Refuse an oracle whose counterexample is none: the search would never end."""
        if program.automaton.answer(word) == self.relation.answer(word):
            raise DeclarationError(f"the oracle refutes a program with {word}, on which it agrees")


def synthesise(
    relation: Relation,
    oracle: Oracle,
    templates: Sequence[ProgramTemplate],
    examples: Sequence[Word] = (),
    budget: int = 100_000,
) -> TemplateSynthesis:
    """Search the templates in their order for a program that the oracle accepts as the teacher's.

    At most `budget` partial programs are looked at, in each template anew.
    """
    if not templates:
        raise DeclarationError("no templates to search; name at least one")
    search = _TemplateSearch(relation, oracle, list(examples), budget)
    exhausted: list[Exhausted] = []
    outcome: FilledTemplate | GaveUp | None = None
    for template in templates:
        search.budget = budget
        try:
            found = search.explore(template, Fill())
        except _BudgetError:
            outcome = GaveUp(template)
            break
        if isinstance(found, FilledTemplate):
            outcome = found
            break
        exhausted.append(Exhausted(template, found))
    return TemplateSynthesis(outcome, tuple(exhausted), tuple(search.trials))
