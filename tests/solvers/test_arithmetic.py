"""The forward pass on terms against the forward pass on exact numbers, without a solver."""

from dataclasses import replace
from fractions import Fraction

import pytest

from circuitproof.arithmetic.exact import Exact, Signs
from circuitproof.arithmetic.grid import grid_of_fractions
from circuitproof.arithmetic.protocol import Context
from circuitproof.circuits.circuit import whole
from circuitproof.errors import DeclarationError, NotExactError
from circuitproof.forward.binding import PrefixBinding
from circuitproof.forward.cells import Cells
from circuitproof.forward.forward import Forward, Trace
from circuitproof.forward.prompts import PromptCells
from circuitproof.models.operators import Attention, Gelu, GeluForm, LayerNorm, NoNorm
from circuitproof.solvers.arithmetic import Symbolic
from circuitproof.solvers.assertions import AssertionLog, AssertionSource, Naming
from circuitproof.solvers.pieces import Unknowns
from circuitproof.solvers.terms import VariableProduct, parts_of
from definitions import conditions_hold, solved
from hand_models import freeze
from models import ACTIVATIONS, NORMS, PROGRAMS, random_model, tiny_architecture
from term_values import value_of
from tiny_claims import tiny_claim

CANDIDATES = (0, 2, 4)
ONE = grid_of_fractions([[Fraction(1)]], 1)


def both(frozen, circuit, prompts, trace):
    """Return exact logits, and the logits by solving the definitions of terms."""
    cells = PromptCells(frozen)
    stage, _ = cells.cells(circuit, prompts)
    exact = Exact()
    expected = Trace(Forward(frozen, cells, exact, CANDIDATES)).output(stage)
    symbolic = Symbolic(trace=iter(exact.witnesses) if trace else None)
    terms = Trace(Forward(frozen, cells, symbolic, CANDIDATES)).output(stage)
    values = solved(symbolic.log)
    assert conditions_hold(symbolic.log, values)
    found = tuple(tuple(value_of(number, values) for number in row) for row in terms)
    return expected.fractions(), found, symbolic.log


@pytest.mark.parametrize("trace", [False, True])
@pytest.mark.parametrize("norm", [NORMS[0], *NORMS[2:]])
def test_the_whole_model_on_terms_has_the_exact_logits(norm, trace):
    """Every node of a model with neural heads; the two arithmetics share no operator."""
    frozen = freeze(random_model(tiny_architecture(norm=norm), seed=3))
    expected, found, log = both(frozen, whole(frozen.graph), [(1, 2, 3), (4, 0, 0)], trace)
    assert found == expected
    formulas = [one.formula for group in log.groups for one in group.assertions]
    assert any(isinstance(part, VariableProduct) for formula in formulas for part in parts_of(formula))


@pytest.mark.parametrize("trace", [False, True])
def test_rotary_positions_and_parallel_blocks_on_terms_have_the_exact_logits(trace):
    """Rotations are linear: terms like any other map."""
    frozen = freeze(random_model(tiny_architecture(rotary=2, parallel=True), seed=4))
    expected, found, _ = both(frozen, whole(frozen.graph), [(1, 2, 3), (4, 0, 0)], trace)
    assert found == expected


def test_program_heads_have_no_products():
    """Where attention is a program, every query is linear."""
    frozen = freeze(random_model(tiny_architecture(), programs=PROGRAMS))
    expected, found, log = both(frozen, whole(frozen.graph), [(1, 2, 3), (4, 0, 0)], trace=False)
    assert found == expected
    formulas = [one.formula for group in log.groups for one in group.assertions]
    assert not any(isinstance(part, VariableProduct) for formula in formulas for part in parts_of(formula))


@pytest.mark.parametrize("seed", range(6))
def test_random_circuits_on_terms_have_the_exact_logits(seed):
    """Coarse weights: ties, empty sides and boundaries included."""
    claim = tiny_claim(seed)
    expected, found, _ = both(claim.frozen, claim.circuit, claim.task.domain.prompts, trace=False)
    assert found == expected


