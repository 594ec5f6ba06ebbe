"""Claims on other models: what changed is named and counted, and checkpoints are told by their steps."""

import json
import re
from pathlib import Path

import pytest

import circuitproof as cp
from circuitproof.claims.checkpoints import checkpoints_of, claims_on, claims_over, load_at_steps
from circuitproof.claims.file import OtherModel, load_claims
from circuitproof.errors import ExitCode, InputError
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.proof.effort import UNHURRIED
from circuitproof.tasks.alphabet import TOY
from circuitproof.workers import Processes
from claim_files import ARTIFACT, write_artifact_claims, write_claims
from hand_models import quote_model
from places import DOCS, ROOT

HEAR = UNHURRIED.hear
DOCUMENT = (DOCS / "claims.md").read_text()
SILENT = {"head.0.0.output.weight": [[0, 0], [0, 0]]}
"""A head that writes nothing: every prompt is a tie."""


@pytest.fixture
def file(tmp_path):
    """Return a claims file beside checkpoints that do the task, lose it and do it again."""
    for step in (5, 10, 20, 100):
        model = quote_model(SILENT if step == 10 else {})
        save_model(tmp_path / "kept" / f"step-{step}", StoredModel(model, TOY))
    return write_claims(tmp_path)


def kept(file, *steps):
    """Return the directories of the checkpoints of some steps."""
    return [file.parent / "kept" / f"step-{step}" for step in steps]


def over(file, *steps):
    """Return the claims of a file over the checkpoints of some steps."""
    files = load_at_steps(file, {}, kept(file, *steps), None)
    return claims_over(files, file.parent / "anew", HEAR)


def test_what_changed_on_another_model_is_said_claim_by_claim_with_counts(file, tmp_path):
    """Whatever weights it has: the SHA-256 of the file is that of the model whose place it takes."""
    found = claims_on(load_claims(file, other=OtherModel(*kept(file, 10))), tmp_path / "anew")
    assert found.exit_code is ExitCode.REFUTED
    counts = {"equivalence": "0 of 128", "necessity": "0 of 2", "robustness": "0 of 128"}
    lost = ", ".join(
        f"{kind} is refuted, not proved (the prover counts {said})" for kind, said in counts.items()
    )
    assert [*found.summary()] == [
        f"claim 'quotes': {lost}",
        f"3 of 4 verdicts changed on {kept(file, 10)[0]}, in 1 of 2 claims",
    ]
    told = found.to_json()
    assert told["model"] == str(kept(file, 10)[0])
    assert told["claims"][0]["counts"]["equivalence"] == {"met": 0, "obligations": 128}


def test_a_model_of_other_bytes_on_which_nothing_changed_says_so(file, tmp_path):
    """Every bundle is compared with that model, and not with the file's."""
    doubled = quote_model({"head.0.0.output.weight": [[2, 0], [0, 2]]})
    save_model(tmp_path / "other", StoredModel(doubled, TOY))
    stated = load_claims(file, other=OtherModel(tmp_path / "other"))
    found = claims_on(stated, tmp_path / "anew")
    assert found.exit_code is ExitCode.GOOD
    assert [*found.summary()] == [
        "every verdict is as expected",
        f"0 of 4 verdicts changed on {tmp_path / 'other'}, in 0 of 2 claims",
    ]
    assert all(one.against == tmp_path / "other" for one in found.found.claims)


def test_a_claim_holds_from_the_first_step_after_which_it_is_never_lost(file):
    """Steps are numbers: 100 comes after 20; a step at which it held before is told apart."""
    found = over(file, 100, 20, 10, 5)
    assert found.steps == (5, 10, 20, 100)
    assert (found.first("quotes"), found.held("quotes"), found.lost("quotes")) == (20, (5, 20, 100), (5,))
    assert (found.first("brackets"), found.lost("brackets")) == (5, ())
    assert found.exit_code is ExitCode.GOOD
    told = found.to_json()
    assert told["first"] == {"quotes": 20, "brackets": 5}
    assert [one["step"] for one in told["checkpoints"]] == [5, 10, 20, 100]


def test_a_claim_that_fails_at_the_last_step_holds_from_none(file):
    """Though it held before; that is a changed verdict."""
    found = over(file, 5, 10)
    assert (found.first("quotes"), found.lost("quotes")) == (None, (5,))
    assert found.exit_code is ExitCode.REFUTED


