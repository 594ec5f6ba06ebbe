"""How answers are counted, with solvers that answer what the test wants."""

import itertools
from fractions import Fraction

import pytest

from circuitproof.proof.effort import Pace
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.verdict import Verdict
from circuitproof.solvers.choices import Branching
from circuitproof.solvers.obligations import QueryPlan, Questions
from circuitproof.solvers.results import Failed, Satisfiable, Unknown, Unsatisfiable
from circuitproof.solvers.rulings import DisagreementError, Portfolio, Ruling
from circuitproof.solvers.z3 import Z3
from hand_models import adder_claim
from solver_doubles import Scripted, always

EPSILON = Robustness(Fraction(1, 3))
FOUND = Satisfiable({"choose_0": True})


def watched_z3():
    """Return z3, which remembers what it was asked."""
    return Scripted("z3", lambda text, wanted: Z3().solve(text, wanted, 20))


def hear(solvers, prop, count=4, plan=QueryPlan(batch=2), claim=None):  # noqa: B008  # frozen
    """Return the rulings of solvers on a property of the adder."""
    questions = Questions(claim or adder_claim(), plan)
    return Portfolio(tuple(solvers), 5).hear(prop, questions.obligations(prop), count)


@pytest.mark.parametrize("answer", [Unknown("timeout"), Failed("it broke")])
def test_silence_and_failure_leave_a_property_open(answer):
    """Unknown is never a proof, nor a refutation, of what is universal or of what wants a witness."""
    for prop, count in ((Equivalence(), 4), (Necessity(), 3), (EPSILON, 4)):
        (ruling,) = hear([always("slow", answer)], prop, count).rulings
        assert (ruling.verdict, ruling.met, ruling.refuted) == (Verdict.UNDECIDED, 0, 0)
        assert ruling.open
        assert ruling.open[0].endswith(("timeout", "it broke"))


@pytest.mark.parametrize(("prop", "count"), [(Equivalence(), 4), (EPSILON, 4)])
def test_a_solvers_time_passes_while_its_query_is_written(prop, count):
    """A query of many terms is given up as one that a solver takes too long for: open, and no error."""
    clock = itertools.count().__next__
    plan = QueryPlan(batch=2, seconds=3, pace=Pace(clock=clock))
    (ruling,) = hear([watched_z3()], prop, count, plan).rulings
    assert ruling.verdict is Verdict.UNDECIDED
    assert any("its query took too long to write" in why for why in ruling.open)


def test_a_proof_needs_every_obligation():
    """One open batch of two leaves the whole open; an empty list of obligations proves nothing."""
    answers = iter([Unsatisfiable(), Unknown("timeout")])
    (ruling,) = hear([Scripted("half", lambda *_: next(answers))], Equivalence()).rulings
    assert (ruling.verdict, ruling.met) == (Verdict.UNDECIDED, 2)
    assert Ruling(Equivalence(), "z3", 0).verdict is Verdict.UNDECIDED
    (ruling,) = Portfolio((Z3(),)).hear(Equivalence(), [], 4).rulings
    assert ruling.verdict is Verdict.UNDECIDED


def test_a_solution_that_exact_numbers_do_not_confirm_is_a_contradiction():
    """A solver that claims a counterexample of what is true is wrong, or our encoding is."""
    with pytest.raises(
        DisagreementError, match=r"the solution of unsound at prompt \(0,\) is none in exact"
    ) as caught:
        hear([always("unsound", FOUND)], Equivalence())
    assert "choose_0" in caught.value.reproduction
    assert "choose_1" not in caught.value.reproduction, "the reproduction is about that prompt alone"
    assert Z3().solve(caught.value.reproduction, [], 20) == Unsatisfiable()


def test_a_perturbation_outside_the_ball_is_no_solution():
    """The replay checks the size too."""
    far = {f"eta_{number}": Fraction(9) for number in range(1, 9)}
    with pytest.raises(DisagreementError, match="is none in exact numbers"):
        hear([always("unsound", Satisfiable({"choose_0": True, **far}))], EPSILON)


@pytest.mark.parametrize("values", [{}, {"choose_0": False}])
def test_a_solution_that_cannot_be_read_off_leaves_the_property_open(values):
    """Values that are no rationals are missing; then nothing can be replayed, and nothing is decided."""
    (ruling,) = hear([always("vague", Satisfiable(values))], Equivalence()).rulings
    assert ruling.verdict is Verdict.UNDECIDED
    assert ruling.open[0].endswith("the solution has a value that is no rational number")
    (ruling,) = hear([always("vague", FOUND)], EPSILON).rulings
    assert ruling.verdict is Verdict.UNDECIDED


def test_solvers_that_contradict_each_other_are_refused():
    """Whoever is right, nothing may be concluded; the query is narrowed to the prompt in question."""
    solvers = [always("one", FOUND), always("other", Unsatisfiable())]
    with pytest.raises(
        DisagreementError, match="one has a solution, other says that there is none"
    ) as caught:
        hear(solvers, Equivalence())
    assert "choose_1" not in caught.value.reproduction


def test_a_certificate_is_checked_before_it_is_used():
    """Branches that contradict the circuit would make every query unsatisfiable, and so every claim true."""
    plan = QueryPlan(Branching.TRACED)
    with pytest.raises(DisagreementError, match="finds that the traced branches contradict the circuit"):
        hear([always("no", Unsatisfiable())], Equivalence(), plan=plan)
    (ruling,) = hear([always("slow", Unknown("timeout"))], Equivalence(), plan=plan).rulings
    assert ruling.verdict is Verdict.UNDECIDED
    watched = watched_z3()
    (ruling,) = hear([watched], Equivalence(), plan=plan).rulings
    assert ruling.verdict is Verdict.PROVED
    assert ["choose_" in text for text in watched.texts] == [False, True]


def test_each_solver_stops_at_its_own_witness():
    """The seconds of a solver are its own; texts are asked only while it needs them."""
    sure, slow = watched_z3(), always("slow", Unknown("timeout"))
    solver_answers = hear([sure, slow], Necessity(), 3, QueryPlan(batch=1))
    assert [ruling.verdict for ruling in solver_answers.rulings] == [Verdict.PROVED, Verdict.UNDECIDED]
    assert len(sure.texts) < len(slow.texts) == solver_answers.cost.queries
