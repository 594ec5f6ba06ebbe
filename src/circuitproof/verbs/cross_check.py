"""The same claim through several engines: who decided what in how long, and no contradiction passes."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from circuitproof.bundle.files import write_bundle
from circuitproof.errors import OverdueError, UsageError, keeping
from circuitproof.files.canonical import Json, refuse_existing, write_directory, write_file
from circuitproof.files.codec import record_to_json
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.counterexamples import Counterexample, counterexample, replayed
from circuitproof.proof.effort import UNHURRIED, Pace
from circuitproof.proof.properties.property import Property
from circuitproof.proof.verdict import Answer, Battery, Verdict, worst
from circuitproof.solvers.choices import Asking
from circuitproof.solvers.compare import refuse_conflict
from circuitproof.solvers.find import find_solver
from circuitproof.solvers.obligations import QueryPlan, Questions
from circuitproof.solvers.rulings import DisagreementError, Portfolio, Ruling, Solution, SolverAnswers
from circuitproof.solvers.smtlib import query_text
from circuitproof.verbs.counterexamples import decided_to_json
from circuitproof.verbs.verification import Request, listed_claim_of


@dataclass(frozen=True, slots=True)
class ComparedProperty:
    """A property, the exact answer to it if that was asked for, and what solvers make of it."""

    prop: Property
    answer: Answer | None
    solver_answers: SolverAnswers

    @property
    def verdict(self) -> Verdict:
        """Return what is decided by any engine; those that decide agree."""
        verdicts = (one.verdict for one in (self.answer, *self.solver_answers.rulings) if one is not None)
        return next((one for one in verdicts if one is not Verdict.UNDECIDED), Verdict.UNDECIDED)

    def to_json(self, claim: Claim) -> Json:
        return {
            "property": self.prop.to_json(),
            "verdict": str(self.verdict),
            "exact": None if self.answer is None else str(self.answer.verdict),
            "remarks": [] if self.answer is None else [str(remark) for remark in self.answer.remarks],
            "cost": self.solver_answers.cost.to_json(),
            "solvers": [_ruling_to_json(claim, ruling) for ruling in self.solver_answers.rulings],
        }


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """A claim, what each engine makes of each property, and how long the exact engine took for all."""

    claim: Claim
    compared: tuple[ComparedProperty, ...]
    exact_seconds: float | None

    def counterexamples(self) -> Iterator[Counterexample]:
        """Return what refutes each refuted property: the exact engine's, or else a solver's first."""
        for one in self.compared:
            known = None if one.answer is None else counterexample(self.claim, one.answer)
            refuting = [ruling for ruling in one.solver_answers.rulings if ruling.verdict is Verdict.REFUTED]
            solutions = [solution for ruling in refuting for solution in ruling.solutions]
            if known is not None:
                yield known
            elif solutions and not one.prop.wants_witnesses:
                yield seen_by(self.claim, one.prop, solutions[0])

    @property
    def verdict(self) -> Verdict:
        """Return the verdict on the whole claim: one refutation refutes, all proofs prove."""
        return worst([one.verdict for one in self.compared])

    def to_json(self) -> Json:
        return {
            "verdict": str(self.verdict),
            "task": self.claim.task.name,
            "declaration": str(self.claim.task.digest),
            "edges": len(self.claim.circuit),
            "granularity": str(self.claim.circuit.graph.granularity),
            "ablation": self.claim.circuit.ablation.name,
            "prompts": self.claim.task.size,
            "exact_seconds": self.exact_seconds,
            "answers": [one.to_json(self.claim) for one in self.compared],
        }


def cross_check(request: Request, asking: Asking, out: Path | None) -> CrossCheck:
    """Answer a claim by the engines asked for; a contradiction is an error that leaves its query behind."""
    if out is not None and not asking.engine.is_exact:
        raise UsageError("a solver's answer is no evidence that anyone can check; use exact or all")
    refuse_existing(out, asking.reproduction)
    for name in asking.engine.solvers:
        find_solver(name)
    claim = listed_claim_of(request)
    begin = time.perf_counter()
    battery = prove(claim, request.effort) if asking.engine.is_exact else None
    seconds = None if battery is None else time.perf_counter() - begin
    try:
        found = compare(claim, battery, asking, request.effort.pace)
    except DisagreementError as error:
        write_file(asking.reproduction, error.reproduction.encode())
        raise DisagreementError(
            f"engines disagree: {error}; {asking.reproduction} holds the smallest query that shows it",
            error.reproduction,
        ) from error
    checked = CrossCheck(claim, found, seconds)
    if out is not None and battery is not None:
        with keeping(checked):
            write_bundle(out, battery, is_detached=request.is_detached)
    return checked


def compare(
    claim: Claim, battery: Battery | None, asking: Asking, pace: Pace = UNHURRIED
) -> tuple[ComparedProperty, ...]:
    """Put every property of a claim to solvers, and compare with the exact answers if there are any."""
    plan = QueryPlan(asking.branching, anchors=asking.anchors, seconds=asking.seconds, pace=pace)
    questions = Questions(claim, plan)
    portfolio = Portfolio(tuple(map(find_solver, asking.engine.solvers)), asking.seconds, pace)
    answers = [None] * len(claim.properties) if battery is None else battery.answers
    found: list[ComparedProperty] = []
    for prop, answer in zip(claim.properties, answers, strict=True):
        solver_answers = portfolio.hear(prop, questions.obligations(prop), prop.obligations(claim))
        if answer is not None:
            refuse_conflict(questions, answer, solver_answers.rulings)
        found.append(ComparedProperty(prop, answer, solver_answers))
    return tuple(found)


def write_queries(request: Request, asking: Asking, out: Path) -> int:
    """Write every query of a claim as an SMT-LIB file, and return how many there are."""
    claim = listed_claim_of(request)
    questions = Questions(claim, QueryPlan(asking.branching, anchors=asking.anchors))
    written: list[Path] = []

    def fill(folder: Path) -> None:
        for prop in claim.properties:
            obligations = request.effort.pace.each(f"parts of {prop.kind}", questions.obligations(prop))
            queries = (query for one in obligations for query in one.queries())
            for number, query in enumerate(queries):
                if request.effort.pace.is_over:
                    raise OverdueError(
                        f"the work was ended after {len(written)} queries; nothing is written, since some of "
                        "the queries of a claim say nothing about it: give more time"
                    )
                written.append(folder / f"{prop.kind.replace(' ', '-')}-{number:04}.smt2")
                written[-1].write_text(query_text(query))

    write_directory(out, fill)
    return len(written)


def seen_by(claim: Claim, prop: Property, found: Solution) -> Counterexample:
    """Return what a solver found, replayed exactly."""
    return replayed(claim, prop, [claim.task.prompts[x] for x in found.prompts], found.eta)


def _ruling_to_json(claim: Claim, ruling: Ruling) -> Json:
    return {
        "solver": ruling.solver,
        "verdict": str(ruling.verdict),
        "obligations": ruling.obligations,
        "met": ruling.met,
        "open": list(ruling.open),
        "seconds": ruling.seconds,
        "solutions": [
            {
                **record_to_json(one),
                "seen": [
                    decided_to_json(claim.task, seen) for seen in seen_by(claim, ruling.prop, one).prompts
                ],
            }
            for one in ruling.solutions
        ],
    }
