"""What verification costs, by architecture: the table that may be compared, and only as far as it may.

Totals are compared only between circuits of the same topology; everything else is per edge. The counts are
of queries about one prompt each, as the paper counts: what several queries assert is counted several times.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from pathlib import Path

from circuitproof.circuits.circuit import Circuit
from circuitproof.errors import OverdueError, UsageError
from circuitproof.files.canonical import Json
from circuitproof.files.codec import record_to_json
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.effort import UNHURRIED, Effort, Pace
from circuitproof.proof.properties.catalogue import four_properties
from circuitproof.proof.properties.property import Property
from circuitproof.proof.verdict import Verdict
from circuitproof.solvers.choices import Asking
from circuitproof.solvers.cost import AssertionTally, account
from circuitproof.solvers.find import find_solver
from circuitproof.solvers.obligations import QueryPlan, Questions
from circuitproof.solvers.rulings import Portfolio, Ruling
from circuitproof.verbs.verification import Request, listed_claim_of


class CircuitKind(StrEnum):
    """What sort of circuit an encoding is of."""

    BAND_NORM = "BandNorm"
    NORM_FREE = "norm-free"
    PROGRAMS = "program-mediated"
    """Norm-free, and no kept head has products of queries and keys."""


PAPER_PER_EDGE = {CircuitKind.BAND_NORM: 113_000, CircuitKind.NORM_FREE: 66_000, CircuitKind.PROGRAMS: 31_000}
"""The paper's assertions per edge, quotes: the first two on one topology of five edges."""


@dataclass(frozen=True, slots=True)
class Account:
    """What the four properties of a circuit cost, and what solvers made of them."""

    model: Path
    circuit: Circuit
    variant: CircuitKind
    verdict: Verdict
    """What the exact engine says of the four properties on all prompts."""
    tallies: tuple[tuple[Property, AssertionTally], ...]
    rulings: tuple[Ruling, ...]

    @property
    def total(self) -> AssertionTally:
        """Return the cost of all properties together."""
        return sum((one for _, one in self.tallies), AssertionTally())

    @property
    def per_edge(self) -> Fraction:
        """Return the assertions per kept edge."""
        return Fraction(self.total.total, len(self.circuit))

    def seconds(self) -> dict[str, float]:
        """Return how long each solver took for all properties."""
        names = dict.fromkeys(ruling.solver for ruling in self.rulings)
        return {name: sum(one.seconds for one in self.rulings if one.solver == name) for name in names}

    def to_json(self) -> dict[str, Json]:
        return {
            "model": str(self.model),
            "variant": str(self.variant),
            "verdict": str(self.verdict),
            "edges": len(self.circuit),
            "topology": str(self.circuit.digest),
            "assertions_per_edge": float(self.per_edge),
            "paper_per_edge": PAPER_PER_EDGE[self.variant],
            "total": self.total.to_json(),
            "properties": {str(prop.kind): one.to_json() for prop, one in self.tallies},
            "solve_seconds": dict(self.seconds()),
            "verdicts": [[one.solver, str(one.prop.kind), str(one.verdict)] for one in self.rulings],
        }


@dataclass(frozen=True, slots=True)
class Costs:
    """Accounts beside each other."""

    accounts: tuple[Account, ...]
    overdue: tuple[Path, ...] = ()
    """The models that there was no time for."""

    @property
    def is_matched(self) -> bool:
        """Say whether all circuits have the same topology, so that totals may be compared."""
        return len({account.circuit for account in self.accounts}) == 1

    def to_json(self) -> Json:
        return {"matched": self.is_matched, **record_to_json(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRequest:
    """Which circuits of which models are counted, and how they are encoded."""

    models: tuple[Path, ...]
    circuits: tuple[Path, ...]
    """One for each model, or one for all of them."""
    task: str
    epsilon: Fraction
    asking: Asking
    """Whether solvers answer as well; with the exact engine, queries are only counted."""
    pace: Pace = UNHURRIED


def count_costs(request: CostRequest) -> Costs:
    """Count what the four properties assert for each model, and let solvers answer if they are asked."""
    if len(request.circuits) not in (1, len(request.models)):
        raise UsageError(
            f"{len(request.circuits)} circuits for {len(request.models)} models; give one for all or one each"
        )
    circuits = request.circuits * (len(request.models) if len(request.circuits) == 1 else 1)
    pairs = zip(request.models, circuits, strict=True)
    found = [(model, _account(model, circuit, request)) for model, circuit in pairs]
    accounts = tuple(one for _, one in found if one is not None)
    if not accounts:
        raise OverdueError("the work was ended before all that a circuit asserts was counted: give more time")
    return Costs(accounts, tuple(model for model, one in found if one is None))


def _account(model: Path, circuit: Path, request: CostRequest) -> Account | None:
    """Count for one model; nothing if there was no time for all of it, since a part would mislead."""
    properties, asking = four_properties(request.epsilon), request.asking
    claim = listed_claim_of(Request(model=model, circuit=circuit, task=request.task, properties=properties))
    portfolio = Portfolio(tuple(map(find_solver, asking.engine.solvers)), asking.seconds, request.pace)
    plan = QueryPlan(asking.branching, batch=1, anchors=asking.anchors)
    if portfolio.solvers:
        plan = replace(plan, seconds=asking.seconds, pace=request.pace)
    questions = Questions(claim, plan)
    tallies, rulings = list[tuple[Property, AssertionTally]](), list[Ruling]()
    for prop in properties:
        obligations = questions.obligations(prop)
        if portfolio.solvers:
            solver_answers = portfolio.hear(prop, obligations, prop.obligations(claim))
            rulings.extend(solver_answers.rulings)
            tallies.append((prop, solver_answers.cost))
        else:
            tallies.append((prop, account(request.pace.steps(f"parts of {prop.kind}", obligations))))
    verdict = prove(claim, Effort(pace=request.pace)).verdict
    if request.pace.is_over:
        return None
    return Account(model, claim.circuit, _variant(claim), verdict, tuple(tallies), tuple(rulings))


def _variant(claim: Claim) -> CircuitKind:
    if claim.frozen.architecture.has_norm:  # of those, only BandNorm can be asked about
        return CircuitKind.BAND_NORM
    is_mediated = all(head in claim.frozen.programs for head in claim.circuit.live().heads())
    return CircuitKind.PROGRAMS if is_mediated else CircuitKind.NORM_FREE


def explain(costs: Costs) -> Sequence[str]:
    """Say how far the figures may be compared with each other and with the paper's."""
    topology = (
        "one topology: totals may be compared"
        if costs.is_matched
        else "topologies differ: only what is per edge may be compared, and no totals are shown"
    )
    counted = (
        "the records of the paper's release count conditions of branches, on all 128 prompts and at every "
        "position; we give every number that the decision at the last position reads its own equation, once "
        "per prompt and query, so the sizes are not to be compared"
    )
    unproved = [
        f"{one.model.name} is {one.verdict} on these edges: searches for witnesses that are not there count "
        "in full, so compare it with nothing"
        for one in costs.accounts
        if one.verdict is not Verdict.PROVED
    ]
    return topology, counted, *unproved
