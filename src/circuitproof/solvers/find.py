"""Solvers by name."""

from typing import assert_never

from circuitproof.errors import InputError
from circuitproof.solvers.choices import SolverName
from circuitproof.solvers.results import Solver


def find_solver(name: SolverName) -> Solver:
    try:
        match name:
            case SolverName.Z3:
                from circuitproof.solvers.z3 import Z3

                return Z3()
            case SolverName.CVC5:
                from circuitproof.solvers.cvc5 import Cvc5

                return Cvc5()
            case _:
                assert_never(name)
    except ImportError as error:
        raise InputError(
            f"the solver {name} is not installed; run pip install 'circuitproof[solvers]'"
        ) from error
