"""Who answers a claim, and how queries are put: choices that the command line offers."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class SolverName(StrEnum):
    """The solvers we can ask."""

    Z3 = "z3"
    CVC5 = "cvc5"


class Engine(StrEnum):
    """Who answers."""

    EXACT = "exact"
    """Exact arithmetic, with evidence that anyone can check."""
    Z3 = "z3"
    CVC5 = "cvc5"
    ALL = "all"
    """All of them, compared."""

    @property
    def solvers(self) -> tuple[SolverName, ...]:
        if self is Engine.ALL:
            return tuple(SolverName)
        return () if self is Engine.EXACT else (SolverName(self.value),)

    @property
    def is_exact(self) -> bool:
        return self in (Engine.EXACT, Engine.ALL)


class Branching(StrEnum):
    """Whether a query keeps every branch of the piecewise operators."""

    KEPT = "kept"
    """Every branch; a solver finds which are taken."""
    TRACED = "traced"
    """The branches that the exact engine took, asserted as conditions: a certificate to be checked first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How solvers are asked."""

    engine: Engine
    branching: Branching = Branching.KEPT
    anchors: int | None = None
    """How many prompts are asked about; all unless told."""
    seconds: float = 60.0
    """How long a solver may take for a query."""
    reproduction: Path = Path("disagreement.smt2")
    """Where the smallest query of a contradiction is written."""
