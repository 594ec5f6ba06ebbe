"""What both solvers answer to the same texts; each is behind one file, and these are its promises."""

from fractions import Fraction

import pytest

from circuitproof.errors import InputError
from circuitproof.solvers import find
from circuitproof.solvers.choices import Engine, SolverName
from circuitproof.solvers.find import find_solver
from circuitproof.solvers.results import Failed, Satisfiable, Unknown, Unsatisfiable

REALS = "(declare-const x Real)(declare-const y Real)(declare-const s Bool)"


@pytest.fixture(params=list(SolverName))
def solver(request):
    """Return each solver in turn."""
    return find_solver(request.param)


def test_a_solution_comes_with_the_values_asked_for(solver):
    """Rationals exactly, truth values as such, and nothing that was not asked for."""
    text = f"(set-logic QF_LRA){REALS}(assert (= (* 3.0 x) 1.0))(assert s)(assert (= y x))(check-sat)"
    assert solver.solve(text, ["x", "s"], 10) == Satisfiable({"x": Fraction(1, 3), "s": True})


def test_a_value_that_is_no_rational_is_left_out(solver):
    """√2 cannot be replayed in rationals; whoever needs it sees that it is missing."""
    text = f"(set-logic QF_NRA){REALS}(assert (= (* x x) 2.0))(assert (> x 0.0))(check-sat)"
    found = solver.solve(text, ["x"], 10)
    assert found == Satisfiable({}) or isinstance(found, Unknown)


def test_a_symbol_that_a_solution_leaves_open_has_some_value(solver):
    """A coordinate that does not matter must not keep a solution from being replayed."""
    text = f"(set-logic QF_LRA){REALS}(assert (or s (> y 1.0)))(assert (= x x))(check-sat)"
    found = solver.solve(text, ["x"], 10)
    assert isinstance(found, Satisfiable)
    assert isinstance(found.values["x"], Fraction)


def test_no_solution_is_an_answer(solver):
    """Unsat."""
    text = f"(set-logic QF_LRA){REALS}(assert (< x y))(assert (< y x))(check-sat)"
    assert solver.solve(text, [], 10) == Unsatisfiable()


def test_running_out_of_time_is_an_answer_of_its_own(solver):
    """A hard text in a millisecond: never sat, never unsat, never an exception, and soon."""
    holes, pigeons = range(12), range(13)
    declared = "".join(f"(declare-const p{i}x{j} Bool)" for i in pigeons for j in holes)
    placed = "".join(f"(assert (or {' '.join(f'p{i}x{j}' for j in holes)}))" for i in pigeons)
    apart = "".join(
        f"(assert (or (not p{i}x{j}) (not p{k}x{j})))" for j in holes for i in pigeons for k in range(i)
    )
    found = solver.solve(f"(set-logic QF_LRA){declared}{placed}{apart}(check-sat)", [], 0.001)
    assert found == Unknown("timeout")


@pytest.mark.parametrize("text", ["(assert", "(set-logic QF_LRA)(assert (> z 0.0))(check-sat)"])
def test_a_text_that_cannot_be_read_is_a_failure(solver, text):
    """A solver's complaint is passed on in a sentence."""
    found = solver.solve(text, [], 10)
    assert isinstance(found, Failed)
    assert found.reason.startswith(f"{solver.name}: ")


def test_a_text_without_a_question_is_no_proof(solver):
    """Nothing asserted and nothing asked must not look like an answer about a claim."""
    found = solver.solve("(set-logic QF_LRA)", [], 10)
    assert not isinstance(found, Unsatisfiable)


def test_a_missing_package_is_a_sentence(monkeypatch):
    """Without the extra, the user is told how to get it."""
    import builtins

    real = builtins.__import__

    def refuse(name, *rest):
        if name.startswith("circuitproof.solvers.z3"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(InputError, match=r"the solver z3 is not installed; run pip install"):
        find.find_solver(SolverName.Z3)


def test_engines_name_their_solvers():
    """`all` is exact and every solver."""
    assert Engine.ALL.solvers == tuple(SolverName)
    assert Engine.EXACT.solvers == ()
    assert Engine.CVC5.solvers == (SolverName.CVC5,)
    assert [one for one in Engine if one.is_exact] == [Engine.EXACT, Engine.ALL]
