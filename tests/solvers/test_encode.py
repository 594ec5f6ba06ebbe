from fractions import Fraction

import pytest

from circuitproof.circuits.circuit import whole
from circuitproof.proof.fold import fold
from circuitproof.proof.regions.disturbed import disturb_residual
from circuitproof.solvers.assertions import AssertionSource
from circuitproof.solvers.choices import Branching
from circuitproof.solvers.encode import encode, encode_ball
from circuitproof.solvers.terms import Conditional, VariableProduct, parts_of
from definitions import conditions_hold, solved
from hand_models import freeze
from models import NORMS, random_model, tiny_architecture
from term_values import is_true, value_of

CANDIDATES = (0, 2, 5)
PROMPTS = ((1, 2, 3), (4, 0, 0))


@pytest.fixture(params=[NORMS[0], *NORMS[2:]])
def frozen(request):
    """Return a small model for each norm that is exact."""
    return freeze(random_model(tiny_architecture(norm=request.param)))


@pytest.mark.parametrize("branching", list(Branching))
def test_every_intermediate_is_a_variable(frozen, branching):
    """The monolithic encoding: no embedding is folded, and solving the definitions gives the logits."""
    circuit = whole(frozen.graph)
    encoding = encode(frozen, CANDIDATES, [circuit], PROMPTS, branching)
    values = solved(encoding.log)
    assert conditions_hold(encoding.log, values)
    found = [tuple(value_of(one, values) for one in row) for row in encoding.logits[circuit]]
    assert found == [one.logits for one in fold(frozen, CANDIDATES, [circuit], PROMPTS).of(circuit)]
    formulas = [one.formula for group in encoding.log.groups for one in group.assertions]
    kinds = {type(part) for formula in formulas for part in parts_of(formula)}
    assert VariableProduct in kinds
    assert (Conditional in kinds) == (branching is Branching.KEPT)


def test_every_assertion_knows_its_source(frozen):
    """All five sources occur but the norm where there is none."""
    circuit = whole(frozen.graph)
    encoding = encode(frozen, CANDIDATES, [circuit], PROMPTS)
    sources = {one.source for group in encoding.log.groups for one in group.assertions}
    assert sources == set(AssertionSource) - (
        set() if frozen.architecture.has_norm else {AssertionSource.NORM}
    )


def test_a_ball_asserts_its_bounds_and_holds_without_a_perturbation(frozen):
    """At η = 0 the disturbed logits are the undisturbed ones, wherever the definitions can be solved."""
    (prompt,) = disturb_residual(frozen, CANDIDATES, whole(frozen.graph), PROMPTS[:1])
    ball = encode_ball(prompt, Fraction(1, 1000), Branching.TRACED)
    zero = dict.fromkeys(ball.eta, Fraction(0))
    values = solved(ball.log, zero)
    assert conditions_hold(ball.log, values)
    assert all(one.is_known for one in ball.undisturbed)
    assert [value_of(one, values) for one in ball.disturbed] == [one.constant for one in ball.undisturbed]
    assert all(is_true(bound.formula, zero) for bound in ball.bounds)
    outside = {**zero, ball.eta[0]: Fraction(1, 999)}
    assert not all(is_true(bound.formula, outside) for bound in ball.bounds)
