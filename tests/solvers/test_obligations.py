"""What solvers are asked about the adder, whose logits are worked out by hand."""

from dataclasses import replace
from fractions import Fraction

import pytest

from circuitproof.circuits.graph import Mlp
from circuitproof.errors import InputError, NotExactError
from circuitproof.forward.forward import Side
from circuitproof.forward.interface import Interface
from circuitproof.models.operators import LayerNorm
from circuitproof.proof.properties.agreement import Agreement
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.faithfulness import Faithfulness
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.properties.subset_minimality import SubsetMinimality
from circuitproof.proof.verdict import Verdict
from circuitproof.solvers.choices import Branching
from circuitproof.solvers.obligations import QueryPlan, Questions
from circuitproof.solvers.rulings import Portfolio
from circuitproof.solvers.z3 import Z3
from hand_models import ADDED, ADDER, DIRECT, PLAIN, adder_claim, circuit_of, table_task

ALL = QueryPlan()
PORTFOLIO = Portfolio((Z3(),), 20)
WRONG = table_task({(0,): 0, (1,): 0, (2,): 1, (3,): 0})
TIED = table_task({(0,): 1, (4,): 0})


def ruling(claim, prop, count, plan=ALL):
    """Return what z3 makes of a property."""
    questions = Questions(claim, plan)
    return PORTFOLIO.hear(prop, questions.obligations(prop), count).rulings[0]


def test_equivalence_names_the_prompt_that_is_wrong():
    """Token 0 is decided as 1, so the answer 0 is refuted there; the solution is replayed."""
    assert ruling(adder_claim(), Equivalence(), 4).verdict is Verdict.PROVED
    found = ruling(adder_claim(task=WRONG), Equivalence(), 4)
    assert (found.verdict, found.solutions[0].prompts) == (Verdict.REFUTED, (0,))


def test_a_tie_is_never_equivalence():
    """Token 4 ties: neither answer is right."""
    found = ruling(adder_claim(task=TIED), Equivalence(), 2)
    assert (found.verdict, found.solutions[0].prompts) == (Verdict.REFUTED, (1,))


def test_invariance_compares_with_the_first_of_a_class():
    """Tokens 0 and 2 are decided alike, 1 otherwise."""
    alike = table_task({(0,): 1, (2,): 1, (1,): 0}, classes=[5, 5, 6])
    assert ruling(adder_claim(Invariance(), task=alike), Invariance(), 2).verdict is Verdict.PROVED
    unlike = table_task({(0,): 1, (1,): 0}, classes=[5, 5])
    found = ruling(adder_claim(Invariance(), task=unlike), Invariance(), 1)
    assert (found.verdict, found.solutions[0].prompts) == (Verdict.REFUTED, (0, 1))
    lonely = table_task({(4,): 1, (1,): 0}, classes=[5, 6])
    found = ruling(adder_claim(Invariance(), task=lonely), Invariance(), 2)
    assert (found.verdict, found.met, found.solutions[0].prompts) == (Verdict.REFUTED, 1, (0, 0))


def test_necessity_wants_a_witness_for_every_edge():
    """By the adder's table: both edges of the MLP flip token 0, and the direct one flips token 3."""
    found = ruling(adder_claim(), Necessity(), 3)
    assert found.verdict is Verdict.PROVED
    assert {one.obligation for one in found.solutions} == {
        "embed -> mlp 0",
        "embed -> logits",
        "mlp 0 -> logits",
    }
    useless = adder_claim(
        weights={"mlp.0.down.weight": [[0, 0], [0, 0]]}, task=table_task({(0,): 0, (1,): 0})
    )
    found = ruling(useless, Necessity(), 3)
    assert (found.verdict, found.refuted) == (Verdict.REFUTED, 2)


def test_a_tied_prompt_witnesses_nothing():
    """Where nothing is decided clearly, no edge can be needed."""
    tied = {"embed.token": [[1, 1]] * 5}
    found = ruling(adder_claim(Necessity(), edges=DIRECT, weights=tied), Necessity(), 1)
    assert found.verdict is Verdict.REFUTED


@pytest.mark.parametrize(("epsilon", "verdict"), [("1/3", Verdict.PROVED), ("1/2", Verdict.REFUTED)])
def test_robustness_ends_just_at_the_radius(epsilon, verdict):
    """Margins are at least 1 and both coordinates close them: the radius is 1/2, and it is attained."""
    prop = Robustness(Fraction(epsilon))
    found = ruling(adder_claim(prop), prop, 4)
    assert found.verdict is verdict
    for one in found.solutions:
        assert all(abs(number) == Fraction(1, 2) for number in one.eta)


