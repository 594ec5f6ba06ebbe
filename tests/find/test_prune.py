from dataclasses import replace
from itertools import product

import pytest

from circuitproof.circuits.ablation import Counterfactual, Mean, Pooling
from circuitproof.circuits.circuit import Circuit, whole
from circuitproof.find.attribute import arrange
from circuitproof.find.choices import Objective, Order, RemovalUnit
from circuitproof.find.objective import Meter, Tolerance
from circuitproof.find.parts import parts_of, topological
from circuitproof.find.prune import prune
from circuitproof.tasks.quotes import toy_quotes
from floats import agree
from hand_models import ADDED, ADDER, QUOTE_EDGES, build, circuit_of, quote_model, table_task
from models import NORMS, PROGRAMS, random_model, tiny_architecture

PROMPTS = [prompt for length in (1, 2) for prompt in product((0, 2, 4), repeat=length)]
TASK = table_task({prompt: sum(prompt) % 2 for prompt in PROMPTS})


def slow_prune(model, task, objective, order, tolerance, *, every=None):
    """Return what one part at a time leaves, every circuit measured alone and anew."""

    def alone(circuit):
        return Meter(model, task, objective).measure([circuit])[0]

    kept = every or whole(model.graph)
    measure = alone(kept)
    removed = []
    for part in order:
        smaller = kept.without(*part)
        found = alone(smaller)
        removed.append(tolerance.allows(measure, found))
        if removed[-1]:
            kept, measure = smaller, found
    return kept.live(), tuple(removed)


TOLERANCES = [Tolerance(0.0), Tolerance(0.02), Tolerance(0.5), Tolerance(0.1, 0.8)]


@pytest.mark.parametrize(("norm", "tolerance"), list(zip(NORMS, TOLERANCES, strict=True)))
@pytest.mark.parametrize(
    ("granularity", "objective"), list(zip((RemovalUnit.HEAD, RemovalUnit.BLOCK), Objective, strict=True))
)
def test_batched_removal_is_one_part_at_a_time(norm, granularity, objective, tolerance):
    """The law that makes the guesses harmless, whatever they are."""
    programs = PROGRAMS if norm == NORMS[0] else {}
    model = random_model(tiny_architecture(norm=norm), seed=5, programs=programs).double()
    meter = Meter(model, TASK, objective)
    order = arrange(meter, parts_of(model.graph, granularity), Order.ATTRIBUTION)
    circuit, removed = slow_prune(model, TASK, objective, order, tolerance)
    for guess in (None, [not gone for gone in removed], removed):
        found = prune(Meter(model, TASK, objective), order, tolerance, guess)
        assert (found.circuit, found.removed) == (circuit, removed)
        (alone,) = meter.measure([found.circuit])
        assert agree(found.measure.kl, alone.kl)
        assert found.measure.agreed == alone.agreed


CUT = [
    Mean(tuple(PROMPTS)),
    Mean(tuple(PROMPTS), Pooling.ALL),
    Counterfactual(tuple((prompt, prompt[::-1]) for prompt in PROMPTS)),
]


@pytest.mark.parametrize("ablation", CUT, ids=lambda cut: f"{cut.kind}-{getattr(cut, 'over', 'partner')}")
@pytest.mark.parametrize("removal", [RemovalUnit.HEAD, RemovalUnit.PORT])
def test_batched_removal_is_one_part_at_a_time_whatever_cut_edges_carry(ablation, removal):
    """The same law at both granularities; every circuit found carries the ablation."""
    model = random_model(tiny_architecture(), seed=5).double()
    every = Circuit(*_parts(model, removal), ablation)
    meter = Meter(model, TASK, Objective.MODEL, every=every)
    order = arrange(meter, parts_of(every.graph, removal), Order.ATTRIBUTION)
    tolerance = Tolerance(0.05)
    circuit, removed = slow_prune(model, TASK, Objective.MODEL, order, tolerance, every=every)
    found = prune(meter, order, tolerance)
    assert (found.circuit, found.removed) == (circuit, removed)
    assert found.circuit.ablation == ablation
    assert any(removed)


def _parts(model, removal):
    graph = replace(model.graph, granularity=removal.granularity)
    return graph, frozenset(graph.edges())


def test_a_right_guess_takes_few_batches():
    """One run of the model for each doubled window, instead of one for each part."""
    model = random_model(tiny_architecture(), seed=5).double()
    order = topological(parts_of(model.graph, RemovalUnit.HEAD))
    removed = prune(Meter(model, TASK, Objective.MODEL), order, Tolerance(0.02)).removed
    meter = Meter(model, TASK, Objective.MODEL)
    prune(meter, order, Tolerance(0.02), removed)
    assert len(order) == 26
    assert meter.batches <= 4


@pytest.mark.parametrize("objective", Objective)
@pytest.mark.parametrize("order", Order)
def test_the_only_needed_path_is_found(order, objective):
    """The hand-made model closes quotes along one path; everything else carries nothing."""
    model, task = quote_model(), toy_quotes()
    meter = Meter(model, task, objective)
    parts = arrange(meter, parts_of(model.graph, RemovalUnit.HEAD), order)
    found = prune(meter, parts, Tolerance(0.01))
    assert found.circuit == circuit_of(QUOTE_EDGES)
    assert found.measure.agreement == 1


def test_an_edge_that_decides_a_prompt_stays_at_any_threshold():
    """Tokens 0 and 2 need the adder's MLP, tokens 1 and 3 its direct path."""
    model = build(ADDER)
    meter = Meter(model, table_task({(0,): 1, (1,): 0, (2,): 1, (3,): 0}), Objective.MODEL)
    order = topological(parts_of(model.graph, RemovalUnit.HEAD))
    assert prune(meter, order, Tolerance(100.0)).circuit == circuit_of(ADDED)


def test_a_lower_agreement_allows_more():
    """Half of those prompts can be had with the direct path alone, or with the MLP alone."""
    model = build(ADDER)
    meter = Meter(model, table_task({(0,): 1, (1,): 0, (2,): 1, (3,): 0}), Objective.MODEL)
    order = topological(parts_of(model.graph, RemovalUnit.HEAD))
    found = prune(meter, order, Tolerance(100.0, agreement=0.5))
    assert found.measure.agreed == 2
    assert len(found.circuit) < len(ADDED)


@pytest.mark.parametrize("seed", range(3))
def test_block_granularity_keeps_or_removes_whole_blocks(seed):
    """What is left before trimming is a union of blocks."""
    model = random_model(tiny_architecture(), seed=seed).double()
    parts = topological(parts_of(model.graph, RemovalUnit.BLOCK))
    found = prune(Meter(model, TASK, Objective.MODEL), parts, Tolerance(0.1))
    kept = [part for part, gone in zip(parts, found.removed, strict=True) if not gone]
    assert (
        found.circuit
        == whole(model.graph).without(*(edge for part in parts if part not in kept for edge in part)).live()
    )
    assert 0 < len(kept) < len(parts)
    assert any(len(part) > 1 for part in kept)


def test_what_is_found_has_no_dead_edge():
    """A model that cannot do the task keeps everything that reaches the logits."""
    model = random_model(tiny_architecture(), seed=1).double()
    order = topological(parts_of(model.graph, RemovalUnit.HEAD))
    for threshold in (0.0, 0.1, 10.0):
        found = prune(Meter(model, TASK, Objective.MODEL), order, Tolerance(threshold)).circuit
        assert found == found.live()
