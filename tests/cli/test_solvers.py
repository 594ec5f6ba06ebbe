import json

import pytest

from circuitproof.files.canonical import readable_json
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.tasks.alphabet import TOY
from hand_models import QUOTE_EDGES, circuit_of, quote_model


@pytest.fixture
def files(tmp_path):
    """Write the quote model and its circuit, and return where they are."""
    save_model(tmp_path / "model", StoredModel(quote_model(), TOY))
    (tmp_path / "circuit.json").write_bytes(readable_json(circuit_of(QUOTE_EDGES).to_json()))
    return tmp_path


def claim(files):
    """Return the arguments that name a claim."""
    return ("--model", files / "model", "--circuit", files / "circuit.json", "--task", "quotes")


def test_all_engines_stand_in_one_table(run, files):
    """A row per property and engine; the exit code is the verdict's."""
    code, out, err = run("verify", *claim(files), "--epsilon", "1/3", "--engine", "all")
    assert (code, err) == (0, "")
    assert ": 2 edges, ablation zero, proved" in out
    assert out.count("│ cvc5") == out.count("│ z3") == out.count("│ exact") == 4
    assert "the exact engine took" in out


def test_a_refutation_ends_with_1_and_shows_where(run, files):
    """Replayed exactly before it is shown."""
    code, out, _ = run(
        "verify", *claim(files), "--property", "robustness", "--epsilon", "1/2", "--engine", "z3"
    )
    assert code == 1
    assert "prompt 0" in out


def test_anchors_alone_end_with_4(run, files):
    """Undecided, and the table says what was not asked."""
    code, out, _ = run(
        "verify", *claim(files), "--property", "equivalence", "--engine", "cvc5", "--anchors", "4"
    )
    assert code == 4
    assert "124 of 128 obligations were not asked about" in out


def test_a_contradiction_ends_with_3(run, files, monkeypatch):
    """Neither proved nor refuted: a failure, with the query left in the working directory."""
    monkeypatch.chdir(files)
    monkeypatch.setattr("circuitproof.solvers.encode._bounded", lambda *_: ())
    code, out, err = run("verify", *claim(files), "--epsilon", "1/3", "--engine", "all")
    assert (code, out) == (3, "")
    assert err.startswith("circuitproof: engines disagree: ")
    assert "disagreement.smt2 holds the smallest query that shows it" in err
    assert (files / "disagreement.smt2").exists()


def test_the_comparison_as_json(run, files):
    """For programs."""
    code, out, _ = run("verify", *claim(files), "--engine", "all", "--branches", "traced", "--json")
    content = json.loads(out)
    assert code == 0
    assert [one["verdict"] for one in content["answers"]] == ["proved"] * 3
    assert {one["solver"] for one in content["answers"][0]["solvers"]} == {"z3", "cvc5"}


def test_queries_are_written_to_a_folder(run, files):
    """One file per query; a folder that is there is refused."""
    arguments = ("queries", *claim(files), "--epsilon", "1/3", "--anchors", "2", "--out", files / "smt")
    code, out, _ = run(*arguments)
    assert code == 0
    count = len(list((files / "smt").iterdir()))
    assert f"holds {count} queries" in out
    code, _, err = run(*arguments)
    assert code == 3
    assert "already exists" in err
    code, out, _ = run(*arguments[:-1], files / "more", "--json")
    assert json.loads(out)["queries"] == count


def test_costs_stand_beside_the_papers(run, files):
    """One command for the table."""
    models = ("--model", files / "model") * 2
    arguments = ("cost", *models, "--task", "quotes", "--circuit", files / "circuit.json", "--anchors", "2")
    code, out, _ = run(*arguments)
    assert code == 0
    assert "program-mediated (model)" in out
    assert "one topology: totals may be compared" in out
    assert "BandNorm 113000, norm-free 66000, program-mediated 31000" in out
    code, out, _ = run(*arguments, "--engine", "z3", "--json")
    assert json.loads(out)["accounts"][0]["solve_seconds"].keys() == {"z3"}