def test_proofs_that_are_kept_are_not_made_again(file, tmp_path):
    """Of a run that was killed on the way, only the rest is left."""
    over(file, 5)
    record = tmp_path / "anew" / "5" / "quotes" / "proved.json"
    before = record.stat().st_mtime_ns
    over(file, 5, 10)
    assert record.stat().st_mtime_ns == before


def test_several_processes_are_told_which_model_is_meant(file, tmp_path):
    """And whose place it takes."""
    stated = load_claims(file, other=OtherModel(kept(file, 10)[0], "toy"))
    assert claims_on(stated, tmp_path / "anew", workers=Processes(2)).exit_code is ExitCode.REFUTED


def test_only_claims_about_the_model_that_is_replaced_are_asked(tmp_path):
    """A base is one of them: the identity with another base is another claim."""
    write_artifact_claims(tmp_path)
    stated = load_claims(tmp_path / "claims.toml", other=OtherModel(tmp_path / "changed", "base"))
    assert [one.name for one in stated.claims] == ["fewest"]
    found = claims_on(stated, tmp_path / "anew")
    assert (
        found.found.claims[0].changed == "lesion identity is refuted, not proved (the prover counts 4 of 5)"
    )


def test_python_asks_the_same(file):
    """With the table that the command prints."""
    found = cp.claims_over_checkpoints(file, kept(file, 5, 10, 20))
    assert isinstance(found, cp.ClaimsOverCheckpoints)
    assert found.first("quotes") == 20
    assert "held before" in repr(found)
    one = cp.prove_claims(file, model=kept(file, 10)[0], out=file.parent / "one")
    assert not one.is_expected


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (("final",), "final has no number in its name, want the step, as in step-000200; rename it"),
        (("step-7", "run-1-step-007"), "step-7 and run-1-step-007 are both of step 7; give each step once"),
    ],
)
def test_models_of_no_step_or_of_the_same_are_refused(names, sentence):
    """An order that is guessed would say that a claim holds from somewhere on."""
    with pytest.raises(InputError) as refusal:
        checkpoints_of([Path(name) for name in names])
    assert str(refusal.value) == sentence


@pytest.mark.parametrize(
    ("text", "other", "given", "sentence"),
    [
        (
            ARTIFACT,
            (None,),
            {},
            r"has models artifact, base, changed; say by --instead-of NAME which of them",
        ),
        (ARTIFACT, ("bace",), {}, r"--instead-of bace: claims.toml has no such model; it has artifact, base"),
        (ARTIFACT, ("base",), {"base": "base"}, r"--where base says where it is, but .* takes its place"),
        (ARTIFACT.replace('"changed"\n', '"base"\n'), ("changed",), {}, "no claim about model 'changed'"),
    ],
)
def test_a_model_whose_place_is_not_known_is_refused(tmp_path, text, other, given, sentence):
    """Nothing is proved of a model that may not be meant."""
    write_artifact_claims(tmp_path, text)
    placed = {name: tmp_path / path for name, path in given.items()}
    with pytest.raises(InputError, match=sentence):
        load_claims(tmp_path / "claims.toml", placed, OtherModel(tmp_path / "artifact", *other))


def test_a_checkpoint_of_other_sizes_is_refused_before_anything_is_proved(file, tmp_path):
    """With the claim that it does not fit."""
    circuit = (tmp_path / "circuit.json").read_text()
    (tmp_path / "circuit.json").write_text(circuit.replace('"layers": 1', '"layers": 2'))
    with pytest.raises(InputError, match="claim 'quotes'"):
        over(file, 5, 10)
    assert not (tmp_path / "anew").exists()


def test_the_document_tells_what_came_of_the_toys_checkpoints():
    """The record that is kept, the claims file that it is about, and the table in the document agree."""
    kept_toy = ROOT / "evidence" / "toy" / "checkpoints"
    told = json.loads((kept_toy / "over-checkpoints.json").read_text())
    stated = load_claims(kept_toy / "claims.toml")
    assert [claim.name for claim in stated.claims] == [*told["first"]]
    for claim in stated.claims:
        assert claim.open().frozen.file.path == kept_toy / "model" / "weights.safetensors"
    rows = re.findall(r"^\| ([^|]+?)(?:, \w+ edges)? \| (\d+) \| ([\d, ]*)\|$", DOCUMENT, re.MULTILINE)
    lost = {
        name: [step for step in told["held"][name] if step < first] for name, first in told["first"].items()
    }
    said = {
        name: (int(first), [int(one) for one in before.split(",") if one.strip()])
        for name, first, before in rows
    }
    assert said == {name: (told["first"][name], lost[name]) for name in lost}
