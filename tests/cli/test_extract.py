import json

import pytest

from circuitproof.circuits.spelling import load_circuit
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.tasks.alphabet import TOY
from hand_models import QUOTE_EDGES, circuit_of, quote_model


@pytest.fixture
def run(run, tmp_path):
    """Return what runs `circuitproof extract` on a model that closes quotes."""
    save_model(tmp_path / "model", StoredModel(quote_model(), TOY))
    given = ("--model", tmp_path / "model", "--task", "quotes", "--out", tmp_path / "a.json")
    return lambda *arguments: run("extract", *given, *arguments)


def test_every_candidate_is_shown_and_the_circuit_written(run, tmp_path):
    """The selected one carries a star."""
    code, out, _ = run("--threshold", "0.1", "--threshold", "0.01")
    assert code == 0
    assert "quotes: faithful to the model, ablation zero, measured in FP32; * is selected" in out
    assert "0.01 *" in out
    assert out.count("128/128") == 2
    assert f"{tmp_path / 'a.json'} holds the circuit, {tmp_path / 'a.report.json'} the report" in out
    assert load_circuit(tmp_path / "a.json") == circuit_of(QUOTE_EDGES)


def test_the_json_is_the_report(run, tmp_path):
    """For programs; every choice of the method is recorded."""
    code, out, _ = run(
        *("--objective", "program", "--granularity", "block", "--order", "topological"),
        *("--search", "runs", "--rule", "margin", "--json"),
    )
    assert code == 0
    report = json.loads(out)
    assert report == json.loads((tmp_path / "a.report.json").read_text())
    assert [report[key] for key in ("objective", "granularity", "order", "search", "rule")] == [
        "program",
        "block",
        "topological",
        "runs",
        "margin",
    ]
    assert report["thresholds"] == [0.0001, 0.001, 0.01, 0.1, 1.0]


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--rule", "beauty"], 2, "Invalid value for '--rule'"),
        (["--threshold", "much"], 2, "Invalid value for '--threshold'"),
        (["--threshold", "-1"], 2, "circuitproof: threshold is -1.0, want a number of nats, not negative"),
        (["--threshold", "nan"], 2, "circuitproof: threshold is nan, want a number of nats, not negative"),
        (["--task", "verse"], 2, "circuitproof: there is no task 'verse'"),
    ],
)
def test_bad_input_is_a_sentence_and_an_exit_code(run, tmp_path, arguments, code, sentence):
    """Nothing is written, and nothing printed where results go."""
    found, out, err = run(*arguments)
    assert (found, out) == (code, "")
    assert sentence in err
    assert not (tmp_path / "a.json").exists()
    assert not (tmp_path / "a.report.json").exists()


def test_no_good_candidate_is_a_failure(run, tmp_path):
    """A model that says nothing is never right."""
    save_model(tmp_path / "mute", StoredModel(quote_model({"logits.weight": [[0, 0]] * 32}), TOY))
    code, out, err = run("--model", tmp_path / "mute", "--objective", "program")
    assert (code, out) == (3, "")
    assert "no candidate is decided as wanted on a share 1 of the prompts, the best on 0 of 128" in err
    assert not (tmp_path / "a.json").exists()
