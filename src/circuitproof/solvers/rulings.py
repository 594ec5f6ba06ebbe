"""Putting obligations to solvers: every solution is replayed exactly, every silence is counted as open."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import assert_never

from circuitproof.errors import CircuitproofError, OverdueError
from circuitproof.proof.effort import UNHURRIED, Pace
from circuitproof.proof.properties.property import Property
from circuitproof.proof.verdict import Verdict
from circuitproof.solvers.cost import AssertionTally, tally
from circuitproof.solvers.queries import Eta, Obligation, Query, QueryCase
from circuitproof.solvers.results import Failed, Result, Satisfiable, Solver, Unknown, Unsatisfiable
from circuitproof.solvers.smtlib import certificate_text, query_text, stability_text

_LEAST = 0.001
"""The seconds that a solver has at least."""


class DisagreementError(CircuitproofError):
    """Two engines contradict each other, or a solution is none: one is wrong, and nothing is decided."""

    def __init__(self, sentence: str, reproduction: str) -> None:
        super().__init__(sentence)
        self.reproduction = reproduction
        """The smallest query that shows it, as SMT-LIB text."""


@dataclass(frozen=True, slots=True)
class Solution:
    """Prompts, and a perturbation if there is one, that a solver found and exact numbers confirm."""

    obligation: str
    prompts: tuple[int, ...]
    eta: Eta


@dataclass(slots=True)
class Ruling:
    """What one solver makes of a property, counted up while it is asked."""

    prop: Property
    solver: str
    obligations: int
    met: int = 0
    refuted: int = 0
    """How many parts of the property fail; a part may stand for several prompts."""
    open: list[str] = field(default_factory=list[str])
    """What is left open, and why."""
    solutions: list[Solution] = field(default_factory=list[Solution])
    """Counterexamples, or the witnesses of edges."""
    seconds: float = 0.0

    @property
    def verdict(self) -> Verdict:
        """Return the verdict: earned by counting, never by silence."""
        if self.refuted:
            return Verdict.REFUTED
        is_proved = self.obligations > 0 and self.met == self.obligations and not self.open
        return Verdict.PROVED if is_proved else Verdict.UNDECIDED


@dataclass(frozen=True, slots=True)
class SolverAnswers:
    """The rulings of all solvers on a property, and what asking cost."""

    rulings: tuple[Ruling, ...]
    cost: AssertionTally


@dataclass(frozen=True, slots=True)
class Portfolio:
    """Solvers, how many seconds each has for a query, and until when they are asked."""

    solvers: tuple[Solver, ...]
    seconds: float = 60.0
    pace: Pace = UNHURRIED

    def hear(self, prop: Property, obligations: Sequence[Obligation], count: int) -> SolverAnswers:
        """Put every obligation of a property to every solver; `count` is how many the property has."""
        rulings = tuple(Ruling(prop, solver.name, count) for solver in self.solvers)
        cost, asked = AssertionTally(), 0
        for obligation in self.pace.steps(f"parts of {prop.kind}", obligations):
            cost += self._settle(obligation, rulings)
            asked += obligation.size
        for ruling in rulings if asked < count else ():
            ruling.open.append(f"{count - asked} of {count} obligations were not asked about")
        return SolverAnswers(rulings, cost)

    def _settle(self, obligation: Obligation, rulings: Sequence[Ruling]) -> AssertionTally:
        """Ask an obligation's queries until every solver has settled it, and count that."""
        cost, begin = AssertionTally(), time.perf_counter()
        waiting = {ruling.solver: ruling for ruling in rulings}
        gaps: dict[str, str] = {}
        for query in _written(obligation):
            if self.pace.is_over or query is None:
                why = "the work was ended first" if self.pace.is_over else "its query took too long to write"
                gaps |= dict.fromkeys(waiting, f"{obligation.name}: {why}")
                break
            text = query_text(query)
            cost += tally(query, time.perf_counter() - begin)
            for name, result in self._ask(query, text, waiting).items():
                if isinstance(result, Satisfiable):
                    ruling = waiting.pop(name)
                    _count_solution(obligation, query, result, ruling)
                elif isinstance(result, Unknown | Failed):
                    gaps.setdefault(name, f"{obligation.name}: {result.reason}")
            begin = time.perf_counter()
            if not waiting:
                break
        for name, ruling in waiting.items():
            _count_silence(obligation, gaps.get(name), ruling)
        return cost

    def _ask(self, query: Query, text: str, waiting: dict[str, Ruling]) -> dict[str, Result]:
        """Return each waiting solver's answer to a query, and refuse contradictions."""
        results: dict[str, Result] = {}
        for solver in self.solvers:
            if solver.name in waiting:
                begin = time.perf_counter()
                results[solver.name] = self._answer(solver, query, text)
                waiting[solver.name].seconds += time.perf_counter() - begin
        refuse_contradiction(query, results)
        return results

    def _answer(self, solver: Solver, query: Query, text: str) -> Result:
        """Return a solver's answer; of a query that follows a trace, only if the trace is a certificate."""
        if query.has_conditions:
            fits = solver.solve(certificate_text(query), (), self._seconds)
            if isinstance(fits, Unsatisfiable):
                raise DisagreementError(
                    f"{query.meaning.title}: {solver.name} finds that the traced branches contradict "
                    "the circuit",
                    certificate_text(query),
                )
            if not isinstance(fits, Satisfiable):
                return fits
            if query.eta and (unstable := self._instability(solver, query)) is not None:
                return unstable
        wanted = [one.name for one in (*query.selectors, *query.eta)]
        return solver.solve(text, wanted, self._seconds)

    @property
    def _seconds(self) -> float:
        """Return what a solver has for a query now; never nothing, which some take for no limit."""
        return max(min(self.seconds, self.pace.left), _LEAST)

    def _instability(self, solver: Solver, query: Query) -> Result | None:
        """Return why a traced proof says nothing about a ball, unless the branches hold all over it."""
        found = solver.solve(stability_text(query), (), self._seconds)
        match found:
            case Unsatisfiable():
                return None
            case Satisfiable():
                return Unknown("branch unstable: some perturbation leaves the traced branches")
            case Unknown() | Failed():
                return found
            case _:
                assert_never(found)


