"""From a claim's property to what solvers are asked: the negated property per prompt, class or edge."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import zip_longest
from math import inf
from typing import assert_never

from circuitproof.errors import UsageError
from circuitproof.proof.claim import Claim
from circuitproof.proof.effort import UNHURRIED, Pace
from circuitproof.proof.fold import Fold, Folded, fold
from circuitproof.proof.inexact import refuse_enclosing
from circuitproof.proof.properties.catalogue import PROPERTIES
from circuitproof.proof.properties.property import Property
from circuitproof.proof.properties.questions import (
    Compared,
    EachBall,
    EachPrompt,
    OneClass,
    OneWitness,
    PropertyQuestion,
    Sought,
    Wrong,
)
from circuitproof.proof.regions.disturbed import Disturbed, disturbed_prompts
from circuitproof.solvers.choices import Branching
from circuitproof.solvers.encode import Encoding, encode, encode_ball
from circuitproof.solvers.queries import (
    Eta,
    Obligation,
    Query,
    QueryCase,
    QueryMeaning,
    alike,
    changed,
    clear,
    unlike,
)
from circuitproof.solvers.table import TermTable
from circuitproof.solvers.terms import SmtFormula, Sum
from circuitproof.tasks.domain import places_of


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """How a property is put to solvers."""

    branching: Branching = Branching.KEPT
    batch: int = 4
    """How many prompts one query asks about; a query about perturbations asks about one."""
    anchors: int | None = None
    """How many prompts are asked about, spread over the answers; all of them unless told."""
    seconds: float = inf
    """How long writing one query may take."""
    pace: Pace = UNHURRIED
    """Until when queries are written, and on which clock."""

    def until(self) -> Pace:
        """Return the pace of writing a query that is begun now."""
        return replace(self.pace, deadline=min(self.pace.deadline, self.pace.clock() + self.seconds))


@dataclass(frozen=True)
class Questions:
    """A claim as questions to solvers, and its exact folds, with which solutions are replayed."""

    claim: Claim
    plan: QueryPlan = QueryPlan()

    def obligations(self, prop: Property) -> list[Obligation]:
        refuse_enclosing(self.claim, "solvers compute")
        if not prop.is_asked_of_solvers:
            *most, last = (kind for kind, one in PROPERTIES.items() if one.is_asked_of_solvers)
            raise UsageError(
                f"{prop.kind} is not asked of solvers; want {', '.join(most)} or {last}, or the exact engine"
            )
        return [one for question in prop.questions(self.claim) for one in self._asked(question)]

    def _asked(self, question: PropertyQuestion) -> list[Obligation]:
        match question:
            case EachPrompt(sought):
                return self._per_batch(sought)
            case OneClass(sought, members):
                return [self._of_class(sought, members)]
            case OneWitness(sought, name):
                return [self._witness(sought, name)]
            case EachBall():
                return self._balls(question)
            case _:
                assert_never(question)

    @cached_property
    def places(self) -> tuple[int, ...]:
        """Return the prompts that are asked about: all, or anchors spread over the answers."""
        task, anchors = self.claim.task, self.plan.anchors
        return tuple(range(task.size)) if anchors is None else task.spread(anchors)

    @cached_property
    def _mixed_places(self) -> tuple[int, ...]:
        """Return the same prompts, the answers by turns: a lesion often flips the prompts of one alone."""
        answers = self.claim.task.answers()
        turns = zip_longest(*places_of(answers[place] for place in self.places).values())
        return tuple(self.places[place] for turn in turns for place in turn if place is not None)

    @cached_property
    def folded(self) -> Folded[Fold]:
        claim = self.claim
        return fold(claim.frozen, claim.task.candidates, claim.circuits(), claim.task.prompts)

    def _per_batch(self, sought: Sought) -> list[Obligation]:
        """Return an obligation for each batch of prompts, none of which may be a solution."""
        return [
            Obligation(_span(places), len(places), partial(self._queries, sought, places))
            for places in self._batches(self.places)
        ]

    def _of_class(self, sought: Sought, members: Sequence[int]) -> Obligation:
        """Return that no prompt of a class is a solution beside its first."""
        first = members[0]
        asked = [x for x in members[1:] if x in self.places] or [first]
        ask, is_whole = partial(self._queries, sought, asked), len(asked) >= len(members) - 1
        return Obligation(f"the class of prompt {first}", 1, ask, is_whole=is_whole)

    def _witness(self, sought: Sought, name: str) -> Obligation:
        """Return that some prompt is a solution."""
        ask = partial(self._queries, sought, self._mixed_places)
        is_whole = len(self.places) == self.claim.task.size
        return Obligation(name, 1, ask, wants_witness=True, is_whole=is_whole)

    def _queries(self, sought: Sought, asked: Sequence[int]) -> Iterator[Query]:
        """Ask about some prompts, a batch at a time; the one that they are compared with is encoded first."""
        frozen, task = self.claim.frozen, self.claim.task
        beside = () if sought.beside is None else (sought.beside,)
        for places in self._batches(asked):
            prompts = [task.prompts[place] for place in (*beside, *places)]
            how, until = self.plan.branching, self.plan.until()
            encoding = encode(frozen, task.candidates, sought.circuits, prompts, how, pace=until)
            formulas: dict[SmtFormula, list[int]] = {}
            for place, prompt in enumerate(places, start=len(beside)):
                formulas.setdefault(_formula(sought, encoding, place, prompt), []).append(prompt)
            cases = tuple(self._case(sought, formula, same) for formula, same in formulas.items())
            yield Query(_meaning(*sought.said, _span(places)), encoding.log, cases)

    def _case(self, sought: Sought, formula: SmtFormula, prompts: Sequence[int]) -> QueryCase:
        """Return the case of prompts of one formula, told by the first of them."""
        beside = () if sought.beside is None else (sought.beside,)
        told, covered = (*beside, prompts[0]), frozenset((*beside, *prompts))
        return QueryCase(told, formula, lambda _: self._confirms(sought, prompts[0]), covered)

    def _confirms(self, sought: Sought, prompt: int) -> bool:
        """Say whether a prompt is a solution in exact numbers."""
        first, *second = (self.folded.of(circuit) for circuit in sought.circuits)
        match sought.what:
            case Wrong(wanted):
                return first[prompt].decision != frozenset({wanted[prompt]})
            case Compared() as compared:
                before = first[prompt if sought.beside is None else sought.beside]
                return compared.holds(before, (second[0] if second else first)[prompt])
            case _:
                assert_never(sought.what)

    def _batches(self, places: Sequence[int]) -> list[Sequence[int]]:
        return [places[start : start + self.plan.batch] for start in range(0, len(places), self.plan.batch)]

    def _balls(self, asked: EachBall) -> list[Obligation]:
        """Return for each distinct computation that no perturbation changes or blurs its decision."""
        task, circuit = self.claim.task, self.claim.circuit
        chosen = [task.prompts[place] for place in self.places]
        functions = disturbed_prompts(self.claim.frozen, task.candidates, circuit, chosen, asked.at)
        by_computation: dict[int, tuple[Disturbed, list[int]]] = {}
        for place, prompt in zip(self.places, functions, strict=True):
            by_computation.setdefault(id(prompt), (prompt, []))[1].append(place)
        return [
            Obligation(_span(places), len(places), partial(self._ball, asked, prompt, tuple(places)))
            for prompt, places in by_computation.values()
        ]

    def _ball(self, asked: EachBall, prompt: Disturbed, places: tuple[int, ...]) -> Iterator[Query]:
        ball = encode_ball(prompt, asked.epsilon, self.plan.branching, self.plan.until())
        terms = ball.log.terms
        formula = terms.negation(alike(terms, ball.undisturbed, ball.disturbed))

        def replay(eta: Eta) -> bool:
            before, after = prompt.fold((Fraction(0),) * prompt.variables), prompt.fold(eta)
            is_inside = all(abs(number) <= asked.epsilon for number in eta)
            return is_inside and (before.decision != after.decision or not before.is_clear)

        meaning = _meaning(
            f"loses its clear decision under a perturbation of at most {asked.epsilon} per coordinate at "
            f"the {asked.at}",
            "keeps it under every one",
            _span(places),
        )
        case = QueryCase(places[:1], formula, replay, frozenset(places))
        yield Query(meaning, ball.log, (case,), ball.eta, ball.bounds)


def _formula(sought: Sought, encoding: Encoding, place: int, prompt: int) -> SmtFormula:
    """Return that a prompt is a solution, by its place in the encoding and in the domain."""
    terms = encoding.log.terms
    first, *second = (encoding.logits[circuit] for circuit in sought.circuits)
    match sought.what:
        case Wrong(wanted):
            return terms.negation(clear(terms, first[place], wanted[prompt]))
        case Compared() as compared:
            before = first[place if sought.beside is None else 0]
            return _compared(compared, terms, before, (second[0] if second else first)[place])
        case _:
            assert_never(sought.what)


def _compared(what: Compared, terms: TermTable, before: Sequence[Sum], after: Sequence[Sum]) -> SmtFormula:
    match what:
        case Compared.UNLIKE:
            return unlike(terms, before, after)
        case Compared.NOT_ALIKE:
            return terms.negation(alike(terms, before, after))
        case Compared.CHANGED:
            return changed(terms, before, after)
        case _:
            assert_never(what)


def _meaning(solution: str, none: str, prompts: str) -> QueryMeaning:
    return QueryMeaning(
        f"{prompts}: is there one that {solution}?",
        f"one of {prompts} {solution}",
        f"none does: each of {prompts} {none}",
    )


def _span(places: Sequence[int]) -> str:
    return f"prompt {places[0]}" if len(places) == 1 else f"prompts {', '.join(map(str, places))}"
