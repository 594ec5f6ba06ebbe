"""The gallery on the command line, and its rows proved anew where the public weights are at hand."""

import json
import os

import pytest

from circuitproof.claims.file import load_claims
from circuitproof.errors import ExitCode
from circuitproof.gallery.listed import ROWS, GalleryModel
from places import ROOT

AT_HAND = {
    "pizza": "pizza_constant_attention/model.safetensors",
    "norm-free": "norm_free",
    "band-norm": "band_norm_matched",
    "program-healed": "program_healed",
    **{row.name: row.name for row in ROWS if isinstance(row, GalleryModel) and row.layout == "ordinary"},
}
QUICK = ("norm-free", "program-healed", "band-norm")
SLOW = tuple(name for name in AT_HAND if name not in (*QUICK, "pizza", "nano_sort"))
"""All but what the reference does not have whole."""


def test_the_gallery_lists_every_row(run):
    """With its name, which is what to ask for next."""
    code, out, _ = run("gallery")
    assert code == 0
    assert all(row.name in out for row in ROWS)
    assert [row["name"] for row in json.loads(run("gallery", "--json")[1])] == [row.name for row in ROWS]


def test_a_row_says_where_its_weights_are(run):
    """And the command that proves it from them."""
    code, out, _ = run("gallery", "pizza")
    assert code == 0
    assert "https://github.com/fjzzq2002/pizza at 4c7f2f31" in out
    assert "circuitproof gallery pizza --weights" in out


def test_a_row_whose_proofs_are_kept_names_their_file(run):
    """And takes no weights: there is nothing to convert."""
    code, out, _ = run("gallery", "code-lm")
    assert code == 0
    assert "circuitproof claims table evidence/code-lm/claims.toml" in out
    assert json.loads(run("gallery", "code-lm", "--json")[1])["claims"] == "evidence/code-lm/claims.toml"
    code, _, err = run("gallery", "code-lm", "--weights", "w")
    assert code == 2
    assert "circuitproof claims check evidence/code-lm/claims.toml" in err


def test_a_proof_kept_without_weights_is_open_until_the_model_is_given(run, reference, tmp_path):
    """Whoever has the public weights judges the bundle that is in the repository; nobody else can."""
    row = next(row for row in ROWS if row.name == "program-healed")
    assert f"claims check {row.kept} --where program-healed=" in run("gallery", row.name)[1]
    kept, model = ROOT / row.kept, tmp_path / "model"
    assert not [*kept.parent.rglob("*.safetensors")]
    code, said, _ = run("claims", "check", kept)
    assert (code, "its bundle holds no weights" in said) == (ExitCode.UNDECIDED, True)
    assert run("import-release", reference / AT_HAND[row.name], "--out", model)[0] == 0
    code, said, _ = run("claims", "check", kept, "--where", f"program-healed={model}")
    assert (code, "every verdict is as expected" in said) == (0, True)


def rebuilt(run, reference, name, out):
    """Prove and check a row from weights that are at hand."""
    code, said, err = run("gallery", name, "--weights", reference / AT_HAND[name], "--out", out, "--json")
    assert code == 0, err
    return json.loads(said)


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_a_quick_row_is_proved_from_its_weights(run, reference, tmp_path, name):
    """Every verdict is as expected, and the proofs go on as a claims file."""
    found = rebuilt(run, reference, name, tmp_path / "row")
    assert {one["claim"] for one in found["claims"]} == {
        claim.name for claim in load_claims(tmp_path / "row" / "claims.toml").claims
    }
    code, _, err = run(
        "claims", "check", tmp_path / "row" / "claims.toml", "--proofs", tmp_path / "row" / "proofs"
    )
    assert code == 0, err


@pytest.mark.skipif("CIRCUITPROOF_GALLERY" not in os.environ, reason="takes minutes; make nightly runs it")
@pytest.mark.parametrize("name", SLOW)
def test_an_ordinary_row_is_proved_from_its_weights(run, reference, tmp_path, name):
    """Every verdict is as expected, and each claim says what runs in floats decide."""
    found = rebuilt(run, reference, name, tmp_path / "row")
    assert all(run["format"] for one in found["claims"] for run in one["floats"])
    assert all(len(one["floats"]) == 3 for one in found["claims"])


@pytest.mark.skipif("CIRCUITPROOF_GALLERY" not in os.environ, reason="takes minutes; make nightly runs it")
def test_addition_modulo_59_is_proved_on_all_inputs(run, reference, tmp_path):
    """Nine edges of four heads and an MLP, 3,481 inputs, five properties."""
    every, edges = rebuilt(run, reference, "pizza", tmp_path / "row")["claims"]
    assert (every["edges"], every["prompts"]) == (9, "3481 prompts")
    assert (edges["edges"], edges["prompts"]) == (9, "5 prompts")
    proved = {**every["verdicts"], **edges["verdicts"]}
    assert set(proved) == {"equivalence", "invariance", "necessity", "robustness", "faithfulness"}
    assert set(proved.values()) == {"proved"}
