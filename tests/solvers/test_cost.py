from fractions import Fraction

from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.solvers.assertions import AssertionSource
from circuitproof.solvers.choices import Branching
from circuitproof.solvers.cost import AssertionTally, account
from circuitproof.solvers.obligations import QueryPlan, Questions
from hand_models import adder_claim, table_task
from tiny_claims import tiny_claim

ONE = table_task({(0,): 1, (1,): 0})
SINGLE = QueryPlan(batch=1)


def test_assertions_are_counted_by_source():
    """One prompt of the adder, of whose two hidden numbers only the second has a weight."""
    questions = Questions(adder_claim(task=ONE), SINGLE)
    found = account(questions.obligations(Equivalence())[:1])
    assert found.queries == 1
    assert found.products == 0
    assert found.branches == 1, "the hidden number that matters may bend"
    assert found.assertions[AssertionSource.MLP] == 3, "up, bent, down"
    assert found.assertions[AssertionSource.DECISION] == 2 + 1, "two logits and the goal"
    assert AssertionSource.NORM not in found.assertions
    assert found.total == sum(found.assertions.values())
    assert found.per_norm is None


def test_traced_conditions_count_as_branches():
    """A branch is split on or told."""
    kept, traced = (
        account(Questions(adder_claim(task=ONE), QueryPlan(branching, batch=1)).obligations(Equivalence()))
        for branching in Branching
    )
    assert (kept.branches, traced.branches) == (2, 4), "a trace tells all branches, wanted or not"
    assert traced.total > kept.total


def test_a_witness_is_counted_up_to_the_query_that_has_it():
    """Token 0 witnesses every edge but the direct one, which needs a query more."""
    questions = Questions(adder_claim(), SINGLE)
    found = [account([one]).queries for one in questions.obligations(Necessity())]
    assert found == [1, 2, 1]


def test_norms_and_products_are_counted():
    """A BandNorm's assertions per instance; products of queries and keys; the ball as decision."""
    claim = next(
        one
        for one in map(tiny_claim, range(1, 60, 3))
        if not one.frozen.programs and any("head" in str(edge) for edge in one.circuit)
    )
    found = account(Questions(claim, SINGLE).obligations(Equivalence()))
    assert found.products > 0
    assert found.per_norm == Fraction(found.assertions[AssertionSource.NORM], found.norms) > 10
    ball = account(Questions(claim, SINGLE).obligations(Robustness(Fraction(1, 8))))
    assert ball.assertions[AssertionSource.DECISION] >= 2 * claim.frozen.architecture.width + 1


def test_tallies_add_up():
    """Everything is a sum over queries."""
    questions = Questions(adder_claim(task=ONE), SINGLE)
    parts = [account([one]) for one in questions.obligations(Equivalence())]
    whole = sum(parts, AssertionTally())
    assert whole.total == sum(part.total for part in parts)
    assert (whole.queries, whole.branches) == (2, sum(part.branches for part in parts))
    assert whole.to_json()["total"] == whole.total
