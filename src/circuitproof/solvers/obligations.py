"""From a claim's property to what solvers are asked: the negated property per prompt, class or edge."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import zip_longest
from typing import TypeAlias, TypeVar

from circuitproof.declare.circuits.circuit import Circuit, whole
from circuitproof.declare.circuits.graph import Edge
from circuitproof.declare.tasks.domain import places_of
from circuitproof.errors import InputError, NotExactError
from circuitproof.prove.balls.disturbed import Disturbed, disturbed_prompts
from circuitproof.prove.claim import Claim
from circuitproof.prove.fold import Folded, fold
from circuitproof.prove.properties import (
    Equivalence,
    Faithfulness,
    Invariance,
    Necessity,
    Property,
    Robustness,
)
from circuitproof.solvers.choices import Branching
from circuitproof.solvers.encode import Encoding, Model, encode, encode_ball
from circuitproof.solvers.queries import Case, Eta, Meaning, Obligation, Query, alike, changed, clear, unlike
from circuitproof.solvers.terms import Formula

Item = TypeVar("Item")
Confirm: TypeAlias = Callable[[int], bool]
"""Whether that formula's sentence is true of a prompt in exact numbers, by its place in the domain."""


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """How a property is put to solvers."""

    branching: Branching = Branching.KEPT
    batch: int = 4
    """How many prompts one query asks about; a query about perturbations asks about one."""
    anchors: int | None = None
    """How many prompts are asked about, spread over the answers; all of them unless told."""


