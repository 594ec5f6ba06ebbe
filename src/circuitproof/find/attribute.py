"""Scoring every edge of a model with one backward pass through its edge masks.

A mask of 1 keeps an edge, a mask of 0 removes it, and in between it scales what the edge carries; what a cut
edge carries takes the rest. The score of a part is how fast the metric changes when its masks leave 1 for 0,
at the full model. The metric is the mean margin of the wanted decision, not the divergence: the
divergence from the model has its minimum at the full model, so its gradient vanishes there and would score
every edge zero.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import assert_never

import torch
from jaxtyping import Float
from torch import Tensor

from circuitproof.circuits.graph import Head
from circuitproof.errors import NumericError
from circuitproof.find.choices import Order
from circuitproof.find.objective import KeptDecisions, Meter
from circuitproof.find.parts import EdgeGroup, topological
from circuitproof.nn.edge_masks import EdgeMasks, edge_masks_of, source_column, target_row
from circuitproof.tasks.domain import by_length
from circuitproof.tasks.task import Task

_TOKENS_AT_ONCE = 1 << 12
"""How many tokens one backward pass keeps in memory; longer tasks add up the gradients of portions."""


def arrange(meter: Meter, parts: Sequence[EdgeGroup], order: Order) -> tuple[EdgeGroup, ...]:
    """Return the parts in the order in which they are to be tried."""
    match order:
        case Order.TOPOLOGICAL:
            return topological(parts)
        case Order.ATTRIBUTION:
            scores = dict(zip(parts, scores_of(meter, parts), strict=True))
            return tuple(sorted(parts, key=lambda part: (scores[part], part[0].place)))
        case _:
            assert_never(order)


def scores_of(meter: Meter, parts: Sequence[EdgeGroup]) -> tuple[float, ...]:
    """Return how much each part matters to the mean margin, to first order; never negative.

    Edges of one part close together, and with all heads of a layer closes the bias that they share.
    """
    masks = edge_masks_of([meter.every])
    slopes = mask_slopes(meter, masks).tolist()
    return tuple(
        abs(sum(slopes[row][column] for row, column in _masks_of_part(masks, part))) for part in parts
    )


def mask_slopes(meter: Meter, masks: EdgeMasks) -> Float[Tensor, "target source"]:
    """Return the derivative of the mean margin with respect to every mask."""
    task, target = meter.task, meter.target
    values = masks.values.clone().requires_grad_()
    slopes = torch.zeros_like(values)
    for places in _portions(task):
        tokens = meter.model.tokens_of([task.prompts[place] for place in places])
        varied = replace(masks, values=values)
        logits = meter.model.candidate_logits(tokens, task.candidates, varied, task.position)
        wanted = KeptDecisions(target.probabilities[places], target.decisions[places])
        (portion,) = torch.autograd.grad(wanted.margins(logits.cpu()).sum(), values)
        slopes += portion
    if not bool(slopes.isfinite().all()):
        raise NumericError("the gradient of an edge is NaN or infinite; try the topological order")
    return slopes[0] / task.size


def _portions(task: Task) -> Iterator[list[int]]:
    """Yield places of prompts of one length, so many at a time as fit in memory."""
    for length, places in by_length(task.prompts).items():
        step = max(1, _TOKENS_AT_ONCE // length)
        for start in range(0, len(places), step):
            yield places[start : start + step]


def _masks_of_part(masks: EdgeMasks, part: EdgeGroup) -> Iterator[tuple[int, int]]:
    """Yield row and column of each mask that is 0 without a part; all heads of a layer take their bias."""
    graph, heads = masks.graph, Counter[tuple[int, int]]()
    for edge in part:
        row = target_row(graph, edge.target)
        yield row, source_column(graph, edge.source)
        if isinstance(edge.source, Head):
            heads[row, edge.source.layer] += 1
    for (row, layer), count in heads.items():
        if count == graph.heads:
            yield row, masks.head_columns(layer)[-1]
