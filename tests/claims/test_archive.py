"""An archive is the same bytes each time, and whoever unpacks it can check all of it."""

import json
import tarfile

import pytest

from circuitproof.claims.archive import write_archive
from circuitproof.claims.checking import check_claims
from circuitproof.claims.file import load_claims
from circuitproof.claims.proving import prove_claims
from circuitproof.claims.results import Claims
from circuitproof.errors import InputError
from circuitproof.files.canonical import digest_bytes
from circuitproof.proof.effort import UNHURRIED
from claim_files import changed, write_claims

HEAR = UNHURRIED.hear


def test_whoever_unpacks_it_can_check_it_without_the_model(tmp_path):
    """Every file is as the manifest says, and the checker accepts every bundle."""
    (tmp_path / "mine").mkdir()
    file = load_claims(write_claims(tmp_path / "mine"))
    prove_claims(file, tmp_path / "proofs", HEAR)
    files = write_archive(file, tmp_path / "proofs", tmp_path / "one.tar.gz")
    write_archive(file, tmp_path / "proofs", tmp_path / "two.tar.gz")
    assert (tmp_path / "one.tar.gz").read_bytes() == (tmp_path / "two.tar.gz").read_bytes()
    with tarfile.open(tmp_path / "one.tar.gz") as tar:
        assert tar.getnames() == sorted(f"toy/{name}" for name in files)
        tar.extractall(tmp_path / "theirs", filter="data")
    theirs = tmp_path / "theirs" / "toy"
    listed = json.loads((theirs / "manifest.json").read_text())["files"]
    assert {name: str(digest_bytes((theirs / name).read_bytes())) for name in listed} == listed
    assert not (theirs / "model").exists()
    claims = load_claims(theirs / "claims.toml")
    found = Claims("toy", check_claims(claims, theirs / "proofs", has_models=False, hear=HEAR))
    assert found.is_expected, found


def test_only_what_is_proved_can_be_archived(tmp_path):
    """A bundle that is missing, changed, or of another claim is refused by name; so is a foreign path."""
    file, out = load_claims(write_claims(tmp_path)), tmp_path / "x.tar.gz"
    with pytest.raises(InputError, match="'quotes' is not proved"):
        write_archive(file, tmp_path / "proofs", out)
    prove_claims(file, tmp_path / "proofs", HEAR)
    other = load_claims(write_claims(tmp_path, changed('epsilon = "1/100"', 'epsilon = "1/200"')))
    with pytest.raises(InputError, match="holds the proof of another claim"):
        write_archive(other, tmp_path / "proofs", out)
    certificate = tmp_path / "proofs" / "quotes" / "bundle" / "certificate.json"
    certificate.write_bytes(certificate.read_bytes() + b" ")
    with pytest.raises(InputError, match="the file was changed"):
        write_archive(file, tmp_path / "proofs", out)
    (tmp_path / "inner").mkdir()
    far = write_claims(tmp_path / "inner", changed('"circuit.json"', '"../circuit.json"'))
    with pytest.raises(InputError, match="is not below the folder"):
        write_archive(load_claims(far), tmp_path / "proofs", out)
    with pytest.raises(InputError, match=r"ends in \.tar\.gz"):
        write_archive(file, tmp_path / "proofs", tmp_path / "x.zip")
    assert not out.exists()
