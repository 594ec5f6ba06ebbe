"""What edges bring to a margin: sums, and what happens when an edge brings a little more."""

from fractions import Fraction

import pytest

import viewed
from circuitproof.arithmetic.exact import Exact
from circuitproof.arithmetic.grid import multiply
from circuitproof.circuits.ablation import Zero
from circuitproof.circuits.graph import LOGITS, Node
from circuitproof.forward.cells import BiasPart, PortPart, PositionPart, StagePart, StandIn, TokenPart
from circuitproof.forward.forward import Disturbance, Forward, Trace
from circuitproof.forward.interface import Side
from circuitproof.forward.prompts import PromptCells
from circuitproof.proof.fold import fold
from circuitproof.reports.flow import Flow
from circuitproof.reports.numbers import Numbers

SEEDS = viewed.seeds()
LITTLE = Fraction(1, 10**60)


def numbers(seed: int) -> Numbers:
    """Return the numbers of a view."""
    found = viewed.view_of(seed).numbers
    assert isinstance(found, Numbers)
    return found


def into(flow: Flow, node: Node) -> Fraction:
    """Return what the edges into a node bring together."""
    return sum((share for edge, share in flow.edges.items() if edge.reader == node), Fraction(0))


@pytest.mark.parametrize("seed", SEEDS)
def test_edges_into_logits_and_what_is_added_there_sum_to_the_margin(seed):
    """The law of `explain`: nothing is lost and nothing invented."""
    for cell in numbers(seed).cells:
        assert cell.flow is not None
        assert into(cell.flow, LOGITS) + cell.flow.own[LOGITS] == cell.margin


@pytest.mark.parametrize("seed", SEEDS)
def test_what_flows_into_a_node_and_its_own_flow_out(seed):
    """The same law at every node inside the circuit."""
    for cell in numbers(seed).cells:
        assert cell.flow is not None
        for node, own in cell.flow.own.items():
            leaving = sum((x for edge, x in cell.flow.edges.items() if edge.source == node), Fraction(0))
            assert node == LOGITS or into(cell.flow, node) + own == leaving


@pytest.mark.parametrize("seed", SEEDS)
def test_without_norms_what_logits_add_are_their_biases(seed):
    """An independent reading of the constant: the shared biases and the biases of the logits."""
    view = viewed.view_of(seed)
    frozen, found = view.bundle.frozen, numbers(seed)
    if frozen.architecture.has_norm or not isinstance(view.bundle.circuit.ablation, Zero):
        return
    candidates = view.bundle.task.candidates
    rows = frozen.unembedding(candidates).fractions()
    biases = frozen.logit_bias(candidates)
    layers = [part.layer for part in found.trace.stages[-1].stage.parts if isinstance(part, BiasPart)]
    shared = [frozen.tensor(f"attention.{layer}.output.bias").fractions()[0] for layer in layers]
    for cell in found.cells:
        gap = [a - b for a, b in zip(rows[cell.leader], rows[cell.runner], strict=True)]
        wanted = sum((x * y for bias in shared for x, y in zip(gap, bias, strict=True)), Fraction(0))
        if biases is not None:
            (row,) = biases.fractions()
            wanted += row[cell.leader] - row[cell.runner]
        assert cell.flow is not None
        assert cell.flow.own[LOGITS] == wanted


@pytest.mark.parametrize("seed", SEEDS)
def test_a_little_more_of_a_source_raises_the_margin_by_that_much_of_its_share(seed):
    """A share is how the margin grows with what the edge carries, exactly, also through a norm."""
    view, found = viewed.view_of(seed), numbers(seed)
    frozen, candidates = view.bundle.frozen, view.bundle.task.candidates
    prompt = view.bundle.domain.prompts[0]
    cell = found.cells[found.cell_of[0]]
    cells = PromptCells(frozen, view.bundle.circuit.ablation)
    number, (row,) = cells.cells(view.bundle.circuit, (prompt,))
    passed = Trace(Forward(frozen, cells, Exact(), candidates))
    passed.output(number)
    outputs = passed.outputs
    (terms,) = cells.stages[number].inputs
    for part, place in zip(cells.stages[number].parts, terms, strict=True):
        if not isinstance(part, StagePart) or isinstance(cells.stages[part.stage].node, StandIn):
            continue
        more = multiply(outputs[part.stage].take([place]), LITTLE)
        disturbance = Disturbance(more, {(number, Side.INPUT): (0,)})
        disturbed = Trace(Forward(frozen, cells, Exact(), candidates, disturbance))
        logits = disturbed.output(number).fractions()[row]
        grown = logits[cell.leader] - logits[cell.runner] - cell.margin
        shares = {edge.source: share for edge, share in cell.flow.edges.items() if edge.target == LOGITS}
        assert grown == LITTLE * shares[cells.stages[part.stage].node]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_flip_is_the_least_perturbation(seed):
    """With it the competitor is level, and it is the radius of the definition."""
    view = viewed.view_of(seed)
    rows = view.bundle.frozen.unembedding(view.bundle.task.candidates).fractions()
    for cell in numbers(seed).cells:
        if (flip := cell.flip) is None:
            continue
        moved = [
            logit + sum((flip.radius * s * u for s, u in zip(flip.direction, row, strict=True)), Fraction(0))
            for logit, row in zip(cell.fold.logits, rows, strict=True)
        ]
        assert moved[flip.competitor] == moved[cell.leader] == max(moved)


@pytest.mark.parametrize("seed", SEEDS)
def test_prompts_that_need_an_edge_are_decided_otherwise_without_it(seed):
    """Each lesion folded alone says the same."""
    view, found = viewed.view_of(seed), numbers(seed)
    bundle = view.bundle
    for edge, needs in found.needs.items():
        lesion = bundle.circuit.without(edge)
        folds = fold(bundle.frozen, bundle.task.candidates, [lesion], bundle.domain.prompts).of(lesion)
        for place, after in enumerate(folds):
            before = found.cells[found.cell_of[place]].fold
            changed = before.is_clear and after.decision != before.decision
            assert (place in needs.flips) == (changed and after.is_clear)
            assert (place in needs.ties) == (changed and not after.is_clear)


@pytest.mark.parametrize("seed", SEEDS)
def test_weights_of_a_head_are_a_distribution_over_what_it_has_seen(seed):
    """Every reading is a row of attention: positive, causal, and of sum one or nothing at all."""
    view = viewed.view_of(seed)
    for prompt in view.bundle.domain.prompts[:4]:
        for one in numbers(seed).trace.readings(prompt):
            assert all(0 <= key <= one.query and weight > 0 for key, weight in one.weights)
            assert sum(weight for _, weight in one.weights) in (0, 1)


def test_parts_that_are_no_stages_come_from_the_embedding():
    """The closed union of parts is met here in all its cases."""
    kinds = {type(part) for seed in SEEDS for one in numbers(seed).trace.stages for part in one.stage.parts}
    assert kinds == {StagePart, PortPart, TokenPart, PositionPart, BiasPart}
