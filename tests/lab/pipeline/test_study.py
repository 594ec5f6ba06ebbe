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
from circuitproof.files.canonical import digest_file, digest_json
from circuitproof.files.records import read_record
from circuitproof.files.sealed import read_manifest
from circuitproof.forward.frozen import open_model
from circuitproof.models.declaration import read_declaration
from circuitproof.models.tokenizer import FileTokenizer
from circuitproof.nn.checkpoint import StoredModel, load_model, save_model
from circuitproof.proof.verdict import Verdict
from circuitproof.reports.words import listed_tokens
from circuitproof.tasks.alphabet import Alphabet
from circuitproof.tasks.generator import Pool, deal
from circuitproof.tasks.rules import ClassTable
from circuitproof_check.main import Outcome, check
from circuitproof_lab.pipeline.ledger import Burned, Declared, Ledger, Retired, Viewed
from circuitproof_lab.pipeline.localisation import LEDGER
from circuitproof_lab.pipeline.splits import Split
from circuitproof_lab.pipeline.study import StudyReport, run_study
from circuitproof_lab.pipeline.study_recipe import Study, load_study
from circuitproof_lab.records.blocks import BlockRegression
from circuitproof_lab.records.proof import TokenRelation
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


def test_gates_are_dealt_before_the_model_is_asked(finished):
    """They are those of the whole pool, whatever the base decides; it is asked for all the others."""
    study, out, _ = finished
    (task,), tokenizer = study.tasks, FileTokenizer(out / "corpus" / "tokenizer.json")
    pool = task.generator(tokenizer, study.salt, Pool(study.domain.fillings, study.domain.strata))
    sizes = [size for one in study.generations for size in (one.development, one.gate) if size]
    _, *gates = deal(pool.order(), sizes, 2)
    for generation, rows in zip("AB", gates, strict=True):
        path = out / "localisation" / generation / "quotes" / "gate.json"
        if path.exists():
            prompts = [tuple(one["tokens"]) for one in json.loads(path.read_text())["prompts"]]
            assert prompts == [row.prompt for row in rows]
    (_, viewed, *_) = (entry.event for entry in Ledger(out / "localisation" / LEDGER).entries())
    hidden = {row.prompt for rows in gates for row in rows}
    asked = tuple(row for row in pool.order() if row.prompt not in hidden)
    assert viewed.prompts == Split("asked", pool, asked).prompt_digests()


def test_every_prompt_of_the_domain_is_in_the_ledger(finished):
    """Also those of generations whose gates were never opened; and the manifest pins them all."""
    study, out, found = finished
    events = [entry.event for entry in Ledger(out / "localisation" / LEDGER).entries()]
    looked = [event for event in events if isinstance(event, Viewed | Burned | Retired)]
    seen = {prompt for event in looked for prompt in event.prompts}
    manifest = json.loads((out / "quotes" / "declared.prompts.json").read_text())
    (report,) = found.tasks
    assert report.artifact is not None
    claimed = report.artifact.proof.battery.claim.task
    assert [tuple(one["tokens"]) for one in manifest["prompts"]] == list(claimed.prompts)
    vocabulary = manifest["vocabulary"]
    digests = {digest_json([vocabulary, "quotes", one["tokens"]]) for one in manifest["prompts"]}
    assert len(digests) == study.prompts
    assert digests <= seen
    assert report.domain is not None
    assert report.domain.manifest == digest_file(out / "quotes" / "declared.prompts.json")


def test_a_gate_is_opened_for_a_circuit_and_its_programs(finished):
    """Programs are selected on development data, and the ledger pins them when the gate burns."""
    _, out, found = finished
    burned = [
        one.event for one in Ledger(out / "localisation" / LEDGER).entries() if isinstance(one.event, Burned)
    ]
    assert burned
    assert all(event.programs is not None for event in burned)
    assert list((out / "localisation" / "A" / "quotes").glob("program.*.json"))
    for outcome in found.tasks[0].outcomes:
        assert outcome.programs is not None
        assert 0 <= outcome.programs.right <= outcome.trial.gate.prompts


def test_the_heads_of_the_circuit_are_compared_with_their_blocks(finished):
    """A step of its own with a record, before any program is looked for."""
    _, out, found = finished
    (report,) = found.tasks
    assert report.blocks == read_record(out / "quotes" / "blocks.json", BlockRegression)
    assert report.circuit is not None
    assert report.blocks.head_edges == len(report.circuit.live()) <= report.blocks.block_edges
    assert report.blocks.right == report.blocks.prompts


def test_the_relation_of_a_study_is_the_type_of_the_opener(finished):
    """Two classes, with the token relation measured beside it, exactly."""
    (report,) = finished[2].tasks
    assert report.artifact is not None
    claimed = report.artifact.proof.battery.claim.task
    assert isinstance(claimed.relation, ClassTable)
    assert len(claimed.classes()) == 2
    assert report.artifact.measures.by_token == TokenRelation(2, 2)


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
    events = [entry.event for entry in Ledger(tmp_path / "run" / "localisation" / LEDGER).entries()]
    assert [type(event) for event in events] == [Declared, Viewed]


def test_a_base_with_other_tokens_is_refused(finished, tmp_path):
    """The words of the templates must mean the model's tokens."""
    study, out, _ = finished
    stored = load_model(out / "base/model")
    names = tuple(f"t{token}" for token in range(stored.model.architecture.vocabulary))
    save_model(tmp_path / "model", StoredModel(stored.model, Alphabet(names)))
    with pytest.raises(InputError, match="other tokens than the study's corpus"):
        run_study(study, tmp_path / "run", base=tmp_path / "model")


def test_a_base_with_norms_is_refused_before_anything_is_made_where_radii_are_aimed_at(finished, tmp_path):
    """Its decisions have no radius, so that the study could only fail after its gates are burned."""
    study, out, _ = finished
    with pytest.raises(InputError, match=r'aims at the radius.*give aim = "margin", or remove the norms'):
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
    for part in (
        "viability",
        "searches",
        "healing",
        "calibration",
        "audit",
        "limits",
        "domain",
        "blocks",
        "proofs",
    ):
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
