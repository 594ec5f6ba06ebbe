"""The checker judges every bundle, and a bundle about something else is not what a claims file states."""

import shutil

import pytest

from circuitproof.claims.checking import UnprovedClaim, check_claims
from circuitproof.claims.file import load_claims
from circuitproof.claims.proving import prove_claims
from circuitproof.claims.results import Claims
from circuitproof.errors import ExitCode, InputError
from circuitproof.proof.effort import UNHURRIED
from circuitproof.workers import Processes
from claim_files import CLAIMS, changed, write_claims

HEAR = UNHURRIED.hear


@pytest.fixture
def proved(tmp_path):
    """Return a claims file whose claims are proved in `proofs`."""
    file = load_claims(write_claims(tmp_path))
    prove_claims(file, tmp_path / "proofs", HEAR)
    return file


def judged(file, tmp_path, **options):
    """Return what becomes of a file's claims."""
    return Claims(file.name, check_claims(file, tmp_path / "proofs", hear=HEAR, **options))


def test_bundles_are_compared_with_models_and_tasks(proved, tmp_path):
    """Both are said in the checker's own sentence; several are judged at a time."""
    found = judged(proved, tmp_path, workers=Processes(2))
    assert found.is_expected
    for one in found.claims:
        assert "as declared" in one.report.reason
        assert one.report.reason.startswith("model compared")


def test_who_has_no_models_compares_the_rest(proved, tmp_path):
    """The sentence says that the model was not checked."""
    shutil.rmtree(tmp_path / "model")
    with pytest.raises(InputError, match="cannot read"):
        judged(proved, tmp_path)
    found = judged(proved, tmp_path, has_models=False)
    assert found.is_expected
    assert all("model not checked" in one.report.reason for one in found.claims)


@pytest.mark.parametrize("has_models", [True, False])
@pytest.mark.parametrize(
    ("before", "after"),
    [('circuit = "circuit.json"\n', ""), ('epsilon = "1/100"', 'epsilon = "1/200"')],
)
def test_a_valid_bundle_of_another_claim_is_invalid_here(proved, tmp_path, before, after, has_models):
    """The checker is content with it; the claims file is about something else."""
    assert proved.claims
    other = load_claims(write_claims(tmp_path, changed(before, after)))
    found = judged(other, tmp_path, has_models=has_models)
    assert found.exit_code is ExitCode.INVALID
    assert "states another claim than the claims file" in next(iter(found.sentences()))


def test_a_bundle_that_was_changed_is_invalid(proved, tmp_path):
    """It is worse than a verdict that is not as expected."""
    file = tmp_path / "proofs" / "brackets" / "bundle" / "certificate.json"
    file.write_bytes(file.read_bytes() + b" ")
    found = judged(proved, tmp_path)
    assert found.exit_code is ExitCode.INVALID
    assert next(iter(found.sentences())).startswith("claim 'brackets': invalid: ")


def test_a_claim_that_is_not_proved_yet_is_named(proved, tmp_path):
    """Exit code 4, and what to type."""
    shutil.rmtree(tmp_path / "proofs" / "quotes")
    found = judged(proved, tmp_path)
    assert isinstance(found.claims[0], UnprovedClaim)
    assert found.exit_code is ExitCode.UNDECIDED
    assert "prove it by circuitproof claims prove" in next(iter(found.sentences()))


def test_a_changed_verdict_is_that_of_the_checker(proved, tmp_path):
    """What stands beside the bundle is not asked: only the bundle is believed, once it is judged."""
    record = tmp_path / "proofs" / "brackets" / "proved.json"
    record.write_text(record.read_text().replace("refuted", "proved"))
    assert judged(proved, tmp_path).is_expected
    wrong = load_claims(write_claims(tmp_path, CLAIMS.replace('"refuted"', '"proved"')))
    found = judged(wrong, tmp_path)
    assert found.exit_code is ExitCode.REFUTED
    assert [*found.sentences()] == [
        "claim 'brackets': equivalence is refuted, not proved (the prover counts 0 of 128)"
    ]
