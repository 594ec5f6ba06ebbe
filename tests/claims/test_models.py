"""Claims about all circuits of a model and about its base, and models that are not at hand."""

import json
import shutil

import pytest

from circuitproof.claims.archive import write_archive
from circuitproof.claims.checking import check_claims
from circuitproof.claims.file import load_claims
from circuitproof.claims.proving import prove_claims
from circuitproof.claims.results import Claims
from circuitproof.errors import ExitCode, InputError
from circuitproof.proof.effort import UNHURRIED
from circuitproof.workers import Processes
from claim_files import ARTIFACT, write_artifact_claims
from places import ROOT

HEAR = UNHURRIED.hear
KEPT = ROOT / "evidence" / "code-lm" / "claims.toml"
NOT_KEPT = ARTIFACT.replace('path = "artifact"\n', "").replace('path = "base"\n', "")


@pytest.fixture
def proved(tmp_path):
    """Return a claims file about an artifact whose claims are proved in `proofs`."""
    file = load_claims(write_artifact_claims(tmp_path))
    found = prove_claims(file, tmp_path / "proofs", HEAR)
    assert not any(one.changed for one in found)
    return file


def judged(file, tmp_path, **options):
    """Return what becomes of a file's claims."""
    return Claims(file.name, check_claims(file, tmp_path / "proofs", hear=HEAR, **options))


def test_minimum_and_lesion_identity_are_proved_refuted_and_checked(proved, tmp_path):
    """The checker compares model and base; both say so."""
    found = judged(proved, tmp_path)
    assert found.is_expected
    fewest, other = found.claims
    assert fewest.verdicts == dict.fromkeys(("equivalence", "minimum", "lesion identity"), "proved")
    assert other.verdicts == {"lesion identity": "refuted"}
    assert "model compared" in fewest.report.reason
    assert "base compared" in fewest.report.reason
    assert [*found.uncompared()] == []


def test_without_a_list_the_minimum_is_the_claims_own_circuit(tmp_path, proved):
    """The same claim, so nothing is proved again."""
    file = load_claims(write_artifact_claims(tmp_path, ARTIFACT.replace('minimum = ["circuit.json"]\n', "")))
    assert file.claims[0].fewest == proved.claims[0].fewest
    assert not any(one.is_new for one in prove_claims(file, tmp_path / "proofs", HEAR))


def test_a_minimum_that_is_none_is_refuted(tmp_path):
    """All edges are not the fewest; the verdict that was expected is named."""
    text = ARTIFACT[: ARTIFACT.rindex("[[claims]]")].replace('"circuit.json"', '"all.json"')
    file = write_artifact_claims(tmp_path, text)
    circuit = json.loads((tmp_path / "circuit.json").read_text())
    circuit["edges"] = [*circuit["edges"], "embed -> logits"]
    (tmp_path / "all.json").write_text(json.dumps(circuit))
    found = prove_claims(load_claims(file), tmp_path / "proofs", HEAR)
    assert found[0].changed == "minimum is refuted, not proved (the prover counts 4 of 13)"


@pytest.mark.parametrize("has_models", [True, False])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('minimum = "proved"\n', ""),
        ('"lesion identity" = "proved"\n', ""),
        ('expected = { "lesion identity"', 'expected = { equivalence = "proved", "lesion identity"'),
    ],
)
def test_a_bundle_that_claims_more_or_less_is_invalid(proved, tmp_path, before, after, has_models):
    """A property that the file has not, or has in addition."""
    text = ARTIFACT.replace(before, after, 1)
    if "minimum" in before:
        text = text.replace('minimum = ["circuit.json"]\n', "")
    if before.startswith('"lesion'):
        text = text.replace('base = "base"\n', "")
    assert text != ARTIFACT
    found = judged(load_claims(write_artifact_claims(tmp_path, text)), tmp_path, has_models=has_models)
    assert proved.claims
    assert found.exit_code is ExitCode.INVALID
    assert "states another claim than the claims file" in next(iter(found.sentences()))


