"""Z3, behind one file."""

# The package has no types.
# pyright: basic
# ruff: noqa: ANN401

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from threading import Event, Thread
from typing import Any

import z3

from circuitproof.solvers.results import Failed, Result, Satisfiable, Unknown, Unsatisfiable

_TACTICS = ("simplify", "propagate-values", "solve-eqs", "smt")
"""Substitute definitions first: without that, circuits whose every number has a name take minutes."""
_AGAIN = 0.02
"""Seconds between interruptions."""
_INTERRUPTED = ("canceled", "interrupted", "interrupted from keyboard")


@dataclass(frozen=True, slots=True)
class Z3:
    """Z3 in this process."""

    name: str = "z3"

    def solve(self, text: str, wanted: Sequence[str], seconds: float) -> Result:
        context = z3.Context()
        try:
            solver: Any = z3.Then(*_TACTICS, ctx=context).solver()
            solver.from_string(text)
            with _interrupted_after(seconds, context):
                found = solver.check()
            if found == z3.sat:
                return Satisfiable(_values(solver.model(), frozenset(wanted)))
            return Unsatisfiable() if found == z3.unsat else Unknown(_reason(solver.reason_unknown()))
        except z3.Z3Exception as error:
            return Failed(f"z3: {error}")


@contextmanager
def _interrupted_after(seconds: float, context: Any) -> Iterator[None]:
    """Interrupt what goes on in a context once its time is over, until it ends.

    Z3's own timeout is a single signal, which gets lost when it comes too early.
    """
    is_done = Event()

    def watch() -> None:
        wait = seconds
        while not is_done.wait(wait):
            context.interrupt()
            wait = _AGAIN

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        is_done.set()
        watcher.join()


def _reason(said: str) -> str:
    return "timeout" if said in _INTERRUPTED else said


def _values(model: Any, wanted: frozenset[str]) -> dict[str, Fraction | bool]:
    """Return the wanted values; what a model leaves open may have any value, so it is zero."""
    found = {declared.name(): model[declared] for declared in model.decls() if declared.name() in wanted}
    values: dict[str, Fraction | bool] = dict.fromkeys(wanted - found.keys(), Fraction(0))
    for name, value in found.items():
        if z3.is_rational_value(value):
            values[name] = value.as_fraction()
        elif z3.is_true(value) or z3.is_false(value):
            values[name] = z3.is_true(value)
    return values
