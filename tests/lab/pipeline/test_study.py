"""A study from text to a checked bundle, killed at every stage and not."""

import json
import re
import signal
import sys
from pathlib import Path

import pytest

from circuitproof.circuits.graph import Head
from circuitproof.cli.main import main
from circuitproof.errors import ExitCode, InputError
from circuitproof.files.sealed import read_manifest
from circuitproof.forward.frozen import open_model
from circuitproof.models.declaration import read_declaration
from circuitproof.nn.checkpoint import StoredModel, load_model, save_model
from circuitproof.proof.verdict import Verdict
from circuitproof.reports.words import listed_tokens
from circuitproof.tasks.alphabet import Alphabet
from circuitproof_check.main import Outcome, check
from circuitproof_lab.pipeline.study import StudyReport, run_study
from circuitproof_lab.pipeline.study_recipe import Study, load_study
from floats import agree
from studies import write_study

_SEALED = ("base/model", "quotes/healing/model", "quotes/artifact/quotes/model")
_PROVED = "quotes/artifact/quotes/proof/bundle"


class Killed(BaseException):
    """What a kill looks like from inside: nothing catches it."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> tuple[Study, Path, StudyReport]:
    """Return a study, its folder and its report."""
    folder = tmp_path_factory.mktemp("study")
    study = load_study(write_study(folder))
    return study, folder / "run", run_study(study, folder / "run")


def digests(folder: Path) -> dict[str, object]:
    """Return what must be the same after kills: every sealed model, the bundle, the circuits."""
    found: dict[str, object] = {place: read_manifest(folder / place) for place in (*_SEALED, _PROVED)}
    for name in ("quotes/circuit.json", "quotes/viability.json", "localisation/ledger.jsonl"):
        found[name] = (folder / name).read_bytes()
    return found


def test_a_study_ends_with_a_proof_that_the_checker_confirms(finished):
    """From text to a bundle about an artifact of the trained model, on the whole declared domain."""
    study, out, found = finished
    (report,) = found.tasks
    assert found.exit_code is ExitCode.GOOD
    assert report.stopped is None
    assert report.artifact is not None
    assert report.artifact.proof.verdict is Verdict.PROVED
    assert report.artifact.proof.battery.claim.task.size == study.prompts
    outcome, _ = check(out / _PROVED, report.artifact.model, out / "base/model")
    assert outcome is Outcome.VALID


def test_heads_of_the_circuit_have_programs_that_decide_exactly(finished):
    """Every head that the circuit reads was searched for, and what was accepted is in the artifact."""
    _, _, found = finished
    (report,) = found.tasks
    assert report.circuit is not None
    assert report.installed is not None
    read = {edge.source for edge in report.circuit.live() if isinstance(edge.source, Head)}
    assert {one.head for one in report.installed.searches} == read
    assert report.artifact is not None
    assert open_model(report.artifact.model).programs == report.installed.programs


def test_no_rung_changes_the_model_without_its_programs(finished):
    """The lesion identity, bit by bit, and errors told as sets: where the model errs, and what is covered."""
    _, _, found = finished
    artifact = found.tasks[0].artifact
    assert artifact is not None
    _, installed, *rungs = artifact.states
    assert all(rung.audit.lesion_digest == installed.audit.lesion_digest for rung in rungs)
    audit = installed.audit
    errors, uncovered = audit.errors, {*range(audit.prompts)} - {*audit.backup}
    assert errors.wrong == len(audit.wrong) == audit.prompts - audit.model
    assert errors.uncovered == len(uncovered) == audit.prompts - audit.without_heads
    assert (errors.both == errors.wrong) == ({*audit.wrong} <= uncovered)


def test_a_rung_of_record_is_within_the_budget_of_perplexity(finished):
    """The budget is a multiple of the base's perplexity, and each lesion has its own loss."""
    study, out, found = finished
    artifact = found.tasks[0].artifact
    assert artifact is not None
    record = next(state for state in artifact.states if state.name == artifact.record)
    assert record.losses is not None
    assert record.losses.model <= found.quality.budget
    assert artifact.why.startswith(f"{artifact.record} is of record")
    base = artifact.states[0].losses
    assert base is not None
    assert agree(base.model, found.quality.loss)
    assert len(base.without_each) == len(load_model(artifact.model).model.programs)
    assert study.budget > 1
    assert (out / "quotes/healing/healed.json").exists()