def test_the_checker_may_be_allowed_as_much_work_as_a_claim_says(proved, tmp_path):
    """Too little is no answer, exit code 4; enough is one."""
    assert proved.claims
    for count, code in ((1000, ExitCode.UNDECIDED), (10**9, ExitCode.GOOD)):
        text = ARTIFACT.replace('task = "quotes"', f'operations = {count}\ntask = "quotes"')
        found = judged(load_claims(write_artifact_claims(tmp_path, text)), tmp_path)
        assert found.exit_code is code
        assert ("allow more of them" in " ".join(found.sentences())) == (code is ExitCode.UNDECIDED)


def test_another_base_is_invalid_where_it_is_at_hand(proved, tmp_path):
    """A bundle with the identity to another model is not what the file states."""
    text = ARTIFACT.replace('base = "base"', 'base = "changed"', 1)
    found = judged(load_claims(write_artifact_claims(tmp_path, text)), tmp_path)
    assert proved.claims
    assert found.exit_code is ExitCode.INVALID


def test_models_that_are_not_at_hand_are_not_compared_and_that_is_said(proved, tmp_path):
    """The rest is; nothing can be proved of them, and --model gives one."""
    assert proved.claims
    file = write_artifact_claims(tmp_path, NOT_KEPT)
    found = judged(load_claims(file), tmp_path)
    assert found.is_expected
    assert [*found.uncompared()] == [
        "not compared with the model and base: 'fewest'; the verdicts are about the weights in the bundles",
        "not compared with the model: 'not its base'; the verdicts are about the weights in the bundles",
    ]
    assert found.claims[0].to_json()["not_compared"] == "model and base"
    assert "Not compared with the model and base" in found.page()
    with pytest.raises(InputError, match="claim 'fewest': its model is not at hand"):
        prove_claims(load_claims(file), tmp_path / "proofs", HEAR)
    given = {"artifact": tmp_path / "artifact", "base": tmp_path / "base"}
    assert [*judged(load_claims(file, given), tmp_path).uncompared()] == []
    with pytest.raises(InputError, match="has SHA-256"):
        judged(load_claims(file, {"artifact": tmp_path / "base", "base": tmp_path / "base"}), tmp_path)


def test_a_base_that_is_not_at_hand_leaves_the_model_compared(proved, tmp_path):
    """Only the base is not."""
    assert proved.claims
    file = write_artifact_claims(tmp_path, ARTIFACT.replace('path = "base"\n', ""))
    found = judged(load_claims(file), tmp_path)
    assert found.is_expected
    assert [one.uncompared for one in found.claims] == ["base", ""]


def test_a_model_that_is_named_and_not_there_is_refused(proved, tmp_path):
    """A path that leads nowhere is a mistake, and no model that is not at hand."""
    shutil.rmtree(tmp_path / "base")
    with pytest.raises(InputError, match="cannot read"):
        judged(proved, tmp_path)


def test_several_processes_are_told_where_models_are(tmp_path):
    """Each is given what was given here."""
    file = write_artifact_claims(tmp_path, NOT_KEPT)
    given = {"artifact": tmp_path / "artifact", "base": tmp_path / "base"}
    found = prove_claims(load_claims(file, given), tmp_path / "proofs", HEAR, workers=Processes(2))
    assert not any(one.changed for one in found)


def test_an_archive_keeps_proofs_where_its_file_looks_for_them(proved, tmp_path):
    """With every circuit that a minimum names."""
    assert proved.claims
    file = load_claims(write_artifact_claims(tmp_path, f'proofs = "."\n{NOT_KEPT}'))
    files = write_archive(file, tmp_path / "proofs", tmp_path / "all.tar.gz")
    assert {"claims.toml", "circuit.json", "fewest/bundle/claim.json", "fewest/proved.json"} <= set(files)


def test_the_evidence_that_is_kept_is_as_its_claims_say():
    """All bundles of the repository, from a fresh clone: beside their models, every verdict as expected."""
    file = load_claims(KEPT)
    found = Claims(file.name, check_claims(file, file.proofs, hear=HEAR))
    assert found.is_expected, [*found.sentences()]
    assert {one.claim.name for one in found.claims} == {
        path.parent.parent.name for path in KEPT.parent.glob("*/bundle/claim.json")
    }
    assert not any(one.uncompared for one in found.claims)
