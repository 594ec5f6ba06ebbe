"""What an encoding costs: assertions by where they come from, products, branches and norms, counted."""

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from fractions import Fraction

from circuitproof.files.canonical import Json
from circuitproof.files.codec import record_to_json
from circuitproof.solvers.assertions import AssertionSource
from circuitproof.solvers.queries import Obligation, Query
from circuitproof.solvers.smtlib import query_text
from circuitproof.solvers.terms import Conditional, VariableProduct, parts_of


@dataclass(frozen=True, slots=True)
class AssertionTally:
    """What some queries assert, added up query by query."""

    assertions: Counter[AssertionSource] = field(default_factory=Counter[AssertionSource])
    products: int = 0
    """Distinct products of two unknowns: what makes a query nonlinear."""
    branches: int = 0
    """Distinct conditions of choices, and traced conditions: what a solver splits on or is told."""
    norms: int = 0
    """Norms applied to rows that are not known beforehand."""
    queries: int = 0
    encode_seconds: float = 0.0

    @property
    def total(self) -> int:
        return sum(self.assertions.values())

    @property
    def per_norm(self) -> Fraction | None:
        """Return the assertions about norms per norm, where there is any."""
        return Fraction(self.assertions[AssertionSource.NORM], self.norms) if self.norms else None

    def __add__(self, other: "AssertionTally") -> "AssertionTally":
        """Return what both assert, number by number."""
        return AssertionTally(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    def to_json(self) -> dict[str, Json]:
        assertions: Json = {str(source): self.assertions[source] for source in AssertionSource}
        return {**record_to_json(self), "assertions": assertions, "total": self.total}


def tally(query: Query, encode_seconds: float) -> AssertionTally:
    assertions = (*query.premises, query.goal)
    parts = {part for assertion in assertions for part in parts_of(assertion.formula)}
    return AssertionTally(
        Counter(assertion.source for assertion in assertions),
        products=sum(isinstance(part, VariableProduct) for part in parts),
        branches=len({part.condition for part in parts if isinstance(part, Conditional)})
        + sum(assertion.is_condition for assertion in assertions),
        norms=sum(group.source is AssertionSource.NORM for group in query.groups),
        queries=1,
        encode_seconds=encode_seconds,
    )


def account(obligations: Iterable[Obligation]) -> AssertionTally:
    """Return what it takes to ask all obligations, of a witness only up to the first query that has one."""
    total = AssertionTally()
    for obligation in obligations:
        begin = time.perf_counter()
        for query in obligation.queries():
            query_text(query)
            total += tally(query, time.perf_counter() - begin)
            if obligation.wants_witness and any(case.replay(()) for case in query.cases):
                break
            begin = time.perf_counter()
    return total
