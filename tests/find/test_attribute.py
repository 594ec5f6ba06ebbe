from dataclasses import replace
from itertools import product

import pytest
import torch

from circuitproof.circuits.ablation import Mean, Pooling
from circuitproof.circuits.circuit import Circuit, whole
from circuitproof.circuits.graph import LOGITS, Edge, Granularity
from circuitproof.errors import NumericError
from circuitproof.find import attribute
from circuitproof.find.attribute import arrange, mask_slopes, scores_of
from circuitproof.find.choices import Objective, Order, RemovalUnit
from circuitproof.find.objective import Meter
from circuitproof.find.parts import parts_of, topological
from circuitproof.nn.edge_masks import edge_masks_of, source_column, target_row
from circuitproof.tasks.quotes import toy_quotes
from floats import agree
from hand_models import ADDER, ADDER_TASK, build, quote_model, table_task
from models import NORMS, PROGRAMS, random_model, tiny_architecture

PROMPTS = [prompt for length in (1, 2, 3) for prompt in product((0, 4), repeat=length)]
TASK = table_task({prompt: sum(prompt) % 2 for prompt in PROMPTS})


def mean_margins(meter, masks):
    """Return the metric at each of some masks, prompt by prompt."""
    total, task = torch.zeros(len(masks.values), dtype=torch.float64), meter.task
    for place, prompt in enumerate(task.domain.prompts):
        with torch.no_grad():
            logits = meter.model.candidate_logits(torch.tensor([prompt]), task.candidates, masks)[:, 0]
        wanted = meter.target.decisions[place]
        total += logits[:, wanted].amin(1) - logits[:, ~wanted].amax(1)
    return total / len(task.domain)


def fp64_gates(graph):
    """Return the masks that are all open, as numbers whose gradients are FP64."""
    masks = edge_masks_of([whole(graph)])
    return replace(masks, values=masks.values.double())


def with_each(masks, places, value):
    """Return as many masks as there are places, each with the one at its place set."""
    values = masks.values.repeat(len(places), 1, 1)
    for number, (row, column) in enumerate(places):
        values[number, row, column] = value
    return replace(masks, values=values)


@pytest.mark.parametrize("programs", [{}, PROGRAMS])
@pytest.mark.parametrize("norm", NORMS[:2])
def test_the_slope_of_a_gate_is_its_finite_difference(norm, programs):
    """One backward pass against two forwards for each mask, prompts of three lengths.

    A central difference of step 2⁻²⁰ is off by about 2⁻⁴⁰ of the third derivative, and by the rounding of
    two margins, 2⁻⁵² each of some tens, over the step: less than half the digits by far.
    """
    model = random_model(tiny_architecture(norm=norm), seed=1, programs=programs).double()
    masks, meter = fp64_gates(model.graph), Meter(model, TASK, Objective.MODEL)
    step = 2.0**-20
    slopes = mask_slopes(meter, masks)
    places = [
        (target_row(model.graph, edge.target), source_column(model.graph, edge.source))
        for edge in model.graph.edges()
    ]
    up, down = (mean_margins(meter, with_each(masks, places, value)) for value in (1 + step, 1 - step))
    for (row, column), difference in zip(places, (up - down) / (2 * step), strict=True):
        assert agree(float(slopes[row, column]), float(difference))


def test_portions_of_prompts_add_up(monkeypatch):
    """Memory decides how many prompts go at once, and must decide nothing else."""
    model = random_model(tiny_architecture(), seed=1).double()
    masks, meter = fp64_gates(model.graph), Meter(model, TASK, Objective.PROGRAM)
    at_once = mask_slopes(meter, masks)
    monkeypatch.setattr(attribute, "_TOKENS_AT_ONCE", 4)
    assert agree(mask_slopes(meter, masks), at_once)


def test_scores_of_a_linear_model_are_the_effects_of_deletion():
    """Where the metric is linear in a mask, its slope is the drop that deletion causes.

    Of the adder's margins on tokens 0 to 3, the MLP's share is 2, 0, 2, -2, the direct path's -1, 1, 0, 3.
    """
    model = build(ADDER)
    meter = Meter(model, ADDER_TASK, Objective.PROGRAM)
    parts = parts_of(model.graph, RemovalUnit.HEAD)
    names = [str(edge) for (edge,) in parts]
    scores = dict(zip(names, scores_of(meter, parts), strict=True))
    assert scores["mlp 0 -> logits"] == 2 / 4
    assert scores["embed -> mlp 0"] == 2 / 4
    assert scores["embed -> logits"] == 3 / 4
    assert scores["head 0.0 -> logits"] == 0


