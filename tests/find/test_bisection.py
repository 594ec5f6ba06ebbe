from itertools import product

import pytest

from circuitproof.circuits.circuit import whole
from circuitproof.find.attribute import arrange
from circuitproof.find.bisection import prune_prefix, prune_runs
from circuitproof.find.choices import Objective, Order, RemovalUnit
from circuitproof.find.objective import Meter, Tolerance
from circuitproof.find.parts import parts_of, topological
from circuitproof.tasks.quotes import toy_quotes
from hand_models import QUOTE_EDGES, circuit_of, quote_model, table_task
from models import random_model, tiny_architecture

PROMPTS = [prompt for length in (1, 2) for prompt in product((0, 2, 4), repeat=length)]
TASK = table_task({prompt: sum(prompt) % 2 for prompt in PROMPTS})
SEARCHES = [prune_prefix, prune_runs]


def setting(seed):
    """Return a meter of a random model and the order of its edges."""
    model = random_model(tiny_architecture(), seed=seed).double()
    meter = Meter(model, TASK, Objective.MODEL)
    parts = parts_of(model.graph, RemovalUnit.HEAD)
    return meter, arrange(meter, parts, Order.ATTRIBUTION)


def without(order, count, graph):
    """Return the model without the first parts of an order."""
    return whole(graph).without(*(edge for part in order[:count] for edge in part))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("tolerance", [Tolerance(0.01), Tolerance(1.0), Tolerance(1.0, 0.7)])
def test_a_prefix_is_tolerated_and_one_part_more_is_not(seed, tolerance):
    """Bisection ends where tolerated and not tolerated meet, both of them measured."""
    meter, order = setting(seed)
    found = prune_prefix(meter, order, tolerance)
    count = sum(found.removed)
    assert found.removed == (True,) * count + (False,) * (len(order) - count)
    assert found.circuit == without(order, count, meter.model.graph).live()
    before, kept = meter.measure([whole(meter.model.graph), found.circuit])
    assert tolerance.allows(before, kept)
    assert found.measure == kept
    if count < len(order):
        (more,) = meter.measure([without(order, count + 1, meter.model.graph)])
        assert not tolerance.allows(before, more)


@pytest.mark.parametrize("seed", range(2))
def test_a_prefix_takes_logarithmically_many_forwards(seed):
    """Up in strides that double, and down by halves."""
    meter, order = setting(seed)
    prune_prefix(meter, order, Tolerance(1.0))
    assert meter.circuits <= 2 * len(order).bit_length() + 1


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("tolerance", [Tolerance(0.01), Tolerance(1.0)])
def test_runs_keep_a_part_only_where_its_removal_was_refused(seed, tolerance):
    """Each part that stays was tried with the parts before it gone, and was not tolerated."""
    meter, order = setting(seed)
    found = prune_runs(meter, order, tolerance)
    assert len(found.circuit) <= len(prune_prefix(meter, order, tolerance).circuit)
    kept = whole(meter.model.graph)
    (before,) = meter.measure([kept])
    for part, gone in zip(order, found.removed, strict=True):
        smaller = kept.without(*part)
        if gone:
            kept = smaller
        else:
            assert not tolerance.allows(before, meter.measure([smaller])[0])
    assert found.circuit == kept.live()
    assert tolerance.allows(before, found.measure)


@pytest.mark.parametrize("search", SEARCHES)
def test_the_only_needed_path_is_found(search):
    """By attribution the two needed edges come last."""
    model, task = quote_model(), toy_quotes()
    meter = Meter(model, task, Objective.PROGRAM)
    parts = parts_of(model.graph, RemovalUnit.HEAD)
    order = arrange(meter, parts, Order.ATTRIBUTION)
    assert search(meter, order, Tolerance(0.01)).circuit == circuit_of(QUOTE_EDGES)


@pytest.mark.parametrize("search", SEARCHES)
def test_a_model_without_a_decision_to_keep_loses_everything(search):
    """Zero weights tie every candidate with and without edges: the same tie."""
    model = quote_model({"logits.weight": [[0, 0]] * 32})
    order = topological(parts_of(model.graph, RemovalUnit.HEAD))
    found = search(Meter(model, toy_quotes(), Objective.MODEL), order, Tolerance(0.0))
    assert (len(found.circuit), all(found.removed)) == (0, True)


@pytest.mark.parametrize("search", SEARCHES)
def test_a_model_that_cannot_do_the_task_is_left_whole(search):
    """And the measure says that it does not agree."""
    model = quote_model({"logits.weight": [[0, 0]] * 32})
    order = topological(parts_of(model.graph, RemovalUnit.HEAD))
    found = search(Meter(model, toy_quotes(), Objective.PROGRAM), order, Tolerance(0.0))
    assert (found.circuit, found.measure.agreed) == (whole(model.graph), 0)
