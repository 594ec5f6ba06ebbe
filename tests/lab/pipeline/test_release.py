"""A release of a finished study: everything that a clone needs to check it, and the same bytes each time."""

import json
import shutil
from pathlib import Path

import pytest

from circuitproof.claims.checking import check_claims
from circuitproof.claims.file import load_claims
from circuitproof.claims.results import Claims
from circuitproof.errors import InputError
from circuitproof.files.canonical import digest_file
from circuitproof.files.records import read_record
from circuitproof.proof.effort import UNHURRIED
from circuitproof_check.main import Beside, Outcome, inspect
from circuitproof_lab.pipeline.release import release_study
from circuitproof_lab.pipeline.study import run_study
from circuitproof_lab.pipeline.study_recipe import load_study
from circuitproof_lab.records.release import RELEASE, ReleaseManifest
from studies import write_study


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """Return the folder of a finished study."""
    folder = tmp_path_factory.mktemp("released")
    run_study(load_study(write_study(folder)), folder / "run")
    return folder / "run"


@pytest.fixture
def copy(run, tmp_path) -> Path:
    """Return a copy of the run, to be changed."""
    shutil.copytree(run, tmp_path / "copy")
    return tmp_path / "copy"


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder by its name there."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_every_claim_of_a_release_is_checked_beside_model_base_and_task(run, tmp_path):
    """From the folder alone, wherever it is moved to, and nothing is left unchecked."""
    release_study(run, tmp_path / "made")
    out = (tmp_path / "made").rename(tmp_path / "moved")
    file = load_claims(out / "claims.toml")
    found = Claims(file.name, check_claims(file, file.proofs, hear=UNHURRIED.hear))
    assert found.is_expected
    assert [*found.uncompared()] == []
    assert len(found.claims) == 2
    models, task = out / "models", out / "tasks" / "quotes.json"
    report = inspect(out / "quotes" / "bundle", Beside(models / "quotes", models / "base", task))
    assert report.outcome is Outcome.VALID
    assert all(words in report.reason for words in ("model compared", "base compared", "as declared"))


def test_a_release_holds_what_the_stages_wrote_down(run, tmp_path):
    """Ledger, gates, viability, audits, healing, fold, corpus, with the digest of every file."""
    made = release_study(run, tmp_path / "made")
    held = contents(tmp_path / "made")
    wanted = (
        "ledger.jsonl",
        "gate.result.json",
        "viability.json",
        "readout.json",
        "healed.json",
        "fold.json",
    )
    for name in (*wanted, "chosen.json", "environment.json", "ended.json"):
        assert any(path.startswith("records/") and path.endswith(f"/{name}") for path in held), name
    assert held["corpus.json"] == (run / "corpus" / "corpus.json").read_bytes()
    assert made == read_record(tmp_path / "made" / RELEASE, ReleaseManifest)
    assert made.rungs == {
        "quotes": json.loads((run / "quotes/artifact/quotes/chosen.json").read_text())["record"]
    }
    assert {*made.files} == {*held} - {RELEASE}
    assert all(made.files[name] == digest_file(tmp_path / "made" / name) for name in made.files)
    assert not any(path.endswith((".u16", "optimizer.safetensors")) for path in held)
    assert made.commands == (
        "circuitproof run recipes/smoke.toml --out build/smoke",
        "circuitproof release build/smoke --out evidence/smoke",
    )


def test_the_same_run_gives_the_same_bytes(run, tmp_path):
    """Nothing depends on when, or under which name."""
    release_study(run, tmp_path / "one")
    release_study(run, tmp_path / "other")
    assert contents(tmp_path / "one") == contents(tmp_path / "other")


def test_a_base_that_was_given_is_given_again(run, tmp_path):
    """By its manifest it must be the one that was studied; how it was made is said, too."""
    base = tmp_path / "base"
    shutil.copytree(run / "base" / "model", base)
    run_study(load_study(run.parent / "study.toml"), tmp_path / "run", base)
    with pytest.raises(
        InputError, match="studied a base that it was given; give its model directory by --base"
    ):
        release_study(tmp_path / "run", tmp_path / "made")
    with pytest.raises(InputError, match=r"manifest.json has SHA-256 .*, the base of .* has .*; give that"):
        release_study(tmp_path / "run", tmp_path / "made", run / "base" / "source" / "model")
    made = release_study(tmp_path / "run", tmp_path / "made", base)
    assert made.commands == (
        "circuitproof remove-norm recipes/smoke-norm-free.toml --out build/smoke-norm-free",
        "circuitproof run recipes/smoke.toml --out build/smoke --base build/smoke-norm-free/model",
        "circuitproof release build/smoke --out evidence/smoke --base build/smoke-norm-free/model",
    )


def test_an_unfinished_run_is_refused(copy, tmp_path):
    """It is the last thing that a study writes."""
    (copy / "ended.json").unlink()
    with pytest.raises(
        InputError, match=r"copy is not finished, it has no ended.json; let circuitproof run go on"
    ):
        release_study(copy, tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(
        InputError, match=r"is no run: it has no run.json; give the folder of a circuitproof run"
    ):
        release_study(tmp_path, tmp_path / "made")


def test_nothing_that_is_there_is_replaced(run, tmp_path):
    """Not even an empty folder."""
    (tmp_path / "made").mkdir()
    with pytest.raises(InputError, match="made already exists; remove it or choose another place"):
        release_study(run, tmp_path / "made")
    assert contents(tmp_path / "made") == {}


def test_a_base_for_a_run_that_made_its_own_is_refused(run, tmp_path):
    with pytest.raises(InputError, match=r"made its own base, .*; leave out --base"):
        release_study(run, tmp_path / "made", run / "base" / "model")


def test_a_release_whose_models_are_too_large_is_refused(run, tmp_path):
    """A repository holds it; what does not fit says how large it is."""
    with pytest.raises(
        InputError, match=r"the models of .* have 0\.\d MB together, want at most 0; allow more"
    ):
        release_study(run, tmp_path / "made", megabytes=0)


def test_a_changed_model_or_bundle_is_not_released(copy, tmp_path):
    """The seals are looked at, and the checker judges before anything appears."""
    (copy / "quotes/artifact/quotes/model/weights.safetensors").write_bytes(b"other")
    with pytest.raises(InputError, match=r"weights.safetensors has digest .*: the file was changed"):
        release_study(copy, tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_a_study_that_proved_nothing_has_no_release(copy, tmp_path):
    """It says why."""
    end = json.loads((copy / "ended.json").read_text())
    end["tasks"] = [{**end["tasks"][0], "model": None, "stopped": "not viable", "proofs": []}]
    (copy / "ended.json").write_text(json.dumps(end))
    with pytest.raises(InputError, match="has proved nothing to release: not viable"):
        release_study(copy, tmp_path / "made")
