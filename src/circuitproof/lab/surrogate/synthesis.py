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
from circuitproof.lab.surrogate.template import (
    Fill,
    FilledTemplate,
    OpenHoleError,
    Signature,
    Template,
    run,
)
from circuitproof.lab.surrogate.words import Word
from circuitproof.text.codec import Key


@dataclass(frozen=True, slots=True)
class Leaf:
    """An input that refutes every program that fills the other holes."""

    word: Annotated[Word, Key("input")]


@dataclass(frozen=True, slots=True)
class Split:
    """A hole, with a tree for each of its choices in their order."""

    hole: str
    children: "tuple[Tree, ...]"


Tree: TypeAlias = Leaf | Split


@dataclass(frozen=True, slots=True)
class Trial:
    """A program that agreed with every example so far, and the input that then refuted it."""

    program: FilledTemplate
    word: Annotated[Word, Key("input")]


@dataclass(frozen=True, slots=True)
class Exhausted:
    """A template of which no program agrees with the teacher, and the tree that shows it."""

    template: Template
    tree: Tree


@dataclass(frozen=True, slots=True)
class Found:
    """The first program that the oracle does not refute."""

    program: FilledTemplate


@dataclass(frozen=True, slots=True)
class NoneInFamily:
    """No template of the family has a program that agrees."""


@dataclass(frozen=True, slots=True)
class GaveUp:
    """The search reached its budget in a template; nothing is known about it and the larger ones."""

    template: Template


Outcome: TypeAlias = Found | NoneInFamily | GaveUp


@dataclass(frozen=True, slots=True)
class Synthesis:
    """What a search came to, what it refuted on the way, and the candidates that examples did not refute."""

    outcome: Outcome
    exhausted: tuple[Exhausted, ...]
    trials: tuple[Trial, ...]


@dataclass(frozen=True, slots=True)
class Specification:
    """What is looked for: agreement with a teacher, as an oracle on whole programs sees it."""

    signature: Signature
    teach: Callable[[Word], int]
    """The teacher's answer to a word."""
    oracle: Callable[[FilledTemplate], Word | None]
    """Return an input on which a program disagrees with the teacher, or none if there is none."""


class _BudgetError(Exception):
    """The search has looked at as many partial programs as it may."""


@dataclass(slots=True)
class _TemplateSearch:
    """The state of a search: examples and trials grow, the budget shrinks."""

    wanted: Specification
    examples: list[Word]
    budget: int
    trials: list[Trial] = field(default_factory=list[Trial])

    def explore(self, template: Template, fill: Fill) -> Tree | FilledTemplate:
        """Return a program that extends `fill` and agrees, or the tree that refutes all of them."""
        self._spend()
        while True:
            met = self._first_obstacle(template, fill)
            if isinstance(met, str):
                return self._split(template, fill, met)
            if met is not None:
                return Leaf(met)
            program = self._completed(template, fill)
            word = self.wanted.oracle(program)
            if word is None:
                return program
            self._refuse_idle(program, word)
            self.trials.append(Trial(program, word))
            self.examples.append(word)

    def _split(self, template: Template, fill: Fill, hole: str) -> Tree | FilledTemplate:
        children: list[Tree] = []
        for choice in template.holes(self.wanted.signature)[hole]:
            below = self.explore(template, Fill({**fill, hole: choice}))
            if isinstance(below, FilledTemplate):
                return below
            children.append(below)
        return Split(hole, tuple(children))

    def _first_obstacle(self, template: Template, fill: Fill) -> Word | str | None:
        """Return the first example that refutes, or else the first hole that an example needs, or nothing."""
        needed: str | None = None
        for word in self.examples:
            try:
                if run(template, fill, self.wanted.signature, word) != self.wanted.teach(word):
                    return word
            except OpenHoleError as error:
                needed = needed or error.hole
        return needed

    def _completed(self, template: Template, fill: Fill) -> FilledTemplate:
        holes = template.holes(self.wanted.signature)
        choices = {hole: fill.get(hole, allowed[0]) for hole, allowed in holes.items()}
        return FilledTemplate(template, self.wanted.signature, choices)

    def _spend(self) -> None:
        if self.budget == 0:
            raise _BudgetError
        self.budget -= 1

    def _refuse_idle(self, program: FilledTemplate, word: Word) -> None:
        """Refuse an oracle whose counterexample is none: the search would never end."""
        if program.automaton.answer(word) == self.wanted.teach(word):
            raise DeclarationError(f"the oracle refutes a program with {word}, on which it agrees")


def synthesise(
    wanted: Specification,
    templates: Sequence[Template],
    examples: Sequence[Word] = (),
    budget: int = 100_000,
) -> Synthesis:
    """Search the templates in their order for a program that the oracle accepts.

    At most `budget` partial programs are looked at, in each template anew.
    """
    if not templates:
        raise DeclarationError("no templates to search; name at least one")
    search = _TemplateSearch(wanted, list(examples), budget)
    exhausted: list[Exhausted] = []
    outcome: Outcome = NoneInFamily()
    for template in templates:
        search.budget = budget
        try:
            found = search.explore(template, Fill())
        except _BudgetError:
            outcome = GaveUp(template)
            break
        if isinstance(found, FilledTemplate):
            outcome = Found(found)
            break
        exhausted.append(Exhausted(template, found))
    return Synthesis(outcome, tuple(exhausted), tuple(search.trials))
