"""Claims are proved once, whole or not at all, and never one in the place of another."""

import json
import shutil

import pytest

from circuitproof.claims.file import load_claims
from circuitproof.claims.proving import prove_claims
from circuitproof.errors import InputError
from circuitproof.files.canonical import readable_json
from circuitproof.files.locked import locked
from circuitproof.proof.effort import UNHURRIED
from circuitproof.workers import Processes
from claim_files import CLAIMS, changed, write_claims
from hand_models import circuit_of

HEAR = UNHURRIED.hear


def test_every_claim_has_a_bundle_and_its_verdicts(tmp_path):
    """A refutation that is expected is as good as a proof."""
    found = prove_claims(load_claims(write_claims(tmp_path)), tmp_path / "proofs", HEAR)
    assert [one.name for one in found] == ["quotes", "brackets"]
    assert [*map(str, found[0].record.verdicts.values())] == ["proved"] * 3
    assert found[1].record.verdicts == {"equivalence": "refuted"}
    assert not any(one.changed for one in found)
    assert (tmp_path / "proofs" / "quotes" / "bundle" / "manifest.json").is_file()


def test_agreement_is_claimed_with_the_file_of_another_circuit(tmp_path):
    """Which is one of the claim's inputs, and stands in its bundle edge by edge."""
    text = changed('epsilon = "1/100"', 'epsilon = "1/100"\nagrees_with = "other.json"')
    text = text.replace('robustness = "proved"', 'robustness = "proved"\nagreement = "refuted"')
    file = write_claims(tmp_path, text)
    other = circuit_of(["embed -> logits"])
    (tmp_path / "other.json").write_bytes(readable_json(other.to_json()))
    claims = load_claims(file)
    assert tmp_path / "other.json" in claims.claims[0].inputs()
    found, _ = prove_claims(claims, tmp_path / "proofs", HEAR)
    assert found.record.verdicts["agreement"] == "refuted"
    assert not found.changed
    claim = json.loads((tmp_path / "proofs" / "quotes" / "bundle" / "claim.json").read_text())
    assert claim["properties"][-1]["edges"] == ["embed -> logits"]
    again, _ = prove_claims(claims, tmp_path / "proofs", HEAR)
    assert not again.is_new


def test_what_is_proved_is_not_proved_again(tmp_path):
    """A run that was killed goes on: only the claim whose folder is not there is proved."""
    file, out = load_claims(write_claims(tmp_path)), tmp_path / "proofs"
    prove_claims(file, out, HEAR)
    before = (out / "quotes" / "bundle" / "claim.json").stat().st_mtime_ns
    shutil.rmtree(out / "brackets")
    heard = []
    again = prove_claims(file, out, lambda *said: heard.append(said))
    assert [one.is_new for one in again] == [False, True]
    assert (out / "quotes" / "bundle" / "claim.json").stat().st_mtime_ns == before
    assert heard == [("", 1, 2), ("brackets", 2, 2)]


def test_several_processes_prove_the_same(tmp_path):
    """Each claim in one of its own, with the same bytes as in this one."""
    file = load_claims(write_claims(tmp_path))
    alone = prove_claims(file, tmp_path / "one", HEAR)
    together = prove_claims(file, tmp_path / "two", HEAR, workers=Processes(2))
    assert [one.record.verdicts for one in alone] == [one.record.verdicts for one in together]
    for name in ("quotes", "brackets"):
        proofs = [
            (tmp_path / run / name / "bundle" / "certificate.json").read_bytes() for run in ("one", "two")
        ]
        assert proofs[0] == proofs[1]


def test_a_process_that_fails_ends_the_run_with_its_sentence(tmp_path):
    """The sentence names the claim; no folder is left half written."""
    file, out = load_claims(write_claims(tmp_path)), tmp_path / "proofs"
    out.mkdir()
    with locked(out / ".quotes.lock"), pytest.raises(InputError, match="written by another command"):
        prove_claims(file, out, HEAR, workers=Processes(2))
    assert not (out / "quotes").exists()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('circuit = "circuit.json"\n', ""),
        ('epsilon = "1/100"', 'epsilon = "1/50"'),
        ('task = "quotes"', 'task = "brackets"'),
        ('necessity = "proved"\n', ""),
    ],
)
def test_the_proof_of_another_claim_is_refused_and_replaced_by_force_alone(tmp_path, before, after):
    """Another circuit, radius, task or property under the same name is not what was proved."""
    out = tmp_path / "proofs"
    prove_claims(load_claims(write_claims(tmp_path)), out, HEAR)
    other = load_claims(write_claims(tmp_path, changed(before, after)))
    with pytest.raises(InputError, match="quotes holds the proof of another claim; give --force"):
        prove_claims(other, out, HEAR)
    assert [one.is_new for one in prove_claims(other, out, HEAR, force=True)] == [True, False]
    assert not any(one.is_new for one in prove_claims(other, out, HEAR))


def test_a_folder_that_is_not_ours_is_never_replaced(tmp_path):
    """Not even by force."""
    (tmp_path / "proofs" / "quotes").mkdir(parents=True)
    (tmp_path / "proofs" / "quotes" / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="is there and no proof of ours"):
        prove_claims(load_claims(write_claims(tmp_path)), tmp_path / "proofs", HEAR, force=True)


def test_nothing_is_written_into_a_sealed_folder(tmp_path):
    """A model directory would no longer be what its manifest says."""
    file = load_claims(write_claims(tmp_path))
    with pytest.raises(InputError, match="model is a sealed folder"):
        prove_claims(file, tmp_path / "model", HEAR)


def test_a_changed_verdict_is_named(tmp_path):
    """With what was found and what was wanted."""
    file = load_claims(write_claims(tmp_path, CLAIMS.replace('"refuted"', '"proved"')))
    found = prove_claims(file, tmp_path / "proofs", HEAR)
    changed = "equivalence is refuted, not proved (the prover counts 0 of 128)"
    assert [one.changed for one in found] == ["", changed]
    assert json.loads(json.dumps(found[1].to_json()))["changed"] == changed
