import circuitproof as cp
from claim_files import CLAIMS, write_claims


def test_one_call_proves_and_checks_all_claims(tmp_path):
    """What is found says whether all is as expected, and has the table and the page."""
    heard = []
    found = cp.prove_claims(
        write_claims(tmp_path), out=tmp_path / "proofs", progress=lambda *said: heard.append(said)
    )
    assert found.is_expected
    assert heard[-1] == ("claims", 2, 2)
    assert "quotes" in repr(found)
    assert found.table("latex").startswith("\\begin{tabular}")
    assert found.page().startswith("<!doctype html>")


def test_a_changed_verdict_is_said(tmp_path):
    """In the sentence that the command line prints."""
    file = write_claims(tmp_path, CLAIMS.replace('"refuted"', '"undecided"'))
    found = cp.prove_claims(file, out=tmp_path / "proofs")
    assert not found.is_expected
    assert [*found.sentences()] == [
        "claim 'brackets': equivalence is refuted, not undecided (the prover counts 0 of 128)"
    ]
