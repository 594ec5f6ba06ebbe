import json

from constructions import write_construction


def test_one_command_builds_audits_proves_and_draws(run, tmp_path):
    """Every state is a row, the model of record has a star, and the verdict is the exit code."""
    recipe = write_construction(tmp_path)
    code, out, notes = run("construct", recipe, "--out", tmp_path / "run", "--figure", tmp_path / "f.png")
    assert code == 0, notes
    assert "quotes: right of 64 prompts, in FP32; * is the model of record" in out
    assert "readout *" in out
    assert "quotes: 3 of 3 declared edges, proved" in out
    assert "3 anchors evaluated alone gave the same logits" in out
    assert "calibrating the scalar rung" in notes
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")
    again = ("construct", recipe, "--out", tmp_path / "run", "--figure", tmp_path / "f.png", "--json")
    (tmp_path / "f.png").write_bytes(b"of another day")
    assert run(*again)[0] == 3
    assert (tmp_path / "f.png").read_bytes() == b"of another day"
    code, out, _ = run(*again, "--force")
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")
    (found,) = json.loads(out)
    assert (code, found["record"], found["proof"]["verdict"]) == (0, "readout", "proved")
