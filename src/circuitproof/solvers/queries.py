"""What solvers are asked: the negation of a property, or an edge's witness, as one formula over terms."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from circuitproof.solvers.assertions import Assertion, AssertionGroup, AssertionLog, AssertionSource
from circuitproof.solvers.table import TermTable
from circuitproof.solvers.terms import Selector, SmtFormula, Sum, Variable

Eta: TypeAlias = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class QueryCase:
    """A prompt or a pair, the formula that is asked of it, and how to replay it exactly."""

    prompts: tuple[int, ...]
    formula: SmtFormula
    replay: Callable[[Eta], bool]
    """Say whether the formula's sentence is true, in exact numbers, under a perturbation if there is one."""
    covers: frozenset[int] = frozenset()
    """All prompts that the same computation decides."""


@dataclass(frozen=True, slots=True)
class QueryMeaning:
    """What a query is about, and what each answer says about the claim."""

    title: str
    satisfiable: str
    unsatisfiable: str


@dataclass(frozen=True)
class Query:
    """Is the formula of some case true? A selector per case says which."""

    meaning: QueryMeaning
    log: AssertionLog
    cases: tuple[QueryCase, ...]
    eta: tuple[Variable, ...] = ()
    bounds: tuple[Assertion, ...] = ()

    @cached_property
    def selectors(self) -> tuple[Selector, ...]:
        return tuple(self.log.terms.selector(f"choose_{number}") for number in range(len(self.cases)))

    @cached_property
    def goal(self) -> Assertion:
        """Return that some case is chosen, and that a chosen case's formula is true."""
        terms = self.log.terms
        chosen = [
            terms.any_of((terms.negation(selector), case.formula))
            for selector, case in zip(self.selectors, self.cases, strict=True)
        ]
        return Assertion(terms.all_of((terms.any_of(self.selectors), *chosen)), AssertionSource.DECISION)

    @cached_property
    def groups(self) -> tuple[AssertionGroup, ...]:
        """Return the applications of operators that matter: those that the goal depends on.

        Along a trace it is all of them: a number that the traced branches leave constant is only constant
        where their conditions hold, so the conditions matter to a goal that no longer mentions it.
        """
        return tuple(self.log.groups if self.has_conditions else self.log.cone((self.goal.formula,)))

    @cached_property
    def premises(self) -> tuple[Assertion, ...]:
        """Return what defines the variables that the goal depends on, traced conditions included."""
        return (*self.bounds, *(assertion for group in self.groups for assertion in group.assertions))

    @cached_property
    def has_conditions(self) -> bool:
        """Say whether the query follows a trace."""
        return any(assertion.is_condition for group in self.log.groups for assertion in group.assertions)

    def narrowed(self, prompts: Sequence[int]) -> "Query":
        """Return the query about the only case that holds a prompt, or all of it if there is none."""
        found = [case for case in self.cases if case.covers.issuperset(prompts)]
        return replace(self, cases=tuple(found[:1])) if found else self


@dataclass(frozen=True, slots=True)
class Obligation:
    """A part of a property: met if no query has a solution, or, for a witness, if some query has one."""

    name: str
    size: int
    """How many of the property's own obligations it stands for."""
    queries: Callable[[], Iterator[Query]]
    wants_witness: bool = False
    is_whole: bool = True
    """Whether the queries cover the obligation; where they do not, finding nothing proves nothing."""


def clear(terms: TermTable, logits: Sequence[Sum], winner: int) -> SmtFormula:
    """Return that one candidate leads alone."""
    return terms.all_of(terms.above(logits[winner], other) for t, other in enumerate(logits) if t != winner)


def maximal(terms: TermTable, logits: Sequence[Sum], place: int) -> SmtFormula:
    """Return that no candidate leads over this one."""
    return terms.all_of(terms.at_least(logits[place], other) for t, other in enumerate(logits) if t != place)


def alike(terms: TermTable, one: Sequence[Sum], other: Sequence[Sum]) -> SmtFormula:
    """Return that the same candidate leads alone in both."""
    places = range(len(one))
    return terms.any_of(terms.all_of((clear(terms, one, y), clear(terms, other, y))) for y in places)


def changed(terms: TermTable, before: Sequence[Sum], after: Sequence[Sum]) -> SmtFormula:
    """Return that a candidate leads alone before and not after."""
    return terms.any_of(
        terms.all_of((clear(terms, before, y), terms.negation(clear(terms, after, y))))
        for y in range(len(before))
    )


def unlike(terms: TermTable, one: Sequence[Sum], other: Sequence[Sum]) -> SmtFormula:
    """Return that the sets of maximal candidates differ."""
    pairs = [(maximal(terms, one, t), maximal(terms, other, t)) for t in range(len(one))]
    no = terms.negation
    return terms.any_of(terms.any_of((terms.all_of((a, no(b))), terms.all_of((no(a), b)))) for a, b in pairs)
