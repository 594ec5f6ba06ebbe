"""`circuitproof check` starts the independent checker, and says what it says."""

import json
import subprocess
import sys

import pytest

from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.tasks.alphabet import TOY
from hand_models import quote_model


@pytest.fixture
def here(tmp_path, monkeypatch, run):
    """Go where a model and a bundle about it are."""
    monkeypatch.chdir(tmp_path)
    save_model(tmp_path / "model", StoredModel(quote_model(), TOY))
    assert run("verify", "--model", "model", "--task", "quotes", "--out", "bundle")[0] in {0, 1}
    assert run("task", "quotes", "--out", "task.json")[0] == 0
    return tmp_path


@pytest.mark.parametrize("words", [[], ["--against", "model"], ["--task", "task.json", "--json"]])
def test_it_says_what_the_checker_says(here, run, words):
    """The same line and the same exit code, whatever the bundle is compared with."""
    alone = subprocess.run(  # noqa: S603  # our own interpreter
        [sys.executable, "-I", "-m", "circuitproof_check", "bundle", *words],
        check=False, cwd=here, capture_output=True, text=True,
    )  # fmt: skip
    code, out, _ = run("check", "bundle", *words)
    assert (code, out) == (alone.returncode, alone.stdout)
    assert alone.returncode in {0, 1}


def test_a_bundle_that_was_changed_is_invalid(here, run):
    """Exit code 5, as everywhere."""
    claim = json.loads((here / "bundle" / "claim.json").read_text())
    claim["task"]["name"] = "other"
    (here / "bundle" / "claim.json").write_text(json.dumps(claim))
    code, out, _ = run("check", "bundle")
    assert (code, out.split(":")[0]) == (5, "invalid")


def test_the_checker_imports_nothing_from_the_folder_where_one_stands(here, run):
    """A module beside the bundle must not take the place of one of its own."""
    (here / "json.py").write_text("raise SystemExit(0)\n")
    assert run("check", "bundle", "--against", "model")[1].split(":")[0] in {"valid", "refuted"}


def test_a_place_that_begins_with_a_hyphen_is_a_place(here, run):
    """It is no option of the checker."""
    (here / "bundle").rename(here / "-b")
    assert run("check", "--", "-b")[1].split(":")[0] in {"valid", "refuted"}