def _written(obligation: Obligation) -> Iterator[Query | None]:
    """Return the queries of an obligation, and nothing in the place of one that there is no time to write."""
    try:
        yield from obligation.queries()
    except OverdueError:
        yield None


def refuse_contradiction(query: Query, results: dict[str, Result]) -> None:
    """Refuse a solution of one solver where another finds none; the query is narrowed to that solution."""
    found = [(name, result) for name, result in results.items() if isinstance(result, Satisfiable)]
    none = [name for name, result in results.items() if isinstance(result, Unsatisfiable)]
    if found and none:
        name, result = found[0]
        case = _chosen(query, result)
        raise DisagreementError(
            f"{query.meaning.title}: {name} has a solution, {none[0]} says that there is none",
            query_text(query if case is None else query.narrowed(case.prompts)),
        )


def _count_solution(obligation: Obligation, query: Query, result: Satisfiable, ruling: Ruling) -> None:
    """Replay a solution exactly and count it; one that cannot be read off leaves the obligation open."""
    case = _chosen(query, result)
    eta = tuple(result.values.get(one.name) for one in query.eta)
    if case is None or None in eta:
        ruling.open.append(f"{obligation.name}: the solution has a value that is no rational number")
        return
    point = tuple(Fraction(number) for number in eta if number is not None)
    if not case.replay(point):
        raise DisagreementError(
            f"{query.meaning.title}: the solution of {ruling.solver} at prompt {case.prompts} is none in "
            "exact numbers",
            query_text(query.narrowed(case.prompts)),
        )
    ruling.solutions.append(Solution(obligation.name, case.prompts, point))
    if obligation.wants_witness:
        ruling.met += obligation.size
    else:
        ruling.refuted += 1


def _count_silence(obligation: Obligation, gap: str | None, ruling: Ruling) -> None:
    """Count an obligation for which no query had a solution."""
    if gap is not None:
        ruling.open.append(gap)
    elif not obligation.is_whole:
        ruling.open.append(f"{obligation.name}: not all of its prompts were asked about")
    elif obligation.wants_witness:
        ruling.refuted += 1
    else:
        ruling.met += obligation.size


def _chosen(query: Query, result: Satisfiable) -> QueryCase | None:
    pairs = zip(query.selectors, query.cases, strict=True)
    return next((case for selector, case in pairs if result.values.get(selector.name) is True), None)
