"""From a claim's property to what solvers are asked: the negated property per prompt, class or edge."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import zip_longest
from math import inf

from circuitproof.declare.circuits.circuit import Circuit, whole
from circuitproof.declare.circuits.graph import Edge
from circuitproof.declare.tasks.domain import places_of
from circuitproof.errors import NotExactError, UsageError
from circuitproof.prove.balls.disturbed import Disturbed, disturbed_prompts
from circuitproof.prove.claim import Claim
from circuitproof.prove.effort import UNHURRIED, Pace
from circuitproof.prove.fold import Fold, Folded, fold
from circuitproof.prove.inexact import cannot_prove, refuse_enclosing
from circuitproof.prove.properties import (
    Equivalence,
    Faithfulness,
    Invariance,
    Necessity,
    Property,
    Robustness,
)
from circuitproof.solvers.choices import Branching
from circuitproof.solvers.encode import Encoding, encode, encode_ball
from circuitproof.solvers.queries import Case, Eta, Meaning, Obligation, Query, alike, changed, clear, unlike
from circuitproof.solvers.terms import Formula


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


@dataclass(frozen=True, slots=True)
class _Sought:
    """What is looked for among prompts."""

    circuits: tuple[Circuit, ...]
    """Those whose logits it is about."""
    formulate: Callable[[Encoding, int, int], Formula]
    """Says that a prompt is a solution, by its place in the encoding and in the domain."""
    confirm: Callable[[int], bool]
    """Whether that is true in exact numbers, by the prompt's place in the domain."""
    said: tuple[str, str]
    """What a solution does, and what each prompt does where there is none."""
    beside: tuple[int, ...] = ()
    """The prompt that each is compared with, if there is one; it is encoded first."""

    def case(self, formula: Formula, prompts: Sequence[int]) -> Case:
        """Return the case of prompts of one formula, told by the first of them."""
        told, covered = (*self.beside, prompts[0]), frozenset((*self.beside, *prompts))
        return Case(told, formula, lambda _: self.confirm(prompts[0]), covered)


@dataclass(frozen=True)
class Questions:
    """A claim as questions to solvers, and its exact folds, with which solutions are replayed."""

    claim: Claim
    plan: QueryPlan = QueryPlan()

    def obligations(self, prop: Property) -> list[Obligation]:
        refuse_enclosing(self.claim, "solvers compute")
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
                raise UsageError(
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
    def folded(self) -> Folded[Fold]:
        claim = self.claim
        return fold(claim.frozen, claim.task.candidates, claim.circuits(), claim.task.prompts)

    def _equivalence(self) -> list[Obligation]:
        circuit, wanted = self.claim.circuit, self.claim.task.decisions()

        def is_wrong(encoding: Encoding, place: int, prompt: int) -> Formula:
            terms = encoding.log.terms
            return terms.negation(clear(terms, encoding.logits[circuit][place], wanted[prompt]))

        def confirm(prompt: int) -> bool:
            return self.folded.of(circuit)[prompt].decision != frozenset({wanted[prompt]})

        said = ("decides another answer than the right one, or ties", "decides right")
        return self._per_batch(_Sought((circuit,), is_wrong, confirm, said))

    def _faithfulness(self) -> list[Obligation]:
        if (reason := cannot_prove(self.claim, Faithfulness())) is not None:
            raise NotExactError(reason)
        circuit, model = self.claim.circuit, whole(self.claim.frozen.graph)

        def is_unlike(encoding: Encoding, place: int, _: int) -> Formula:
            return unlike(encoding.log.terms, encoding.logits[circuit][place], encoding.logits[model][place])

        def confirm(prompt: int) -> bool:
            return self.folded.of(circuit)[prompt].decision != self.folded.of(model)[prompt].decision

        said = ("is decided otherwise than by the whole model", "is decided like it")
        return self._per_batch(_Sought((circuit, model), is_unlike, confirm, said))

    def _per_batch(self, sought: _Sought) -> list[Obligation]:
        """Return an obligation for each batch of prompts, none of which may be a solution."""
        return [
            Obligation(_span(places), len(places), partial(self._queries, sought, places))
            for places in self._batches(self.places)
        ]

    def _invariant(self, members: Sequence[int]) -> Obligation:
        """Return that all prompts of a class are decided clearly and like its first."""
        circuit, first = self.claim.circuit, members[0]
        asked = [x for x in members[1:] if x in self.places] or [first]

        def is_unlike(encoding: Encoding, place: int, _: int) -> Formula:
            terms, logits = encoding.log.terms, encoding.logits[circuit]
            return terms.negation(alike(terms, logits[0], logits[place]))

        def confirm(prompt: int) -> bool:
            decisions = [self.folded.of(circuit)[x].decision for x in (first, prompt)]
            return decisions[0] != decisions[1] or len(decisions[0]) > 1

        said = (f"is not decided clearly like prompt {first}", "is, clearly")
        sought = _Sought((circuit,), is_unlike, confirm, said, (first,))
        ask, is_whole = partial(self._queries, sought, asked), len(asked) >= len(members) - 1
        return Obligation(f"the class of prompt {first}", 1, ask, is_whole=is_whole)

    def _needed(self, edge: Edge) -> Obligation:
        """Return that some prompt's clear decision changes when an edge is gone."""
        circuit = self.claim.circuit
        lesion = circuit.without(edge)

        def is_changed(encoding: Encoding, place: int, _: int) -> Formula:
            before, after = encoding.logits[circuit][place], encoding.logits[lesion][place]
            return changed(encoding.log.terms, before, after)

        def confirm(prompt: int) -> bool:
            before = self.folded.of(circuit)[prompt]
            return before.is_clear and before.decision != self.folded.of(lesion)[prompt].decision

        said = (
            f"is decided otherwise without {edge}: the edge is needed",
            f"needs {edge}: it is not needed there",
        )
        sought = _Sought((circuit, lesion), is_changed, confirm, said)
        ask = partial(self._queries, sought, self._mixed_places)
        is_whole = len(self.places) == self.claim.task.size
        return Obligation(str(edge), 1, ask, wants_witness=True, is_whole=is_whole)

    def _queries(self, sought: _Sought, asked: Sequence[int]) -> Iterator[Query]:
        """Ask about some prompts, a batch at a time."""
        frozen, task = self.claim.frozen, self.claim.task
        for places in self._batches(asked):
            prompts = [task.prompts[place] for place in (*sought.beside, *places)]
            how, until = self.plan.branching, self.plan.until()
            encoding = encode(frozen, task.candidates, sought.circuits, prompts, how, pace=until)
            formulas: dict[Formula, list[int]] = {}
            for place, prompt in enumerate(places, start=len(sought.beside)):
                formulas.setdefault(sought.formulate(encoding, place, prompt), []).append(prompt)
            cases = tuple(sought.case(formula, same) for formula, same in formulas.items())
            yield Query(_meaning(*sought.said, _span(places)), encoding.log, cases)

    def _batches(self, places: Sequence[int]) -> list[Sequence[int]]:
        return [places[start : start + self.plan.batch] for start in range(0, len(places), self.plan.batch)]

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
        ball = encode_ball(prompt, prop.epsilon, self.plan.branching, self.plan.until())
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


def _meaning(solution: str, none: str, prompts: str) -> Meaning:
    return Meaning(
        f"{prompts}: is there one that {solution}?",
        f"one of {prompts} {solution}",
        f"none does: each of {prompts} {none}",
    )


def _span(places: Sequence[int]) -> str:
    return f"prompt {places[0]}" if len(places) == 1 else f"prompts {', '.join(map(str, places))}"
