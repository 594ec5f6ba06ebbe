import json
from dataclasses import replace
from pathlib import Path

import pytest

from circuitproof.circuits.spelling import load_circuit
from circuitproof.errors import CircuitproofError, InputError
from circuitproof.files.sealed import read_manifest
from circuitproof.find.choices import Objective, SelectionRule
from circuitproof.find.extraction import ExtractionMethod, extract, load_order, report_path
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.tasks.alphabet import TOY, Alphabet
from circuitproof.tasks.quotes import toy_quotes
from hand_models import QUOTE_EDGES, circuit_of, quote_model

METHOD = ExtractionMethod(objective=Objective.PROGRAM, thresholds=(0.1, 0.001))


@pytest.fixture
def stored(tmp_path) -> Path:
    """Return the directory of a model that closes quotes along one path."""
    save_model(tmp_path / "model", StoredModel(quote_model(), TOY))
    return tmp_path / "model"


def test_the_selected_circuit_is_written_with_its_report(stored, tmp_path):
    """The file is a circuit like any other; the report says how it was found and from what."""
    out = tmp_path / "quotes.json"
    found = extract(stored, "quotes", METHOD, out)
    assert load_circuit(out) == found.selected.circuit == circuit_of(QUOTE_EDGES)
    report = json.loads(report_path(out).read_text())
    assert report == found.to_json()
    assert report | {"candidates": []} == {
        "task": "quotes",
        "task_digest": str(toy_quotes().digest),
        "weights_digest": str(read_manifest(stored)["weights.safetensors"]),
        "objective": "program",
        "granularity": "head",
        "order": "attribution",
        "search": "greedy",
        "rule": "sparsity",
        "thresholds": [0.001, 0.1],
        "agreement": 1.0,
        "ablation": "zero",
        "parts": [[str(edge) for edge in part] for part in load_order(out)],
        "candidates": [],
        "selected": 0,
        "circuit_digest": str(circuit_of(QUOTE_EDGES).digest),
    }
    assert [row["threshold"] for row in report["candidates"]] == [0.001, 0.1]
    assert load_order(out) == found.order
    assert {edge for part in found.order for edge in part} == set(load_circuit(out).graph.edges())
    assert all(row["edges"] == list(QUOTE_EDGES) for row in report["candidates"])


def test_a_report_of_another_graph_is_refused(stored, tmp_path):
    """A report that was copied from elsewhere must not give an order of edges that are not there."""
    out = tmp_path / "quotes.json"
    extract(stored, "quotes", METHOD, out)
    report = json.loads(report_path(out).read_text())
    report_path(out).write_text(json.dumps(report | {"parts": [["embed -> head 7.0"]]}))
    with pytest.raises(InputError, match=r"parts has 'embed -> head 7\.0', no edge of the circuit's graph"):
        load_order(out)


def test_thresholds_are_swept_upwards(stored, tmp_path):
    """Whatever order they were given in."""
    found = extract(stored, "quotes", replace(METHOD, rule=SelectionRule.MARGIN), tmp_path / "a.json")
    assert [candidate.threshold for candidate in found.candidates] == [0.001, 0.1]


def test_nothing_is_written_when_no_candidate_will_do(tmp_path):
    """A model that ties everywhere is never right."""
    save_model(tmp_path / "model", StoredModel(quote_model({"logits.weight": [[0, 0]] * 32}), TOY))
    with pytest.raises(InputError, match=r"no candidate is decided as wanted .* the best on 0 of 128"):
        extract(tmp_path / "model", "quotes", METHOD, tmp_path / "out" / "a.json")
    assert not (tmp_path / "out").exists()


def test_a_circuit_that_is_there_is_not_overwritten(stored, tmp_path):
    """It is refused before any work, and left as it is."""
    out = tmp_path / "a.json"
    out.write_text("mine")
    with pytest.raises(InputError, match=r"a\.json already exists; remove it or choose another place"):
        extract(stored, "quotes", METHOD, out)
    assert out.read_text() == "mine"
    assert not report_path(out).exists()


def test_a_task_of_another_alphabet_is_refused(tmp_path):
    """Token 9 is a quotation mark in one and something else in the other."""
    save_model(tmp_path / "model", StoredModel(quote_model(), Alphabet((*TOY.names[:-1], "other"))))
    with pytest.raises(InputError, match="the model's alphabet is not that of task 'quotes'"):
        extract(tmp_path / "model", "quotes", METHOD, tmp_path / "a.json")


@pytest.mark.parametrize(
    ("thresholds", "sentence"),
    [
        ((), "no thresholds to sweep"),
        ((0.1, 0.1), "give each of them once"),
        ((0.1, -1.0), "threshold is -1.0, want a number of nats"),
        ((float("nan"),), "threshold is nan, want a number of nats"),
    ],
)
def test_bad_thresholds_are_refused_before_anything_is_read(thresholds, sentence):
    """A method is checked when it is made."""
    with pytest.raises(CircuitproofError, match=sentence):
        ExtractionMethod(thresholds=thresholds)