@pytest.mark.parametrize("norm", [NORMS[0], *NORMS[2:]])
def test_what_is_known_stays_known(norm):
    """Without anything unknown, naming branches only leaves the exact numbers and asserts nothing."""
    frozen = freeze(random_model(tiny_architecture(norm=norm)))
    cells = Cells(PrefixBinding(frozen.programs), biases=True)
    stage, _ = cells.cells(whole(frozen.graph), [(1, 2, 3)])
    symbolic = Symbolic(AssertionLog(Naming.BRANCHES), Unknowns.IMPLIED)
    found = Trace(Forward(frozen, cells, symbolic, CANDIDATES)).output(stage)
    expected = Trace(Forward(frozen, cells, Exact(), CANDIDATES)).output(stage)
    assert symbolic.sums(found) == symbolic.sums(expected)
    assert not symbolic.log.groups


def test_operators_without_an_exact_value_are_refused():
    """The same sentences as in exact arithmetic."""
    symbolic = Symbolic()
    row = symbolic.constant(ONE)
    with pytest.raises(NotExactError, match="softmax attention has no exact value"):
        symbolic.attention(row, Attention.SOFTMAX)
    with pytest.raises(NotExactError, match="GELU has no exact value"):
        symbolic.activate(row, Gelu(GeluForm.TANH))
    with pytest.raises(NotExactError, match="LayerNorm has no exact value"):
        symbolic.normalise(row, LayerNorm(Fraction(1)), (ONE, ONE))
    assert symbolic.normalise(row, NoNorm(), (ONE, ONE)) is row


def test_a_trace_of_another_computation_is_refused():
    """A certificate that does not fit is an error, never a proof."""
    exact = Exact()
    exact.activate(ONE, ACTIVATIONS[0])
    symbolic = Symbolic(trace=iter(exact.witnesses))
    with pytest.raises(DeclarationError, match="the trace has Signs where the forward pass wants Supports"):
        symbolic.attention((symbolic.constant(ONE)[0],), Attention.SPARSEMAX)
    with pytest.raises(DeclarationError, match="the trace has NoneType where"):
        symbolic.activate(symbolic.constant(ONE), ACTIVATIONS[0])
    assert isinstance(exact.witnesses[0], Signs)


def test_a_single_row_is_added_to_every_row():
    """As in every arithmetic."""
    symbolic = Symbolic(AssertionLog(Naming.BRANCHES))
    two = grid_of_fractions([[Fraction(1)], [Fraction(2)]], 1)
    x = ((symbolic.log.terms.of(symbolic.log.terms.variable("x")),),)
    found = symbolic.sums(symbolic.add(two, x))
    assert [row[0].constant for row in found] == [1, 2]
    assert found == symbolic.add(x, two)


def test_known_scores_and_unknown_values_mix():
    """A head whose values alone are perturbed stays linear."""
    symbolic = Symbolic(AssertionLog(Naming.BRANCHES))
    terms = symbolic.log.terms
    contexts = [Context(0, (0,), (0,))]
    scores = symbolic.attention(symbolic.scores(ONE, ONE, contexts, Fraction(1)), Attention.SPARSEMAX)
    x = terms.of(terms.variable("x"))
    assert symbolic.weigh(scores, contexts, ((x,),)) == ((x,),)


def test_assertions_know_what_they_are_part_of():
    """The source of affine maps is what the forward pass is computing; norms and activations know theirs."""
    symbolic = Symbolic()
    row = symbolic.constant(ONE)
    symbolic.source = AssertionSource.MLP
    hidden = symbolic.affine(row, grid_of_fractions([[Fraction(2)]], 1), None)
    symbolic.activate(hidden, replace(ACTIVATIONS[1]))
    found = [one.source for group in symbolic.log.groups for one in group.assertions]
    assert found == [AssertionSource.EMBEDDING, AssertionSource.MLP, AssertionSource.MLP]
