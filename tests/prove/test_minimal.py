"""The fewest edges that suffice, against trying everything."""

import pytest

from circuitproof.declare.circuits.smaller import circuits_of_size
from circuitproof.errors import InputError
from circuitproof.prove.battery import prove
from circuitproof.prove.claim import Claim
from circuitproof.prove.evidence import CircuitSplit, OneCircuit, PromptSplit, Replay
from circuitproof.prove.fold import fold
from circuitproof.prove.minimal import search_minimum, try_circuits
from circuitproof.prove.properties import Equivalence, Minimum, SubsetMinimality
from circuitproof.prove.verdict import Verdict
from hand_models import ADDED, ADDER, ADDER_TASK, adder_claim, build, circuit_of, freeze, table_task
from models import random_model, tiny_architecture


def decides(frozen, task, circuit):
    """Say, from all folds, whether a circuit decides the task."""
    found = fold(frozen, task.candidates, [circuit], task.domain.prompts).of(circuit)
    wanted = [task.candidates.index(answer) for answer in task.answers()]
    return all(one.decision == {place} for one, place in zip(found, wanted, strict=True))


def test_the_adder_needs_all_its_edges():
    """Neither way alone decides the task, so three edges are the fewest of six."""
    frozen = freeze(build(ADDER))
    search = search_minimum(frozen, ADDER_TASK, most=4, budget=1000)
    assert search.minimum == (circuit_of(ADDED),)
    assert search.refuted_below == 3
    assert [trial.is_equivalent for trial in search.trials].count(True) == 1


@pytest.mark.parametrize("seed", range(5))
def test_the_search_agrees_with_trying_every_circuit(seed):
    """On random models, with the answers of a random circuit as the task."""
    frozen = freeze(random_model(tiny_architecture(), seed))
    prompts = [(a, b) for a in range(5) for b in range(2)]
    circuits = [c for size in (1, 2, 3) for c in circuits_of_size(frozen.graph, frozen.graph.edges(), size)]
    chosen = circuits[(7 * seed + 11) % len(circuits)]
    decided = fold(frozen, (0, 1, 2), [chosen], prompts).of(chosen)
    task = table_task({p: f.winner for p, f in zip(prompts, decided, strict=True)}, candidates=(0, 1, 2))
    search = search_minimum(frozen, task, most=3, budget=10**6)
    right = [circuit for circuit in circuits if decides(frozen, task, circuit)]
    fewest = min(map(len, right))
    assert search.minimum == tuple(circuit for circuit in right if len(circuit) == fewest)
    assert search.refuted_below == fewest


def test_a_size_with_too_many_circuits_is_not_begun():
    """What is refuted by then is a proved lower bound, and no circuit is called a minimum."""
    frozen = freeze(build(ADDER))
    search = search_minimum(frozen, ADDER_TASK, most=4, budget=1)
    assert (search.refuted_below, search.minimum) == (2, ())
    assert len(search.trials) == 1


def test_a_search_that_finds_nothing_says_how_far_it_came():
    """Every circuit of at most two edges is refuted: the fewest are at least three."""
    search = search_minimum(freeze(build(ADDER)), ADDER_TASK, most=2, budget=1000)
    assert (search.refuted_below, search.minimum) == (3, ())


def test_a_refuted_circuit_names_a_prompt_it_decides_wrong():
    """Whatever prompts were tried first."""
    frozen = freeze(build(ADDER))
    circuits = circuits_of_size(frozen.graph, frozen.graph.edges(), 2)
    for trial in try_circuits(frozen, ADDER_TASK, circuits):
        assert trial.refuting is not None
        prompt = ADDER_TASK.prompts[trial.refuting]
        (found,) = fold(frozen, ADDER_TASK.candidates, [trial.circuit], [prompt]).of(trial.circuit)
        answer = ADDER_TASK.candidates.index(ADDER_TASK.answers()[trial.refuting])
        assert found.decision != {answer}


