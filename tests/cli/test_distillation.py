import json
import re
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from circuitproof.circuits.graph import Head
from circuitproof.cli.main import app
from circuitproof.programs.text import parse
from circuitproof.tasks.quotes import toy_quotes
from circuitproof_lab.commands.distillation import _program_rows
from distill_recipes import write_distillation


def run(*arguments):
    """Run the command line and return its result."""
    return CliRunner().invoke(app, ["distill", *map(str, arguments)])


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return a recipe, the folder of its run, and what the command printed."""
    folder = tmp_path_factory.mktemp("run")
    recipe = write_distillation(folder, {"seeds": "[6]", "healing.steps": "40"})
    return recipe, folder / "out", run(recipe, "--out", folder / "out")


def test_the_command_prints_a_row_for_each_round_and_task(finished):
    """Nothing is averaged away: every seed, objective and task has its line."""
    result = finished[2]
    assert result.exit_code == 0, result.output
    for word in (
        "plain",
        "ablation_aware",
        "core_aware",
        "quotes",
        "brackets",
        "held",
        "144 -> 72",
        "valid",
        "default 0; add 1",
    ):
        assert word in result.stdout
    assert "1 of 1 seeds end in programs that hold and circuits that are proved" in result.stdout
    assert "seed 6: core_aware: healing" in result.stderr


def test_programs_show_their_tokens_beside_the_numbers():
    """By the names of the task that was distilled."""
    program = parse("default 0\nadd 1 when key_token in {9, 10}\notherwise self")
    behaviour = SimpleNamespace(task=toy_quotes())
    done = SimpleNamespace(programs={Head(0, 1): program}, migrations=(SimpleNamespace(behaviour=behaviour),))
    (row,) = _program_rows(SimpleNamespace(seed=3, rounds=(done,)))
    assert row == ("3", "0.1", "default 0; add 1 when key_token in {9, 10}; otherwise self (9 ', 10 \")")
    assert not list(_program_rows(SimpleNamespace(seed=3, rounds=())))


def test_json_has_everything_that_the_tables_have(finished):
    """Programs read the same numbers as people."""
    recipe, out, _ = finished
    (report,) = json.loads(run(recipe, "--out", out, "--json").stdout)
    assert (report["seed"], report["held"], report["stopped"]) == (6, True, None)
    rounds = ["unhealed", "plain", "ablation_aware", "core_aware"]
    assert [done["round"] for done in report["rounds"]] == rounds
    assert report["rounds"][-1]["programs"]["head 0.1"].startswith("default 0\nadd 1 when")
    assert [proof["checker"] for proof in report["proofs"]] == ["valid", "valid"]


def test_a_seed_that_ends_early_is_shown_with_its_reason(tmp_path):
    """A failed row is a row, and the exit code is not success."""
    recipe = write_distillation(tmp_path, source={"training.steps": "2"})
    result = run(recipe, "--out", tmp_path / "out", "--seed", 7, "--seed", 9)
    assert result.exit_code == 1
    for seed in (7, 9):
        line = rf"seed {seed} ended early: the source decides \d+ of 128 prompts of quotes right"
        assert re.search(line, result.stdout)
    assert "0 of 2 seeds" in result.stdout
    assert "exact arithmetic" not in result.stdout
