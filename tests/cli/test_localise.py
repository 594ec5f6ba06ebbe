import json
import re

from protocols import write_protocol

PNG = b"\x89PNG"


def test_one_command_shows_frontier_and_proofs_and_draws(run, tmp_path):
    """Of each gate the selected circuit is told; the figure is a PNG; the ledger reads back."""
    recipe = write_protocol(tmp_path)
    code, out, notes = run("localise", recipe, "--out", tmp_path / "run", "--figure", tmp_path / "f.png")
    assert code == 0, out
    assert re.search(r"│ B +│ quotes +│ threshold \S+ +│ +2 │ +\d+/\d+ │", out)
    assert "most important" not in out
    assert re.search(r"^\d+ other circuits were measured: --json", out, re.MULTILINE)
    assert "quotes: 2 edges selected, 2 after trimming, on all 56 prompts looked at" in out
    assert "opening the gate of quotes" in notes
    assert (tmp_path / "f.png").read_bytes().startswith(PNG)
    again = ("localise", recipe, "--out", tmp_path / "run", "--figure", tmp_path / "f.png")
    (tmp_path / "f.png").write_bytes(b"of another day")
    code, _, err = run(*again)
    assert (code, "f.png already exists; give --force" in err) == (3, True)
    assert (tmp_path / "f.png").read_bytes() == b"of another day"
    assert run(*again, "--force")[0] == 0
    assert (tmp_path / "f.png").read_bytes().startswith(PNG)
    head = out.rstrip().rsplit(" ", 1)[-1]
    code, out, _ = run("ledger", tmp_path / "run" / "ledger.jsonl", "--head", head)
    assert code == 0
    assert out.splitlines()[-1] == "6 lines, unbroken"
    code, out, _ = run("report", tmp_path / "run", "--out", tmp_path / "run.html")
    assert code == 0
    assert re.search(r"│ bundles/quotes │ valid +│ +2 │ +56 │ equivalence, invariance, necessity", out)
    assert out.splitlines()[-1].startswith(f"{tmp_path / 'run.html'} holds the page of ")


def test_results_come_as_json(run, tmp_path):
    """For programs: outcomes, proofs and the ledger's head."""
    code, out, _ = run("localise", write_protocol(tmp_path), "--out", tmp_path / "run", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["verdict"] == "proved"
    assert [one["generation"] for one in found["outcomes"]] == ["A", "B"]
    _, out, _ = run("ledger", tmp_path / "run" / "ledger.jsonl", "--json")
    assert json.loads(out)[-1]["digest"] == found["ledger_head"]


def test_a_ledger_without_a_remembered_line_fails(run, tmp_path):
    """It does not hold: exit code 5 and one sentence; a file that is not there is a failure, 3."""
    run("localise", write_protocol(tmp_path), "--out", tmp_path / "run")
    code, _, notes = run("ledger", tmp_path / "run" / "ledger.jsonl", "--head", "0" * 64)
    assert (code, "invalid: " in notes, "lines were taken off its end" in notes) == (5, True, True)
    code, _, notes = run("ledger", tmp_path / "nowhere")
    assert (code, "there is no such ledger" in notes) == (3, True)
