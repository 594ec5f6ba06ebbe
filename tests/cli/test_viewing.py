"""The commands that show a bundle: files, columns, exit codes."""

import json
from pathlib import Path
from shutil import copytree

import pytest
from typer.testing import CliRunner

import viewed
from circuitproof.cli.main import app
from circuitproof.errors import InputError
from circuitproof.reports import bundle_view
from circuitproof.reports.reporting import look_at
from circuitproof_check.main import Beside, Outcome, inspect

SEEDS = viewed.seeds()
RUNNER = CliRunner()


def run(*arguments):
    """Run a command."""
    return RUNNER.invoke(app, [str(argument) for argument in arguments])


@pytest.mark.parametrize("outcome", [Outcome.VALID, Outcome.REFUTED, Outcome.INCOMPLETE])
def test_report_and_show_end_as_the_checker_does(tmp_path, outcome):
    """The exit code is the checker's: a page of a refuted claim is no success."""
    seed = next(seed for seed in SEEDS if viewed.view_of(seed).judgement.outcome is outcome)
    made = run("report", viewed.bundle_of(seed), "--out", tmp_path / "page.html")
    assert made.exit_code == outcome
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    shown = run("show", viewed.bundle_of(seed))
    assert shown.exit_code == outcome
    assert max(map(len, shown.output.splitlines())) <= 80
    told = json.loads(run("show", viewed.bundle_of(seed), "--json").output)
    wanted = [str(answer.verdict) for answer in viewed.view_of(seed).bundle.answers]
    assert [answer["verdict"] for answer in told["answers"]] == wanted


def test_the_model_that_was_compared_is_told():
    """With --against the page no longer says that the model was not compared."""
    bundle = viewed.bundle_of(SEEDS[0])
    said = run("show", bundle, "--against", bundle.parent / "model").output
    assert "The model was not compared" not in said
    assert "The model was not compared" in run("show", bundle).output


def test_an_invalid_bundle_ends_with_five(tmp_path):
    """Its page says so in large letters and nothing else."""
    for file in viewed.bundle_of(SEEDS[0]).iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "domain.json").write_bytes(b"{}")
    out = tmp_path.with_suffix(".html")
    made = run("report", tmp_path, "--out", out)
    assert made.exit_code == Outcome.INVALID
    assert "<h1>INVALID</h1>" in out.read_text()
    assert run("show", tmp_path).exit_code == Outcome.INVALID
    assert json.loads(run("show", tmp_path, "--json").output).keys() == {"outcome", "reason"}


def test_explain_tells_one_prompt_in_text_and_exactly():
    """The command prints a table, or JSON with exact numbers."""
    bundle = viewed.bundle_of(SEEDS[0])
    said = run("explain", "#0", "--bundle", bundle)
    assert said.exit_code == 0
    assert "sum: the margin" in said.output
    told = json.loads(run("explain", "#0", "--bundle", bundle, "--json").output)
    assert told["prompt"] == list(viewed.view_of(SEEDS[0]).bundle.domain.prompts[0])


@pytest.mark.parametrize("command", [("report",), ("show",), ("explain", "#0", "--bundle")])
def test_what_cannot_be_read_is_one_sentence(tmp_path, command):
    """A directory that is not there is bad input, exit code 3."""
    from circuitproof.errors import InputError

    result = run(*command, tmp_path / "absent")
    assert isinstance(result.exception, InputError)
    assert "\n" not in str(result.exception)


def test_figures_are_written_and_those_that_are_not_are_told(tmp_path):
    """A sentence for each, in words and as JSON; a source without any figure is a failure."""
    bundle = viewed.bundle_of(SEEDS[0])
    made = run("figures", bundle, "--out", tmp_path / "figures")
    assert made.exit_code == 0
    assert f"{tmp_path / 'figures' / 'modes'}.svg and .png: the modes of all" in made.output
    assert "no gate was opened; circuitproof localise opens some" in made.output
    assert (
        len(list((tmp_path / "figures").glob("*.svg"))) == len(list((tmp_path / "figures").glob("*.png"))) > 1
    )
    told = json.loads(run("figures", bundle, "--out", tmp_path / "figures", "--force", "--json").output)
    assert {one["kind"]: one["name"] for one in told}["timeline"] is None
    (tmp_path / "empty").mkdir()
    assert isinstance(run("figures", tmp_path / "empty", "--out", tmp_path / "none").exception, InputError)


@pytest.mark.parametrize("name", ["claim.json", "domain.json", "weights.safetensors", "certificate.json"])
def test_a_page_is_made_of_the_bytes_that_were_judged(tmp_path, monkeypatch, name):
    """A file that is exchanged between judging and drawing changes nothing of the page."""
    seed = next(seed for seed in SEEDS if viewed.view_of(seed).judgement.outcome is Outcome.VALID)
    bundle = Path(copytree(viewed.bundle_of(seed), tmp_path / "bundle"))
    wanted = look_at(bundle, Beside()).page()

    def inspect_and_exchange(path, beside):
        report = inspect(path, beside)
        (path / name).write_bytes(b"exchanged")
        return report

    monkeypatch.setattr(bundle_view, "inspect", inspect_and_exchange)
    made = run("report", bundle, "--out", tmp_path / "page.html")
    assert made.exit_code == Outcome.VALID
    assert (tmp_path / "page.html").read_text() == wanted
