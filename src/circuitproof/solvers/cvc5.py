"""cvc5, behind one file."""

# The package has no types.
# pyright: basic
# ruff: noqa: ANN401

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import cvc5 as package

from circuitproof.solvers.results import Failed, Result, Satisfiable, Unknown, Unsatisfiable

cvc5: Any = package


@dataclass(frozen=True, slots=True)
class Cvc5:
    """cvc5 in this process."""

    name: str = "cvc5"

    def solve(self, text: str, wanted: Sequence[str], seconds: float) -> Result:
        try:
            return _solve(text, frozenset(wanted), seconds)
        except RuntimeError as error:
            return Failed(f"cvc5: {error}")


def _solve(text: str, wanted: frozenset[str], seconds: float) -> Result:
    manager = cvc5.TermManager()
    solver = cvc5.Solver(manager)
    solver.setOption("produce-models", "true")
    solver.setOption("tlimit-per", str(max(1, int(seconds * 1000))))
    symbols = cvc5.SymbolManager(manager)
    parser = cvc5.InputParser(solver, symbols)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "query")
    answers: list[str] = []
    while not (command := parser.nextCommand()).isNull():
        answers.append(str(command.invoke(solver, symbols)).strip())
    match [answer for answer in answers if answer not in ("", "success")]:
        case ["sat"]:
            return Satisfiable(_values(solver, symbols, wanted))
        case ["unsat"]:
            return Unsatisfiable()
        case [str(answer)] if answer.startswith("unknown"):
            return Unknown(answer.removeprefix("unknown").strip(" ()").lower() or "incomplete")
        case other:
            return Failed(f"cvc5: {' '.join(other) or 'no answer'}")


def _values(solver: Any, symbols: Any, wanted: frozenset[str]) -> dict[str, Fraction | bool]:
    values: dict[str, Fraction | bool] = {}
    for term in symbols.getDeclaredTerms():
        if term.getSymbol() in wanted:
            found = solver.getValue(term)
            if found.isRealValue():
                values[term.getSymbol()] = Fraction(found.getRealValue())
            elif found.isBooleanValue():
                values[term.getSymbol()] = found.getBooleanValue()
    return values