def test_a_block_takes_the_shared_bias_with_it():
    """Removing every head of a layer also removes their output bias, so its slope counts.

    Scores are sums of the same slopes, so they are the same numbers.
    """
    model = random_model(tiny_architecture(), seed=2)
    graph, meter = model.graph, Meter(model, TASK, Objective.MODEL)
    masks = edge_masks_of([whole(graph)])
    slopes = mask_slopes(meter, masks)
    block = tuple(Edge(head, LOGITS) for head in graph.heads_of(1))
    assert block in parts_of(graph, RemovalUnit.BLOCK)
    together, *alone = scores_of(meter, [block, *((edge,) for edge in block)])
    closed = slopes[target_row(graph, LOGITS), masks.head_columns(1)]
    assert together == abs(sum(closed.tolist()))
    assert alone == closed[:2].abs().tolist()
    assert abs(float(closed[2])) > 1e-3


@pytest.mark.parametrize("granularity", [RemovalUnit.HEAD, RemovalUnit.BLOCK])
def test_the_least_important_part_comes_first(granularity):
    """Ties, such as of edges that carry nothing, are broken by where the edge stands."""
    model = quote_model()
    task, parts = toy_quotes(), parts_of(model.graph, granularity)
    meter = Meter(model, task, Objective.PROGRAM)
    order = arrange(meter, parts, Order.ATTRIBUTION)
    scores = dict(zip(parts, scores_of(meter, parts), strict=True))
    assert set(order) == set(parts)
    assert [scores[part] for part in order] == sorted(scores.values())
    assert {str(edge) for part in order[-2:] for edge in part} == {"embed -> head 0.0", "head 0.0 -> logits"}
    idle = [part[0].place for part in order[:-2]]
    assert idle == sorted(idle)


@pytest.mark.parametrize("over", Pooling)
def test_a_score_is_how_fast_the_margin_changes_as_what_cut_edges_carry_takes_the_place(over):
    """The slow twin closes one mask a little and runs the model again."""
    model = random_model(tiny_architecture(), seed=3).double()
    graph = replace(model.graph, granularity=Granularity.PORT)
    prompts = ((0, 2), (4, 2), (2, 0), (4, 4))
    task = table_task({prompt: sum(prompt) % 2 for prompt in prompts})
    every = Circuit(graph, frozenset(graph.edges()), Mean(prompts, over))
    meter = Meter(model, task, Objective.MODEL, every=every)
    masks, tokens = edge_masks_of([every]), torch.tensor(prompts)
    slopes = mask_slopes(meter, masks)
    for edge in list(graph.edges())[::5]:
        row, column, step = target_row(graph, edge.target), source_column(graph, edge.source), 1e-6
        values = masks.values.double().clone()
        values[0, row, column] -= step
        changed = (replace(masks, values=one) for one in (masks.values.double(), values))
        runs = [model.candidate_logits(tokens, task.candidates, one) for one in changed]
        before, after = (float(meter.target.margins(run).detach().mean()) for run in runs)
        slope = float(slopes[row, column])
        assert (
            abs((before - after) / step - slope) <= max(abs(slope), 1) / 1000
        )  # a difference, not a derivative


def test_the_topological_order_needs_no_gradient():
    """It is that of the parts."""
    model, task = quote_model(), toy_quotes()
    parts = parts_of(model.graph, RemovalUnit.HEAD)
    meter = Meter(model, task, Objective.PROGRAM)
    assert arrange(meter, parts, Order.TOPOLOGICAL) == topological(parts)


def test_the_model_is_left_as_it_was():
    """Scoring leaves no gradients behind for a trainer to step on."""
    model = random_model(tiny_architecture())
    meter = Meter(model, TASK, Objective.MODEL)
    scores_of(meter, parts_of(model.graph, RemovalUnit.HEAD))
    assert all(parameter.grad is None for parameter in model.parameters())


def test_a_gradient_that_is_no_number_is_refused():
    """Sorting NaN gives an order that means nothing."""
    model = build(ADDER)
    meter = Meter(model, ADDER_TASK, Objective.PROGRAM)
    with torch.no_grad():
        model.unembed.fill_(float("nan"))
    with pytest.raises(NumericError, match="the gradient of an edge is NaN or infinite"):
        scores_of(meter, parts_of(model.graph, RemovalUnit.HEAD))
