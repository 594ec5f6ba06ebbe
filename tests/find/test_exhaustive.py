"""Greedy removal along the attribution order, against looking at every circuit there is."""

from dataclasses import replace
from itertools import combinations

import pytest

from circuitproof.circuits.circuit import circuit_of, whole
from circuitproof.find.attribute import arrange
from circuitproof.find.choices import Objective, Order, RemovalUnit
from circuitproof.find.objective import Meter, Tolerance
from circuitproof.find.parts import parts_of
from circuitproof.find.prune import prune
from circuitproof.tasks.alphabet import Alphabet
from circuitproof.tasks.domain import Domain
from circuitproof.tasks.quotes import toy_quotes
from circuitproof.tasks.rules import AnswerTable, ClassTable
from circuitproof.tasks.task import Task
from hand_models import QUOTE_EDGES, quote_model
from models import random_model, tiny_architecture

SEEDS = range(40)
PROMPTS = tuple((a, b) for a in range(4) for b in range(4))
TASK = Task(
    name="pairs",
    alphabet=Alphabet(("a", "b", "c", "d", "e")),
    candidates=(0, 1),
    domain=Domain(PROMPTS, ("all",) * len(PROMPTS)),
    answer=AnswerTable((0,) * len(PROMPTS)),
    relation=ClassTable(tuple(range(len(PROMPTS)))),
)
ANY_RISE = 1e9
"""A threshold that leaves agreement as the only condition."""


def greedy(meter):
    """Return what greedy removal along the attribution order leaves."""
    graph = meter.model.graph
    parts = parts_of(graph, RemovalUnit.HEAD)
    order = arrange(meter, parts, Order.ATTRIBUTION)
    return prune(meter, order, Tolerance(ANY_RISE)).circuit


def sufficient(meter):
    """Return every circuit that keeps all decisions, in order of size."""
    edges = meter.model.graph.edges()
    subsets = [
        circuit_of(meter.model.graph, chosen)
        for size in range(len(edges) + 1)
        for chosen in combinations(edges, size)
    ]
    measures = meter.measure(subsets)
    return [kept for kept, found in zip(subsets, measures, strict=True) if found.agreement == 1]


def test_both_find_the_one_mechanism_of_a_model_that_has_one():
    """The smallest of all circuits that close quotes is the one that attribution leads to."""
    meter = Meter(quote_model(), toy_quotes(), Objective.PROGRAM)
    found, smallest = greedy(meter), sufficient(meter)[0]
    assert (
        found
        == smallest
        == circuit_of(found.graph, [e for e in found.graph.edges() if str(e) in QUOTE_EDGES])
    )


@pytest.mark.slow
def test_on_random_models_greedy_is_sufficient_never_smaller_and_mostly_smallest():
    """What greedy finds is on the exhaustive list, and on most models nothing on the list is smaller."""
    as_small = 0
    for seed in SEEDS:
        model = random_model(replace(tiny_architecture(), layers=1, heads=1), seed).double()
        meter = Meter(model, TASK, Objective.MODEL)
        found, listed = greedy(meter), sufficient(meter)
        assert found.live() in {kept.live() for kept in listed}
        assert whole(model.graph) in listed
        smallest = min(len(kept.live()) for kept in listed)
        assert len(found) >= smallest
        as_small += len(found) == smallest
    assert as_small >= len(SEEDS) // 2
