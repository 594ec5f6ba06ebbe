"""The fewest edges that suffice, against trying everything."""

from dataclasses import replace
from itertools import combinations
from random import Random

import pytest

from circuitproof.circuits.circuit import circuit_of, empty, whole
from circuitproof.circuits.graph import EMBED, Head
from circuitproof.circuits.smaller import circuits_of_size
from circuitproof.errors import InputError
from circuitproof.forward.frozen import open_model
from circuitproof.programs.text import parse
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.effort import Effort, Pace
from circuitproof.proof.evidence import CircuitSplit, OneCircuit, PromptSplit, Replay
from circuitproof.proof.fold import fold
from circuitproof.proof.minimal import SearchLimit, search_minimum, try_circuits
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.minimum import Minimum
from circuitproof.proof.properties.subset_minimality import SubsetMinimality
from circuitproof.proof.verdict import Verdict
from circuitproof.tasks.catalogue import find_task
from hand_models import (
    ADDED,
    ADDER,
    ADDER_TASK,
    PLAIN,
    QUOTE_EDGES,
    READ_OFF,
    adder_claim,
    build,
    freeze,
    quote_model,
    table_task,
)
from hand_models import circuit_of as hand_circuit
from models import random_model, tiny_architecture
from random_claims import Spelled, Theme, random_program, random_sizes, random_tensors


def decides(frozen, task, circuit):
    """Say, from all folds, whether a circuit decides the task."""
    found = fold(frozen, task.candidates, [circuit], task.domain.prompts).of(circuit)
    wanted = [task.candidates.index(answer) for answer in task.answers()]
    return all(one.decision == {place} for one, place in zip(found, wanted, strict=True))


def test_the_adder_needs_all_its_edges():
    """Neither way alone decides the task, so three edges are the fewest of six."""
    frozen = freeze(build(ADDER))
    search = search_minimum(frozen, ADDER_TASK, most=4, budget=1000)
    assert search.minimum == (hand_circuit(ADDED),)
    assert search.refuted_below == 3
    assert [trial.is_equivalent for trial in search.trials].count(True) == 1


def drawn_model(seed):
    """Return a small random model: program heads of every form, biases or none, a norm or none."""
    draw = Random(f"minimal {seed}")  # noqa: S311  # models, not secrets
    size = random_sizes(draw, Theme((), features=frozenset({"neural", "small"})))
    programs = {"0.0": random_program(draw, size)} if seed % 4 else {}
    return Spelled(size | {"heads": 1}, programs, random_tensors(draw, size | {"heads": 1}, programs)), draw


def every_set(graph, most):
    """Return all sets of edges up to a size, the empty one and those with dead edges included."""
    chosen = (edges for size in range(most + 1) for edges in combinations(graph.edges(), size))
    return [circuit_of(graph, edges) for edges in chosen]


@pytest.mark.parametrize("seed", range(40))
def test_the_search_agrees_with_trying_every_set_of_edges(seed, tmp_path):
    """The answers are those of a random set, so that some set suffices; nothing is left out here."""
    spelled, draw = drawn_model(seed)
    frozen = open_model(spelled.write(tmp_path / "model"))
    lengths = range(1, frozen.architecture.context + 1)
    prompts = [tuple(draw.choices(range(4), k=k)) for k in lengths for _ in "ab"]
    sets = every_set(frozen.graph, 3)
    folded = fold(frozen, (0, 1, 2), sets, list(dict.fromkeys(prompts)))
    chosen = draw.choice(sets)
    task = table_task(
        {p: min(f.decision) for p, f in zip(dict.fromkeys(prompts), folded.of(chosen), strict=True)},
        candidates=(0, 1, 2),
    )
    wanted = [frozenset({task.candidates.index(answer)}) for answer in task.answers()]
    right = [one for one in sets if [found.decision for found in folded.of(one)] == wanted]
    search = search_minimum(frozen, task, most=3, budget=10**6)
    fewest = min(map(len, right), default=4)
    assert set(search.minimum) == {one for one in right if len(one) == fewest}
    assert search.refuted_below == fewest


