import json
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import mpmath
import pytest
import torch

from circuitproof.circuits.circuit import Circuit
from circuitproof.errors import InputError
from circuitproof.importers.release import import_release
from circuitproof.models.operators import Attention, Gelu, GeluForm, LayerNorm
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.proof.effort import Effort
from circuitproof.proof.minimal import SearchLimit
from circuitproof.proof.verdict import Verdict
from circuitproof.reports.results import minimality_said
from circuitproof.tasks.alphabet import TOY
from circuitproof.verbs.minimality import find_minimum
from circuitproof_check.main import Outcome, check
from hand_models import QUOTE_EDGES, freeze, quote_model, table_task
from models import random_model, tiny_architecture
from real_twin import RealTwin
from twin import exact_tensors


@pytest.fixture
def model(tmp_path):
    """Return the directory of a hand-made model that closes quotes with two edges."""
    save_model(tmp_path / "model", StoredModel(quote_model(), TOY))
    return tmp_path / "model"


def test_the_minimum_is_found_proved_and_accepted_by_the_checker(model, tmp_path):
    """The head's chain suffices and a direct edge does not; the checker enumerates for itself."""
    found = find_minimum(model, "quotes", most=3, budget=1000, out=tmp_path / "bundle")
    assert found.verdict is Verdict.PROVED
    assert found.to_json()["minimum"] == [list(QUOTE_EDGES)]
    outcome, reason = check(tmp_path / "bundle", model)
    assert outcome is Outcome.VALID, reason
    claim = json.loads((tmp_path / "bundle" / "claim.json").read_bytes())
    assert claim["properties"][1] == {"kind": "minimum", "circuits": [list(QUOTE_EDGES)]}


def test_a_search_that_ends_early_proves_a_lower_bound_and_writes_nothing(model, tmp_path):
    """A guess is never called a minimum. Of one edge only the direct one reads its prompt."""
    found = find_minimum(model, "quotes", most=1, budget=1000, out=tmp_path / "bundle")
    assert found.verdict is Verdict.UNDECIDED
    content = found.to_json()
    assert content["verdict"] == "undecided"
    assert (content["lower_bound"], content["circuits_tried"], content["minimum"]) == (2, 1, [])
    assert (content["ended_by"], content["bundle"]) == ("most", None)
    assert not (tmp_path / "bundle").exists()


ORDINARY = replace(
    tiny_architecture(
        attention=Attention.SOFTMAX,
        norm=LayerNorm(Fraction(1, 1000)),
        activation=Gelu(GeluForm.TANH),
    ),
    vocabulary=5,
    layers=1,
    heads=1,
)


@pytest.mark.parametrize("seed", [0, 4, 24])
def test_the_minimum_of_an_ordinary_model_is_that_of_trying_every_circuit(seed, tmp_path):
    """Softmax, GELU and LayerNorm: every set of edges computed by many digits, and the bundle checked."""
    model = random_model(ORDINARY, seed)
    frozen, prompts, candidates = freeze(model), ((1, 2), (3, 4), (2, 0)), (0, 1, 2)
    tensors = exact_tensors({name: view.detach() for name, view in model.named_slices().items()})
    twin = RealTwin(ORDINARY, {}, tensors)

    def decided(edges):
        circuit = Circuit(frozen.graph, frozenset(edges))
        rows = [twin.logits(circuit, prompt, candidates) for prompt in prompts]
        return tuple(row.index(max(row)) for row in rows)

    with mpmath.workdps(40):
        edges = frozen.graph.edges()
        wanted = decided(edges)
        sets = (one for size in range(len(edges) + 1) for one in combinations(edges, size))
        right = [one for one in sets if decided(one) == wanted]
    least = [set(one) for one in right if len(one) == len(right[0])]
    task = table_task(dict(zip(prompts, wanted, strict=True)), candidates=candidates)
    found = find_minimum(frozen, task, budget=1000, out=tmp_path / "bundle")
    assert [set(one) for one in found.search.minimum] == least
    assert (found.verdict, found.to_json()["precision"]) == (Verdict.PROVED, 64)
    outcome, reason = check(tmp_path / "bundle")
    assert outcome is Outcome.VALID, reason


def test_what_no_precision_decides_ends_a_search_as_open():
    """Equal rows tie in every circuit: none is right, none is wrong, and nothing is written."""
    model = random_model(ORDINARY)
    with torch.no_grad():
        model.unembed[:] = 1
        model.unembed_bias[:] = 0
    task = table_task({(1, 2): 0, (3, 4): 1}, candidates=(0, 1))
    found = find_minimum(freeze(model), task, budget=1000, out=None, effort=Effort(precision=100))
    assert (found.verdict, found.search.ended_by) == (Verdict.UNDECIDED, SearchLimit.OPEN)
    assert found.to_json()["precision"] == 100
    assert "it is open whether they decide the task: give a larger --precision" in next(
        iter(minimality_said(found))
    )


def test_a_place_that_is_taken_is_refused_before_the_work(model):
    """Nothing is overwritten."""
    with pytest.raises(InputError, match="already exists"):
        find_minimum(model, "quotes", most=1, budget=1, out=model)


@pytest.mark.parametrize(
    ("name", "count"), [("norm_free", 2), ("band_norm_matched", 1), ("program_healed", 2)]
)
def test_two_edges_suffice_for_quote_closing_in_the_public_models(reference, tmp_path, name, count):
    """The published circuits of four, two and five edges: only one is a minimum."""
    import_release(reference / name, tmp_path / name)
    found = find_minimum(tmp_path / name, "quotes", most=3, budget=1000, out=tmp_path / "bundle")
    assert found.verdict is Verdict.PROVED
    assert [len(circuit) for circuit in found.search.minimum] == [2] * count
    outcome, reason = check(tmp_path / "bundle", tmp_path / name)
    assert outcome is Outcome.VALID, reason