@dataclass(frozen=True)
class Questions:
    """A claim as questions to solvers, and its exact folds, with which solutions are replayed."""

    claim: Claim
    plan: QueryPlan = QueryPlan()

    def obligations(self, prop: Property) -> list[Obligation]:
        match prop:
            case Equivalence():
                return self._equivalence()
            case Invariance():
                return [self._invariant(members) for members in self.claim.task.classes()]
            case Necessity():
                return [self._needed(edge) for edge in self.claim.circuit]
            case Robustness():
                return self._robustness(prop)
            case Faithfulness():
                return self._faithfulness()
            case _:
                raise InputError(
                    f"{prop.kind} is not asked of solvers; want equivalence, invariance, necessity, "
                    "robustness or faithfulness, or the exact engine"
                )

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
    def folded(self) -> Folded:
        claim = self.claim
        return fold(claim.frozen, claim.task.candidates, claim.circuits(), claim.task.prompts)

    def _encode(self, circuits: Sequence[Circuit], places: Sequence[int]) -> Encoding:
        claim = self.claim
        model = Model(claim.frozen, claim.task.candidates, self.plan.branching)
        return encode(model, circuits, [claim.task.prompts[place] for place in places])

    def _equivalence(self) -> list[Obligation]:
        task, circuit = self.claim.task, self.claim.circuit
        wanted = task.decisions()

        def is_wrong(encoding: Encoding, place: int, prompt: int) -> Formula:
            terms = encoding.log.terms
            return terms.negation(clear(terms, encoding.logits[circuit][place], wanted[prompt]))

        def confirm(prompt: int) -> bool:
            return self.folded.of(circuit)[prompt].decision != frozenset({wanted[prompt]})

        meaning = partial(_meaning, "decides another answer than the right one, or ties", "decides right")
        return self._per_batch((circuit,), is_wrong, confirm, meaning)

    def _faithfulness(self) -> list[Obligation]:
        if (operator := self.claim.frozen.declaration.inexact_operator) is not None:
            raise NotExactError(f"the whole model uses {operator}, which has no exact value")
        circuit, model = self.claim.circuit, whole(self.claim.frozen.graph)

        def is_unlike(encoding: Encoding, place: int, _: int) -> Formula:
            return unlike(encoding.log.terms, encoding.logits[circuit][place], encoding.logits[model][place])

        def confirm(prompt: int) -> bool:
            return self.folded.of(circuit)[prompt].decision != self.folded.of(model)[prompt].decision

        meaning = partial(_meaning, "is decided otherwise than by the whole model", "is decided like it")
        return self._per_batch((circuit, model), is_unlike, confirm, meaning)

    def _per_batch(
        self,
        circuits: Sequence[Circuit],
        formulate: Callable[[Encoding, int, int], Formula],
        confirm: Confirm,
        meaning: Callable[[str], Meaning],
    ) -> list[Obligation]:
        """Return an obligation for each batch of prompts, none of which may be a solution."""

        def ask(places: Sequence[int]) -> Iterator[Query]:
            encoding = self._encode(circuits, places)
            formulas = [(x, formulate(encoding, place, x)) for place, x in enumerate(places)]
            yield Query(meaning(_span(places)), encoding.log, _cases(formulas, confirm))

        return [
            Obligation(_span(places), len(places), partial(ask, places))
            for places in _batches(self.places, self.plan.batch)
        ]

    def _invariant(self, members: Sequence[int]) -> Obligation:
        """Return that all prompts of a class are decided clearly and like its first."""
        circuit, first = self.claim.circuit, members[0]
        asked = [x for x in members[1:] if x in self.places] or [first]

        def confirm(prompt: int) -> bool:
            decisions = [self.folded.of(circuit)[x].decision for x in (first, prompt)]
            return decisions[0] != decisions[1] or len(decisions[0]) > 1

        def ask() -> Iterator[Query]:
            for places in _batches(asked, self.plan.batch):
                encoding = self._encode((circuit,), (first, *places))
                terms, logits = encoding.log.terms, encoding.logits[circuit]
                formulas = [
                    (x, terms.negation(alike(terms, logits[0], logits[place])))
                    for place, x in enumerate(places, start=1)
                ]
                meaning = _meaning(
                    f"is not decided clearly like prompt {first}", "is, clearly", _span(places)
                )
                yield Query(meaning, encoding.log, _cases(formulas, confirm, first))

        is_whole = len(asked) >= len(members) - 1
        return Obligation(f"the class of prompt {first}", 1, ask, is_whole=is_whole)

    def _needed(self, edge: Edge) -> Obligation:
        """Return that some prompt's clear decision changes when an edge is gone."""
        circuit = self.claim.circuit
        lesion = circuit.without(edge)

        def confirm(prompt: int) -> bool:
            before = self.folded.of(circuit)[prompt]
            return before.is_clear and before.decision != self.folded.of(lesion)[prompt].decision

        def ask() -> Iterator[Query]:
            for places in _batches(self._mixed_places, self.plan.batch):
                encoding = self._encode((circuit, lesion), places)
                pairs = zip(encoding.logits[circuit], encoding.logits[lesion], strict=True)
                formulas = [changed(encoding.log.terms, *pair) for pair in pairs]
                meaning = _meaning(
                    f"is decided otherwise without {edge}: the edge is needed",
                    f"needs {edge}: it is not needed there",
                    _span(places),
                )
                cases = _cases(list(zip(places, formulas, strict=True)), confirm)
                yield Query(meaning, encoding.log, cases)

        is_whole = len(self.places) == self.claim.task.size
        return Obligation(str(edge), 1, ask, wants_witness=True, is_whole=is_whole)

    def _robustness(self, prop: Robustness) -> list[Obligation]:
        """Return for each distinct computation that no perturbation changes or blurs its decision."""
        task, circuit = self.claim.task, self.claim.circuit
        chosen = [task.prompts[place] for place in self.places]
        functions = disturbed_prompts(self.claim.frozen, task.candidates, circuit, chosen, prop.at)
        by_computation: dict[int, tuple[Disturbed, list[int]]] = {}
        for place, prompt in zip(self.places, functions, strict=True):
            by_computation.setdefault(id(prompt), (prompt, []))[1].append(place)
        return [
            Obligation(_span(places), len(places), partial(self._ball, prop, prompt, tuple(places)))
            for prompt, places in by_computation.values()
        ]

    def _ball(self, prop: Robustness, prompt: Disturbed, places: tuple[int, ...]) -> Iterator[Query]:
        ball = encode_ball(prompt, prop.epsilon, self.plan.branching)
        terms = ball.log.terms
        formula = terms.negation(alike(terms, ball.undisturbed, ball.disturbed))

        def replay(eta: Eta) -> bool:
            before, after = prompt.fold((Fraction(0),) * prompt.variables), prompt.fold(eta)
            is_inside = all(abs(number) <= prop.epsilon for number in eta)
            return is_inside and (before.decision != after.decision or not before.is_clear)

        meaning = _meaning(
            f"loses its clear decision under a perturbation of at most {prop.epsilon} per coordinate at "
            f"the {prop.at}",
            "keeps it under every one",
            _span(places),
        )
        case = Case(places[:1], formula, replay, frozenset(places))
        yield Query(meaning, ball.log, (case,), ball.eta, ball.bounds)


def _cases(
    formulas: Sequence[tuple[int, Formula]], confirm: Confirm, beside: int | None = None
) -> tuple[Case, ...]:
    """Return a case per distinct formula, told by its first prompt, with the prompt beside it if any."""
    by_formula: dict[Formula, list[int]] = {}
    for prompt, formula in formulas:
        by_formula.setdefault(formula, []).append(prompt)
    return tuple(
        Case(
            (prompts[0],) if beside is None else (beside, prompts[0]),
            formula,
            partial(_confirmed, confirm, prompts[0]),
            frozenset(prompts if beside is None else (beside, *prompts)),
        )
        for formula, prompts in by_formula.items()
    )


def _confirmed(confirm: Confirm, prompt: int, _: Eta) -> bool:
    return confirm(prompt)


def _meaning(solution: str, none: str, prompts: str) -> Meaning:
    return Meaning(
        f"{prompts}: is there one that {solution}?",
        f"one of {prompts} {solution}",
        f"none does: each of {prompts} {none}",
    )


def _span(places: Sequence[int]) -> str:
    return f"prompt {places[0]}" if len(places) == 1 else f"prompts {', '.join(map(str, places))}"


def _batches(items: Sequence[Item], size: int) -> list[Sequence[Item]]:
    return [items[start : start + size] for start in range(0, len(items), size)]
