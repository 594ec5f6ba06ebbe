"""Bundles that hold no weights, from the command that writes them to every command that reads them."""

import json

import pytest

import circuitproof as cp
from circuitproof.claims.archive import write_archive
from circuitproof.claims.checking import check_claims
from circuitproof.claims.file import load_claims
from circuitproof.claims.page import page_of
from circuitproof.claims.proving import prove_claims
from circuitproof.claims.results import Claims
from circuitproof.errors import ExitCode, InputError
from circuitproof.proof.effort import UNHURRIED
from claim_files import CLAIMS, write_claims

HEAR = UNHURRIED.hear
DETACHED = CLAIMS.replace('task = "quotes"\n', 'task = "quotes"\ndetached = true\n')
UNHELD = "the bundle holds no weights: give the model with --against"
FOUR = {"claim.json", "domain.json", "certificate.json", "manifest.json"}


@pytest.fixture
def proved(tmp_path, run):
    """Return a folder with a model and both bundles of a claim about it: whole, and detached."""
    write_claims(tmp_path)
    words = ["--model", tmp_path / "model", "--circuit", tmp_path / "circuit.json", "--task", "quotes"]
    for name, flags in {"whole": [], "detached": ["--detached"]}.items():
        code, _, said = run("verify", *words, "--epsilon", "1/100", "--out", tmp_path / name, *flags)
        assert code == 0, said
    return tmp_path


def test_its_claim_is_the_same_but_for_one_key(proved):
    """So is every other file, and there are no weights."""
    whole, detached = proved / "whole", proved / "detached"
    assert {file.name for file in detached.iterdir()} == FOUR
    stated, told = (json.loads((one / "claim.json").read_text()) for one in (whole, detached))
    assert told == {**stated, "detached": True}
    assert (whole / "domain.json").read_bytes() == (detached / "domain.json").read_bytes()
    answers = [json.loads((one / "certificate.json").read_text())["answers"] for one in (whole, detached)]
    assert answers[0] == answers[1]


def test_every_command_wants_the_model_and_then_says_what_it_says_of_the_whole(proved, run):
    """Without it one sentence says what to give; with it, pages and explanations are the same."""
    bundle, model, page = proved / "detached", proved / "model", proved / "page.html"
    for words in (["check", bundle], ["show", bundle], ["report", bundle, "--out", page]):
        code, said, _ = run(*words)
        assert code == ExitCode.UNDECIDED
        assert "incomplete" in said
    code, _, said = run("explain", "#3", "--bundle", bundle)
    assert code == ExitCode.UNDECIDED
    assert UNHELD in " ".join(said.split())
    for words in (["show", "BUNDLE"], ["explain", "#3", "--bundle", "BUNDLE"], ["check", "BUNDLE"]):
        found = [
            run(*[one if word == "BUNDLE" else word for word in words], "--against", model)
            for one in (bundle, proved / "whole")
        ]
        assert found[0][0] == 0
        shown, wanted = (said.partition(" bytes (")[0].rsplit("\n", 1)[0] for _, said, _ in found)
        assert shown.replace("detached", "whole") == wanted
    assert run("report", bundle, "--against", model, "--out", proved / "other.html")[0] == 0


def test_without_a_place_for_the_bundle_the_option_does_nothing(proved, run):
    """Like every other that would be lost."""
    code, _, said = run("verify", "--model", proved / "model", "--task", "quotes", "--detached")
    assert (code, "no --out" in said) == (ExitCode.USAGE, True)
    with pytest.raises(cp.InputError, match="detached does nothing without out"):
        cp.verify(proved / "model", "quotes", detached=True)


def test_from_python_it_is_checked_and_explained_with_its_model(proved):
    """The same words: detached where it is written, against and model where it is read."""
    model = cp.load_model(proved / "model")
    found = cp.verify(model, "quotes", proved / "circuit.json", detached=True, out=proved / "mine")
    assert cp.check(found).reason == UNHELD
    assert cp.check(found, against=model).outcome is cp.Outcome.VALID
    assert cp.report(found, against=model).says == "valid"
    assert cp.explain(found, 3, model=model).prompt == cp.explain(proved / "whole", 3).prompt


def test_a_claims_file_says_which_bundles_are_detached(tmp_path):
    """They are proved, checked, tabled and archived as the others, as long as the model is there."""
    file = load_claims(write_claims(tmp_path, DETACHED))
    assert not any(one.changed for one in prove_claims(file, tmp_path / "proofs", HEAR))
    assert {one.name for one in (tmp_path / "proofs" / "quotes" / "bundle").iterdir()} == FOUR
    assert not any(one.is_new for one in prove_claims(file, tmp_path / "proofs", HEAR))
    found = check_claims(file, tmp_path / "proofs", hear=HEAR)
    assert Claims(file.name, found).is_expected
    assert "necessity" in page_of("toy", [], found)
    files = write_archive(file, tmp_path / "proofs", tmp_path / "toy.tar.gz")
    assert "proofs/quotes/bundle/claim.json" in files
    assert "proofs/quotes/bundle/weights.safetensors" not in files
    assert "proofs/brackets/bundle/weights.safetensors" in files


def test_claims_whose_model_is_not_at_hand_are_open_and_say_what_to_give(tmp_path):
    """Neither expected nor changed; the archive needs no model."""
    file = load_claims(write_claims(tmp_path, DETACHED))
    prove_claims(file, tmp_path / "proofs", HEAR)
    (claimed, held) = check_claims(file, tmp_path / "proofs", has_models=False, hear=HEAR)
    assert claimed.exit_code is ExitCode.UNDECIDED
    assert claimed.sentence() == (
        "claim 'quotes': incomplete: its bundle holds no weights: say where the model is, --where NAME=DIR"
    )
    assert held.exit_code is ExitCode.GOOD
    apart = load_claims(write_claims(tmp_path, DETACHED.replace('path = "model"\n', "")))
    assert check_claims(apart, tmp_path / "proofs", hear=HEAR)[0].exit_code is ExitCode.UNDECIDED
    assert "proofs/quotes/bundle/claim.json" in write_archive(
        apart, tmp_path / "proofs", tmp_path / "a.tar.gz"
    )
    there = load_claims(apart.path, {"toy": tmp_path / "model"})
    assert check_claims(there, tmp_path / "proofs", hear=HEAR)[0].exit_code is ExitCode.GOOD


@pytest.mark.parametrize(("before", "after"), [(CLAIMS, DETACHED), (DETACHED, CLAIMS)])
def test_a_proof_that_holds_weights_is_not_taken_for_one_that_must_not(before, after, tmp_path):
    """Weights that may not be passed on would stay in the folder without a word."""
    prove_claims(load_claims(write_claims(tmp_path, before)), tmp_path / "proofs", HEAR)
    file = load_claims(write_claims(tmp_path, after))
    with pytest.raises(InputError, match="otherwise than the claims file says"):
        prove_claims(file, tmp_path / "proofs", HEAR)
    assert prove_claims(file, tmp_path / "proofs", HEAR, force=True)[0].is_new