def test_what_a_program_head_decides_alone_is_the_fewest():
    """Once called blind: the head tells prompts apart by where it attends, and needs no edge from `embed`."""
    sizes = replace(PLAIN, biases=True)
    program = parse("default 0\nadd 1 when key_token == 3\notherwise nowhere")
    weights = {"head.0.0.value.bias": [1, 0], "head.0.0.output.weight": [[2, 0], [0, 1]]}
    weights |= {"attention.0.output.bias": [0, 1], "logits.weight": READ_OFF}
    frozen = freeze(build(weights, sizes, {Head(0, 0): program}))
    task = table_task({(3, 0): 0, (2, 0): 1})
    search = search_minimum(frozen, task, most=3, budget=1000)
    assert [list(map(str, one)) for one in search.minimum] == [["head 0.0 -> logits"]]
    claim = Claim(
        frozen, search.minimum[0], task, (Equivalence(), SubsetMinimality(), Minimum(search.minimum))
    )
    assert prove(claim).verdict is Verdict.PROVED
    longer = hand_circuit(["embed -> head 0.0", "head 0.0 -> logits"])
    for prop in (SubsetMinimality(), Minimum((longer,))):
        (answer,) = prove(Claim(frozen, longer, task, (prop,))).answers
        assert answer.verdict is Verdict.REFUTED
        assert answer.evidence.circuit == search.minimum[0]


def test_where_one_answer_is_right_no_edge_may_be_the_fewest():
    """A circuit that reads nothing can be right then, so it is tried too."""
    weights = dict(ADDER) | {"logits.bias": [0, 1, 0, 0, 0]}
    frozen = freeze(build(weights, replace(PLAIN, logit_bias=True)))
    task = table_task({(0,): 1, (2,): 1})
    search = search_minimum(frozen, task, most=2, budget=1000)
    assert (search.refuted_below, search.minimum) == (0, (empty(frozen.graph),))


def test_a_size_with_too_many_circuits_is_not_begun():
    """What is refuted by then is a proved lower bound, and no circuit is called a minimum."""
    frozen = freeze(build(ADDER))
    search = search_minimum(frozen, ADDER_TASK, most=4, budget=1)
    assert (search.refuted_below, search.minimum) == (2, ())
    assert len(search.trials) == 1


@pytest.mark.parametrize(
    ("bounds", "ended_by"),
    [({"most": 2}, SearchLimit.MOST), ({"budget": 1}, SearchLimit.BUDGET), ({}, None)],
)
def test_a_search_says_which_bound_ended_it(bounds, ended_by):
    """Without a bound on the edges it goes on until something will do."""
    search = search_minimum(freeze(build(ADDER)), ADDER_TASK, **{"budget": 1000, **bounds})
    assert search.ended_by is ended_by
    assert bool(search.minimum) is (ended_by is None)


def test_a_search_among_the_edges_of_a_circuit_tries_no_others():
    """Where all of its parts are refuted, that is known and not a lack of anything."""
    frozen, kept = freeze(build(ADDER)), hand_circuit(["embed -> logits", "mlp 0 -> logits"])
    search = search_minimum(frozen, ADDER_TASK, budget=1000, among=kept)
    assert (search.minimum, search.ended_by) == ((), SearchLimit.EDGES)
    assert all(set(trial.circuit) <= set(kept) for trial in search.trials)
    whole_adder = search_minimum(frozen, ADDER_TASK, budget=1000, among=hand_circuit(ADDED))
    assert whole_adder.minimum == (hand_circuit(ADDED),)


