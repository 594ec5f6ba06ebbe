"""A study of an ordinary model: softmax, GELU and LayerNorm stay as they were trained, and are enclosed."""

import signal
import sys
from pathlib import Path

import pytest

from circuitproof.cli.main import main
from circuitproof.errors import ExitCode
from circuitproof.files.records import read_record
from circuitproof.files.run import Run
from circuitproof.files.sealed import read_manifest
from circuitproof.forward.frozen import open_model
from circuitproof.models.operators import Attention
from circuitproof.nn.checkpoint import load_model
from circuitproof.proof.arithmetic import EnclosedNumbers, EnclosedRow
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.verdict import Verdict
from circuitproof_check.main import Outcome, check
from circuitproof_lab.distill.lesion import Behaviour
from circuitproof_lab.pipeline.release import release_study
from circuitproof_lab.pipeline.stages.synthesise import decide_exactly
from circuitproof_lab.pipeline.study import StudyReport, run_study
from circuitproof_lab.pipeline.study_recipe import Study, load_study
from circuitproof_lab.records.audit import Aim, MeasuredState
from circuitproof_lab.records.limits import NoLimits
from circuitproof_lab.records.programs import Accepted
from studies import ORDINARY, write_study

_ARTIFACT = "quotes/artifact/quotes"
_PROVED = f"{_ARTIFACT}/proof/bundle"


class Killed(BaseException):
    """What a kill looks like from inside: nothing catches it."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> tuple[Study, Path, StudyReport]:
    """Return a study, its folder and its report."""
    folder = tmp_path_factory.mktemp("ordinary")
    study = load_study(write_study(folder, *ORDINARY))
    return study, folder / "run", run_study(study, folder / "run")


def test_a_study_of_an_ordinary_model_ends_with_a_proof_that_the_checker_confirms(finished):
    """Nothing was removed from the base, and what has no exact value is enclosed."""
    _, out, found = finished
    (report,) = found.tasks
    assert found.exit_code is ExitCode.GOOD
    assert report.artifact is not None
    sizes = open_model(report.artifact.model).architecture
    assert (sizes.attention, sizes.has_norm) == (Attention.SOFTMAX, True)
    battery = report.artifact.proof.battery
    assert isinstance(battery.claim.arithmetic, EnclosedNumbers)
    claimed = {answer.prop.kind: answer.verdict for answer in battery.answers}
    for kind in (Kind.EQUIVALENCE, Kind.INVARIANCE, Kind.NECESSITY, Kind.LESION_IDENTITY):
        assert claimed[kind] is Verdict.PROVED
    outcome, _ = check(out / _PROVED, report.artifact.model, out / "base/model")
    assert outcome is Outcome.VALID


def test_what_is_not_claimed_or_asked_is_recorded_with_its_reason(finished):
    """Robustness where it cannot be proved, limits over patterns, and the aim that took the radius' place."""
    _, out, found = finished
    artifact = found.tasks[0].artifact
    assert artifact is not None
    claimed = {answer.prop.kind for answer in artifact.proof.battery.answers}
    assert claimed.isdisjoint(artifact.measures.unclaimed)
    assert {*claimed, *artifact.measures.unclaimed} >= {Kind.ROBUSTNESS}
    assert artifact.measures.bits is not None
    none = read_record(out / "quotes/limits/no-limits.json", NoLimits)
    assert none == found.tasks[0].limits
    assert "LayerNorm has no exact value" in none.why
    assert read_record(out / _ARTIFACT / "installed.json", MeasuredState).aim is Aim.MARGIN


def test_a_decision_that_is_not_known_never_counts_as_right(finished, tmp_path, monkeypatch):
    """With radii that leave everything open, no prompt is decided with the programs."""
    study, out, found = finished
    (report,) = found.tasks
    assert report.installed is not None
    accepted = read_record(out / "quotes/accepted.json", Accepted)
    assert (accepted.exact, accepted.prompts) == (report.installed.exact, study.prompts)
    assert accepted.exact == study.prompts
    rows = EnclosedNumbers.rows

    def wide(self: EnclosedNumbers, forward: object) -> object:
        exactly = rows(self, forward)
        return lambda stage: [EnclosedRow(row.numbers, 1 << 600, row.unit) for row in exactly(stage)]

    monkeypatch.setattr(EnclosedNumbers, "rows", wide)
    assert report.artifact is not None
    assert report.circuit is not None
    behaviour = Behaviour(report.artifact.proof.battery.claim.task, report.circuit)
    again = decide_exactly(Run(tmp_path), load_model(found.base).model, behaviour, report.installed)
    assert again.exact == 0


def test_a_study_of_an_ordinary_model_that_is_killed_goes_on_to_the_same_digests(finished, tmp_path):
    """Whatever stage a kill comes in: models, circuit and bundle are those of the run that was not."""
    study, out, _ = finished
    seen: set[str] = set()

    def kill_once(stage: str) -> None:
        if stage not in seen:
            seen.add(stage)
            raise Killed(stage)

    for _ in range(40):
        try:
            run_study(study, tmp_path / "run", base=out / "base/model", tell=kill_once)
            break
        except Killed:
            continue
    assert len(seen) > 10
    for place in ("quotes/healing/model", f"{_ARTIFACT}/model", _PROVED):
        assert read_manifest(tmp_path / "run" / place) == read_manifest(out / place)
    for name in ("quotes/circuit.json", "quotes/programs.circuit.json"):
        assert (tmp_path / "run" / name).read_bytes() == (out / name).read_bytes()


def test_a_finished_study_of_an_ordinary_model_is_told_and_released(finished, tmp_path, monkeypatch, capsys):
    """Terminal, page and release say what was enclosed, aimed at, and not asked."""
    _, out, _ = finished
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # the test runner keeps its own Ctrl-C
    command = ["circuitproof", "run", str(out.parent / "study.toml"), "--out", str(out)]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == ExitCode.GOOD
    said, page = capsys.readouterr().out, (out / "report.html").read_text()
    for words in ("margin", "the checker says valid", "limits: not asked, a pattern is covered in exact"):
        assert words in said
    for words in ("margin", "enclosed with", "Nothing was asked: a pattern is covered in exact numbers"):
        assert words in page
    release_study(out, tmp_path / "made")
    assert "lesion identity" in (tmp_path / "made" / "claims.toml").read_text()
