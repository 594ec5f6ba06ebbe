from itertools import product

import pytest

from circuitproof.errors import InputError, OverdueError
from circuitproof.find.attribute import arrange
from circuitproof.find.bisection import prune_prefix, prune_runs
from circuitproof.find.choices import Objective, Order, RemovalUnit, Search
from circuitproof.find.measure import Measure
from circuitproof.find.objective import Meter, Tolerance
from circuitproof.find.parts import parts_of
from circuitproof.find.prune import prune
from circuitproof.find.sweep import CircuitCandidate, sweep
from circuitproof.proof.effort import Pace
from hand_models import QUOTE_EDGES, circuit_of, table_task
from models import random_model, tiny_architecture

PROMPTS = [prompt for length in (1, 2) for prompt in product((0, 2, 4), repeat=length)]
TASK = table_task({prompt: sum(prompt) % 2 for prompt in PROMPTS})
TOLERANCES = [Tolerance(threshold) for threshold in (0.001, 0.03, 1.0)]
ALONE = {Search.GREEDY: prune, Search.BISECTION: prune_prefix, Search.RUNS: prune_runs}


def setting(seed):
    """Return a meter of a random model and the order of its edges."""
    model = random_model(tiny_architecture(), seed=seed).double()
    meter = Meter(model, TASK, Objective.MODEL)
    parts = parts_of(model.graph, RemovalUnit.HEAD)
    return meter, arrange(meter, parts, Order.ATTRIBUTION)


@pytest.mark.parametrize("search", Search)
@pytest.mark.parametrize("seed", range(2))
def test_each_candidate_is_what_a_fresh_run_finds(seed, search):
    """Reused work saves forwards and changes no circuit, whatever the order of the thresholds."""
    fresh = []
    for tolerance in TOLERANCES:
        meter, order = setting(seed)
        fresh.append(ALONE[search](meter, order, tolerance).circuit)
    for tolerances, wanted in ((TOLERANCES, fresh), (TOLERANCES[::-1], fresh[::-1])):
        meter, order = setting(seed)
        found = sweep(meter, order, tolerances, search)
        assert [candidate.circuit for candidate in found] == wanted
        assert [candidate.threshold for candidate in found] == [t.threshold for t in tolerances]


def test_a_sweep_is_deterministic():
    """Two runs give the same rows, to the last bit."""
    first, second = (sweep(*setting(0), TOLERANCES) for _ in range(2))
    assert first == second


def test_a_sweep_runs_fewer_circuits_than_its_parts():
    """The meter remembers, and the last threshold's outcome is the guess for the next."""
    meter, order = setting(0)
    sweep(meter, order, TOLERANCES)
    alone = []
    for tolerance in TOLERANCES:
        fresh, _ = setting(0)
        prune(fresh, order, tolerance)
        alone.append((fresh.batches, fresh.circuits))
    assert meter.batches < sum(batches for batches, _ in alone)
    assert meter.circuits < sum(circuits for _, circuits in alone)


def test_every_candidate_is_told_as_it_is_found():
    """For whoever waits."""
    told = []
    meter, order = setting(0)
    meter.pace = Pace(hear=lambda *heard: told.append(heard))
    sweep(meter, order, TOLERANCES)
    count = len(TOLERANCES)
    assert told == [("thresholds", done, count) for done in range(count + 1)]


def test_a_sweep_ends_with_the_candidates_that_there_was_time_for():
    """A kill would lose them."""
    meter, order = setting(0)
    everything = sweep(meter, order, TOLERANCES)
    first, _ = setting(0)
    sweep(first, order, TOLERANCES[:1])
    hurried, _ = setting(0)
    hurried.pace = Pace(first.batches + 0.5, lambda: hurried.batches)
    some = sweep(hurried, order, TOLERANCES)
    assert 0 < len(some) < len(everything)
    assert some == everything[: len(some)]


def test_a_sweep_without_time_says_so():
    """No candidate would be no answer."""
    meter, order = setting(0)
    meter.pace = Pace(0)
    with pytest.raises(OverdueError, match="the work was ended before a circuit was found: give more time"):
        sweep(meter, order, TOLERANCES)


def test_a_sweep_over_nothing_is_refused():
    """No candidate would be no answer."""
    meter, order = setting(0)
    with pytest.raises(InputError, match="no thresholds to sweep; give at least one"):
        sweep(meter, order, [])


def test_a_candidate_is_told_with_its_edges():
    """So that every circuit of a report can be run again."""
    candidate = CircuitCandidate(0.1, circuit_of(QUOTE_EDGES), Measure(0.25, 3, 4, -1.5))
    assert candidate.to_json() == {
        "threshold": 0.1,
        "kl": 0.25,
        "agreed": 3,
        "prompts": 4,
        "worst_margin": -1.5,
        "nodes": 3,
        "heads": 1,
        "edges": list(QUOTE_EDGES),
    }