def test_subset_minimality_tries_first_what_is_likely_to_refute_it():
    """A circuit with an edge too many is refuted without its many other parts."""
    frozen = freeze(quote_model())
    claim = Claim(frozen, whole(frozen.graph), find_task("quotes"), (SubsetMinimality(),))
    heard: list[tuple[str, int, int]] = []
    (answer,) = prove(claim, Effort(pace=Pace(hear=lambda *told: heard.append(told)))).answers
    assert answer.verdict is Verdict.REFUTED
    assert answer.evidence.circuit == hand_circuit(QUOTE_EDGES)
    tried = [(done, total) for what, done, total in heard if what == "smaller circuits tried"]
    assert tried == [(len(claim.circuit.lesions()), SubsetMinimality().obligations(claim))]


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
    battery = prove(adder_claim(Equivalence(), SubsetMinimality(), Minimum((hand_circuit(ADDED),))))
    assert [answer.verdict for answer in battery.answers] == [Verdict.PROVED] * 3
    graph = battery.claim.frozen.graph
    sizes = (circuits_of_size(graph, graph.edges(), size, {EMBED}) for size in (1, 2, 3))
    among_all = sum(map(len, sizes))
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
    direct = hand_circuit(["embed -> logits"])
    is_right = decides(claim.frozen, task, direct)
    (answer,) = prove(claim).answers
    assert is_right == (isinstance(answer.evidence, OneCircuit) and answer.evidence.circuit == direct)
    assert answer.verdict is Verdict.REFUTED


def test_a_claimed_minimum_that_lists_a_wrong_circuit_is_refuted():
    """By a prompt that the listed circuit decides wrong, or by a smaller circuit that is right."""
    chain = hand_circuit(["embed -> mlp 0", "mlp 0 -> logits"])
    claim = adder_claim(Minimum((chain,)), edges=["embed -> mlp 0", "mlp 0 -> logits"])
    (answer,) = prove(claim).answers
    assert answer.verdict is Verdict.REFUTED
    assert isinstance(answer.evidence, OneCircuit)
    assert answer.evidence.circuit == chain
    assert isinstance(answer.evidence.evidence, Replay)


def one_prompt(seed):
    """Return a random model, a task of one prompt that embed does not decide, and its minimum circuits."""
    frozen = freeze(random_model(tiny_architecture(), seed))
    (direct,) = circuits_of_size(frozen.graph, frozen.graph.edges(), 1, {EMBED})
    (decided,) = fold(frozen, (0, 1), [direct], [(0,)]).of(direct)
    task = table_task({(0,): 1 - decided.winner})
    return frozen, task, search_minimum(frozen, task, most=3, budget=1000).minimum


def test_a_claimed_minimum_that_misses_a_circuit_is_refuted():
    """The circuit that was left out is named and proved."""
    task = table_task({(0,): 0, (1,): 1})
    models = (freeze(random_model(tiny_architecture(), seed)) for seed in range(50))
    searches = ((frozen, search_minimum(frozen, task, most=2, budget=1000)) for frozen in models)
    frozen, search = next((frozen, search) for frozen, search in searches if len(search.minimum) > 1)
    (answer,) = prove(Claim(frozen, search.minimum[0], task, (Minimum(search.minimum[:1]),))).answers
    assert answer.verdict is Verdict.REFUTED
    assert answer.evidence.circuit == search.minimum[1]
    assert isinstance(answer.evidence.evidence, PromptSplit)


def test_a_claim_about_the_minimum_is_about_one_of_its_circuits():
    """Otherwise the claim's circuit would have nothing to do with it."""
    with pytest.raises(InputError, match="not among those that are said to be the minimum"):
        adder_claim(Minimum((hand_circuit(["embed -> logits"]),)))


def test_a_minimum_with_dead_edges_is_refused():
    """It is not among the circuits that are tried."""
    dead = hand_circuit(["embed -> head 0.0", "embed -> logits"])
    with pytest.raises(
        InputError, match="said to be minimal has dead edges or reads no prompt; keep its live part"
    ):
        prove(adder_claim(Minimum((dead,)), edges=["embed -> head 0.0", "embed -> logits"]))