def test_minimum_and_subset_minimality_are_proved_circuit_by_circuit():
    """Each smaller circuit has a replay, the expected one a proof."""
    battery = prove(adder_claim(Equivalence(), SubsetMinimality(), Minimum((circuit_of(ADDED),))))
    assert [answer.verdict for answer in battery.answers] == [Verdict.PROVED] * 3
    graph = battery.claim.frozen.graph
    among_all = sum(len(circuits_of_size(graph, graph.edges(), size)) for size in (1, 2, 3))
    for answer, count in zip(battery.answers[1:], (4, among_all), strict=True):
        assert isinstance(answer.evidence, CircuitSplit)
        assert answer.obligations == len(answer.evidence.children) == count
        kinds = [type(child) for child in answer.evidence.children]
        assert kinds.count(PromptSplit) == 1
        assert kinds.count(Replay) == count - 1


def test_a_circuit_with_an_edge_too_many_is_not_minimal():
    """The smaller circuit that suffices is named and proved."""
    task = table_task({(0,): 1, (1,): 0, (3,): 1})
    weights = {"mlp.0.down.weight": [[0, 0], [0, 0]]}
    edges = ("embed -> mlp 0", "embed -> logits", "mlp 0 -> logits")
    claim = adder_claim(SubsetMinimality(), weights=weights, edges=edges, task=task)
    direct = circuit_of(["embed -> logits"])
    is_right = decides(claim.frozen, task, direct)
    (answer,) = prove(claim).answers
    assert is_right == (isinstance(answer.evidence, OneCircuit) and answer.evidence.circuit == direct)
    assert answer.verdict is Verdict.REFUTED


def test_a_claimed_minimum_that_lists_a_wrong_circuit_is_refuted():
    """By a prompt that the listed circuit decides wrong, or by a smaller circuit that is right."""
    chain = circuit_of(["embed -> mlp 0", "mlp 0 -> logits"])
    claim = adder_claim(Minimum((chain,)), edges=["embed -> mlp 0", "mlp 0 -> logits"])
    (answer,) = prove(claim).answers
    assert answer.verdict is Verdict.REFUTED
    assert isinstance(answer.evidence, OneCircuit)
    assert answer.evidence.circuit == chain
    assert isinstance(answer.evidence.evidence, Replay)


def test_a_claimed_minimum_that_misses_a_circuit_is_refuted():
    """The circuit that was left out is named and proved."""
    frozen = freeze(random_model(tiny_architecture(), 3))
    graph = frozen.graph
    prompts = [(a,) for a in range(5)]
    (direct,) = circuits_of_size(graph, graph.edges(), 1)
    decided = fold(frozen, (0, 1), [direct], prompts).of(direct)
    task = table_task({prompts[0]: 1 - decided[0].winner})
    search = search_minimum(frozen, task, most=2, budget=1000)
    assert len(search.minimum) > 1
    (answer,) = prove(Claim(frozen, search.minimum[0], task, (Minimum(search.minimum[:1]),))).answers
    assert answer.verdict is Verdict.REFUTED
    assert answer.evidence.circuit == search.minimum[1]
    assert isinstance(answer.evidence.evidence, PromptSplit)


def test_a_claim_about_the_minimum_is_about_one_of_its_circuits():
    """Otherwise the claim's circuit would have nothing to do with it."""
    with pytest.raises(InputError, match="not among those that are said to be the minimum"):
        adder_claim(Minimum((circuit_of(["embed -> logits"]),)))


def test_a_minimum_with_dead_edges_is_refused():
    """It is not among the circuits that are tried."""
    dead = circuit_of(["embed -> head 0.0", "embed -> logits"])
    with pytest.raises(
        InputError, match="said to be minimal has dead edges or reads no prompt; keep its live part"
    ):
        prove(adder_claim(Minimum((dead,)), edges=["embed -> head 0.0", "embed -> logits"]))
