"""The release of a study on the command line: what it says, and what it refuses."""

import json

import pytest

from circuitproof_lab.pipeline.study import run_study
from circuitproof_lab.pipeline.study_recipe import load_study
from studies import write_study


@pytest.mark.slow
def test_a_release_says_what_it_holds_and_how_to_check_it(run, tmp_path):
    """And its claims are checked from there; JSON is the manifest."""
    run_study(load_study(write_study(tmp_path)), tmp_path / "run")
    code, out, _ = run("release", tmp_path / "run", "--out", tmp_path / "made")
    assert code == 0
    for words in ("models of record: quotes", "the run began with circuitproof", "claims check"):
        assert words in out
    assert run("claims", "check", tmp_path / "made" / "claims.toml")[0] == 0
    told = json.loads(run("release", tmp_path / "run", "--out", tmp_path / "again", "--json")[1])
    assert told == json.loads((tmp_path / "made" / "release.json").read_text())


def test_an_unfinished_run_is_one_sentence(run, tmp_path):
    """With the recipe that goes on."""
    (tmp_path / "run").mkdir()
    mark = {"recipe": "smoke", "recipe_digest": "0" * 64}
    (tmp_path / "run" / "run.json").write_text(json.dumps(mark))
    code, _, err = run("release", tmp_path / "run", "--out", tmp_path / "made")
    assert code == 3
    assert err.endswith(
        "run is not finished, it has no ended.json; let circuitproof run go on with recipe 'smoke'\n"
    )
