import json

import pytest

from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.programs.text import parse
from circuitproof.tasks.alphabet import TOY
from hand_models import QUOTE_EDGES, circuit_of, quote_model


@pytest.fixture
def run(run, monkeypatch, tmp_path):
    """Return what runs a command in a folder with models and a circuit."""
    monkeypatch.chdir(tmp_path)
    save_model(tmp_path / "model", StoredModel(quote_model(programs={}), TOY))
    silent = {"head.0.0.output.weight": [[0, 0], [0, 0]], "embed.token": [[0, 0]] * 32}
    save_model(tmp_path / "silent", StoredModel(quote_model(silent, programs={}), TOY))
    (tmp_path / "circuit.json").write_text(json.dumps(circuit_of(QUOTE_EDGES).to_json()))
    return run


def synthesise(run, model, *more):
    """Run the command with small bounds."""
    fixed = ("--task", "quotes", "--head", "0.0", "--rules", 1, "--members", 1, "--out", "program.txt")
    return run("synthesise", "--model", model, *fixed, *more)


def test_a_program_is_found_and_shown(run, tmp_path):
    """Exit code 0, the accepted candidate with a star, and what was looked at."""
    code, out, _ = synthesise(run, "model", "--circuit", "circuit.json")
    assert code == 0
    assert "* is accepted exactly" in out
    assert "under softmax 3.50" in out
    assert "program.txt holds the program" in out
    assert parse((tmp_path / "program.txt").read_text()).rules


def test_json_holds_the_report(run, tmp_path):
    """The same as in the file."""
    code, out, _ = synthesise(
        run, "model", "--json", "--growth", "guided", "--pick", "nearest", "--pair", "9:13"
    )
    assert code == 0
    report = json.loads(out)
    assert report == json.loads((tmp_path / "program.report.json").read_text())
    assert report["growth"] == "guided"
    assert report["grammar"]["picks"] == ["nearest"]


def test_an_unrealisable_language_is_certified_and_rechecked(run):
    """Exit code 1 for no program; 0 for a certificate that is right, 5 for one that does not hold."""
    code, out, _ = synthesise(run, "silent")
    assert code == 1
    assert "unrealisable: program.unrealisable.json refutes every meaning" in out
    certificate = ("recheck", "program.unrealisable.json", "--task", "quotes", "--model")
    code, out, _ = run(*certificate, "silent")
    assert (code, out.split(" ")[0]) == (0, "valid:")
    code, out, _ = run(*certificate, "silent", "--json")
    assert json.loads(out)["valid"] is True
    code, *_ = run(*certificate, "model")
    assert code == 5


def test_an_unfinished_search_has_its_own_exit_code(run):
    """Undecided is 4."""
    code, out, _ = synthesise(run, "model", "--budget", 1)
    assert code == 4
    assert "unfinished: " in out
