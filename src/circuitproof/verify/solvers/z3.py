"""Z3, behind one file."""

# The package has no types.
# pyright: basic
# ruff: noqa: ANN401

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import z3

from circuitproof.verify.solvers.results import Failed, Result, Satisfiable, Unknown, Unsatisfiable

_TACTICS = ("simplify", "propagate-values", "solve-eqs", "smt")
"""Substitute definitions first: without that, circuits whose every number has a name take minutes."""


@dataclass(frozen=True, slots=True)
class Z3:
    """Z3 in this process."""

    name: str = "z3"

    def solve(self, text: str, wanted: Sequence[str], seconds: float) -> Result:
        """Answer the only `check-sat` of a text."""
        try:
            solver: Any = z3.Then("simplify", "propagate-values", "solve-eqs", "smt").solver()
            solver.set("timeout", max(1, int(seconds * 1000)))
            solver.from_string(text)
            found = solver.check()
            if found == z3.sat:
                return Satisfiable(_values(solver.model(), frozenset(wanted)))
            return Unsatisfiable() if found == z3.unsat else Unknown(solver.reason_unknown())
        except z3.Z3Exception as error:
            return Failed(f"z3: {error}")


def _values(model: Any, wanted: frozenset[str]) -> dict[str, Fraction | bool]:
    values: dict[str, Fraction | bool] = {}
    for declared in model.decls():
        if declared.name() in wanted:
            found = model[declared]
            if z3.is_rational_value(found):
                values[declared.name()] = found.as_fraction()
            elif z3.is_true(found) or z3.is_false(found):
                values[declared.name()] = z3.is_true(found)
    return values