def test_a_study_that_is_killed_at_every_stage_ends_with_the_same_digests(finished, tmp_path):
    """Whatever stage a kill comes in, the next call goes on: models, circuits, ledger, bundle are equal."""
    _, out, _ = finished
    again = load_study(write_study(tmp_path / "study"))
    seen: set[str] = set()

    def kill_once(stage: str) -> None:
        if stage not in seen:
            seen.add(stage)
            raise Killed(stage)

    for _ in range(40):
        try:
            run_study(again, tmp_path / "run", tell=kill_once)
            break
        except Killed:
            continue
    assert len(seen) > 10
    assert digests(tmp_path / "run") == digests(out)


def test_a_corpus_that_changed_is_refused(finished):
    """A study goes on only with the text that it began with."""
    study, out, _ = finished
    changed = out.parent / "code" / "3.txt"
    before = changed.read_text()
    changed.write_text(before + "another line\n")
    try:
        with pytest.raises(InputError, match=r"the corpus has changed .*3\.txt has another content"):
            run_study(study, out)
    finally:
        changed.write_text(before)


def test_a_task_that_the_model_cannot_do_stops_and_says_where(finished, tmp_path):
    """Asked for the other quote, it says which strata fail, and no gate of a localisation is opened."""
    _, out, _ = finished
    recipe = write_study(
        tmp_path / "study",
        ("""answers = { ' "' = '"', " '" = "'" }""", """answers = { ' "' = "'", " '" = '"' }"""),
    )
    found = run_study(load_study(recipe), tmp_path / "run", base=out / "base/model")
    (report,) = found.tasks
    assert found.exit_code is ExitCode.UNDECIDED
    assert report.outcomes == ()
    assert report.stopped is not None
    assert "0 of 3 strata stay with 0 balanced prompts, 36 are wanted" in report.stopped
    assert not (tmp_path / "run" / "localisation").exists()


def test_a_base_with_other_tokens_is_refused(finished, tmp_path):
    """The words of the templates must mean the model's tokens."""
    study, out, _ = finished
    stored = load_model(out / "base/model")
    names = tuple(f"t{token}" for token in range(stored.model.architecture.vocabulary))
    save_model(tmp_path / "model", StoredModel(stored.model, Alphabet(names)))
    with pytest.raises(InputError, match="other tokens than the study's corpus"):
        run_study(study, tmp_path / "run", base=tmp_path / "model")


def test_a_base_with_norms_is_refused_before_anything_is_made(finished, tmp_path):
    """Its circuits have no exact value, so that the study could only fail after its gates are burned."""
    study, out, _ = finished
    with pytest.raises(InputError, match="LayerNorm has no exact value"):
        run_study(study, tmp_path / "run", base=out / "base/source/model")
    assert not (tmp_path / "run").exists()


def test_the_command_tells_the_report_and_writes_its_page(finished, monkeypatch, capsys):
    """A finished study is not repeated: tables, the checker's line and the page, or all of it as JSON."""
    _, out, found = finished
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # the test runner keeps its own Ctrl-C

    def run(*more: str) -> str:
        command = ["circuitproof", "run", str(out.parent / "study.toml"), "--out", str(out), *more]
        monkeypatch.setattr(sys, "argv", command)
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == ExitCode.GOOD
        return capsys.readouterr().out

    said = run()
    for words in ("3 of 3 strata stay", "add 1 when", "is of record", "the checker says valid", "limits: on"):
        assert words in said
    (program, *_) = found.tasks[0].installed.programs.values()
    names = read_declaration(found.base).tokens.named()
    assert listed_tokens(names, program.tokens()) in " ".join(re.sub("[│┃]", " ", said).split())
    page = (out / "report.html").read_text()
    for part in ("viability", "searches", "healing", "calibration", "audit", "limits", "proofs"):
        assert f'<section id="{part}"' in page
    (task,) = found.tasks
    assert task.artifact is not None
    assert task.limits is not None
    assert task.installed is not None
    heads = [f">{one.head}<" for one in task.installed.searches]
    for words in (task.artifact.why, "where one decision is wrong", f"{task.limits.cells} cells", *heads):
        assert words in page
    told = json.loads(run("--json"))
    assert told["tasks"][0]["checked"]["outcome"] == "valid"
    assert told["quality"]["budget"] == found.quality.budget
