from fractions import Fraction

import pytest

from circuitproof.proof.battery import prove
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.solvers.compare import refuse_conflict
from circuitproof.solvers.obligations import Questions
from circuitproof.solvers.results import Satisfiable, Unsatisfiable
from circuitproof.solvers.rulings import DisagreementError, Ruling, Solution
from circuitproof.solvers.z3 import Z3
from hand_models import adder_claim, table_task

WRONG = table_task({(0,): 1, (1,): 1, (2,): 1, (3,): 0})


def disputed(claim, rulings):
    """Return the contradiction between the exact answer to a claim's only property and rulings."""
    (answer,) = prove(claim).answers
    with pytest.raises(DisagreementError) as caught:
        refuse_conflict(Questions(claim), answer, rulings)
    return caught.value


def test_a_proof_of_what_the_exact_engine_refutes_is_refused():
    """The reproduction asks about the exact counterexample alone; a right solver finds it there."""
    claim = adder_claim(Equivalence(), task=WRONG)
    error = disputed(claim, [Ruling(Equivalence(), "unsound", 4, met=4)])
    assert str(error) == "equivalence: unsound proves what the exact engine refutes"
    assert "choose_0 is true where prompt 1 is a solution" in error.reproduction
    assert "choose_1" not in error.reproduction
    assert isinstance(Z3().solve(error.reproduction, [], 20), Satisfiable)


def test_a_refutation_of_what_the_exact_engine_proves_is_refused():
    """For a solver's solution the query about its prompt, for an edge that about the exact witness."""
    solution = Solution("prompts 0, 1, 2, 3", (2,), ())
    error = disputed(
        adder_claim(Equivalence()), [Ruling(Equivalence(), "unsound", 4, refuted=1, solutions=[solution])]
    )
    assert "where prompt 2 is a solution" in error.reproduction
    assert Z3().solve(error.reproduction, [], 20) == Unsatisfiable()
    error = disputed(adder_claim(Necessity()), [Ruling(Necessity(), "unsound", 3, met=2, refuted=1)])
    assert str(error) == "necessity: the exact engine proves what unsound refutes"
    assert "without embed -> mlp 0" in error.reproduction.replace("\n; ", " ")


def test_without_a_named_prompt_the_first_query_is_the_reproduction():
    """Robustness that a solver refutes without a solution has nothing to narrow to."""
    prop = Robustness(Fraction(1, 100))
    error = disputed(adder_claim(prop), [Ruling(prop, "unsound", 4, refuted=1)])
    assert error.reproduction.startswith("; prompt 0: is there one that loses its clear decision")


def test_who_leaves_a_question_open_contradicts_nobody():
    """Undecided is compatible with everything."""
    claim = adder_claim(Equivalence())
    (answer,) = prove(claim).answers
    refuse_conflict(
        Questions(claim), answer, [Ruling(Equivalence(), "slow", 4), Ruling(Equivalence(), "z3", 4, met=4)]
    )