def test_a_perturbation_may_enter_anywhere():
    """At the output of the MLP it reaches the logits as it is, so the radius is the same."""
    at = Interface(Mlp(0), Side.OUTPUT)
    for epsilon, verdict in ((Fraction(1, 3), Verdict.PROVED), (Fraction(1, 2), Verdict.REFUTED)):
        prop = Robustness(epsilon, at)
        assert ruling(adder_claim(prop), prop, 4).verdict is verdict


def test_a_tied_prompt_is_not_robust():
    """No perturbation at all already shows it."""
    prop = Robustness(Fraction(1, 100))
    found = ruling(adder_claim(prop, task=TIED), prop, 2)
    assert (found.verdict, found.solutions[0].prompts) == (Verdict.REFUTED, (1,))


def test_faithfulness_compares_sets():
    """The direct edge alone decides token 0 otherwise than the model."""
    assert ruling(adder_claim(Faithfulness()), Faithfulness(), 4).verdict is Verdict.PROVED
    found = ruling(adder_claim(Faithfulness(), edges=DIRECT), Faithfulness(), 4)
    assert found.verdict is Verdict.REFUTED
    assert found.solutions[0].prompts in {(0,), (2,)}, "token 0 flips, token 2 ties"
    smooth = adder_claim(Equivalence(), edges=DIRECT, sizes=replace(PLAIN, norm=LayerNorm(Fraction(1))))
    with pytest.raises(NotExactError, match="the whole model uses LayerNorm"):
        Questions(smooth).obligations(Faithfulness())


def test_agreement_wants_clear_decisions_of_both_circuits():
    """Solvers find a prompt that the circuits decide otherwise, or that ties in both."""
    more = Agreement(circuit_of((*ADDED, "embed -> head 0.0", "head 0.0 -> logits")))
    assert ruling(adder_claim(more), more, 4).verdict is Verdict.PROVED
    less = Agreement(circuit_of(DIRECT))
    found = ruling(adder_claim(less), less, 4)
    assert found.verdict is Verdict.REFUTED
    nothing = {"embed.token": [[0, 0]] * 5, "mlp.0.down.weight": [[0, 0], [0, 0]]}
    assert ruling(adder_claim(more, weights=nothing), more, 4).verdict is Verdict.REFUTED


def test_anchors_leave_the_rest_open():
    """Asking about some prompts proves nothing about all of them."""
    plan = QueryPlan(anchors=2)
    questions = Questions(adder_claim(), plan)
    assert questions.places == (0, 1), "one for each answer"
    found = ruling(adder_claim(), Equivalence(), 4, plan)
    assert (found.verdict, found.met) == (Verdict.UNDECIDED, 2)
    assert found.open == ["2 of 4 obligations were not asked about"]
    one_class = table_task({(0,): 1, (2,): 1, (4,): 0}, classes=[5, 5, 5])
    found = ruling(adder_claim(Invariance(), task=one_class), Invariance(), 1, QueryPlan(anchors=1))
    assert found.open == ["the class of prompt 0: not all of its prompts were asked about"]


def test_a_trace_is_followed_if_asked():
    """Traced queries assert conditions, and come to the same answers here."""
    plan = QueryPlan(Branching.TRACED)
    for prop, count in ((Equivalence(), 4), (Necessity(), 3)):
        questions = Questions(adder_claim(), plan)
        assert all(query.has_conditions for one in questions.obligations(prop) for query in one.queries())
        assert ruling(adder_claim(), prop, count, plan).verdict is Verdict.PROVED


def test_prompts_that_one_computation_decides_are_one_case():
    """Formulas are hash-consed, so equal questions are asked once."""
    claim = adder_claim(weights={**ADDER, "embed.token": [[1, 1]] * 5}, task=table_task({(0,): 1, (2,): 1}))
    (obligation,) = Questions(claim).obligations(Equivalence())
    (query,) = obligation.queries()
    assert [sorted(case.covers) for case in query.cases] == [[0, 1]]


def test_properties_about_size_are_not_asked():
    """They are about many circuits; the exact engine answers them."""
    with pytest.raises(InputError, match="subset minimality is not asked of solvers; want equivalence"):
        Questions(adder_claim()).obligations(SubsetMinimality())


def test_the_witness_of_an_edge_is_looked_for_among_all_answers_from_the_start():
    """A lesion often flips the prompts of one answer only, which may be the last ones of a domain."""
    claim = adder_claim(Necessity(), task=table_task({(0,): 1, (2,): 1, (4,): 1, (1,): 0}))
    (first, *_) = Questions(claim, QueryPlan(batch=2)).obligations(Necessity())
    query = next(iter(first.queries()))
    assert query.meaning.title.startswith("prompts 0, 3:")
