"""Counts and measures on the command line: found and stated, bounded, or refused in a sentence."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from circuitproof.claims.file import load_claims
from circuitproof.claims.places import ProofFolder, is_meant
from circuitproof.claims.proving import prove_claims
from circuitproof.errors import InputError
from circuitproof.models.operators import Attention, BandNorm, Lift
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.proof.properties.accuracy import Accuracy
from circuitproof.tasks.alphabet import TOY
from claim_files import changed, write_claims
from hand_models import QUOTE_SIZES, quote_model

SOFTMAX = replace(QUOTE_SIZES, attention=Attention.SOFTMAX)


@pytest.fixture
def quotes(tmp_path):
    """Return the arguments of a model that closes quotes, on the task of brackets, which it cannot do."""
    save_model(tmp_path / "model", StoredModel(quote_model(), TOY))
    return ["verify", "--model", tmp_path / "model", "--task"]


def test_what_is_found_is_stated(run, quotes):
    """In the table, and in JSON as the claim has it; the whole model is also compared without edges."""
    code, out, _ = run(*quotes, "quotes", "--property", "accuracy", "--property", "logit difference")
    assert code == 0
    assert "accuracy: 0 errors" in out
    assert "128 of 128 are right" in out
    assert "least difference from" in out
    kinds = ("--property", "loss", "--property", "recovered difference", "--json")
    code, out, _ = run(*quotes, "quotes", *kinds)
    loss, recovered = (answer["property"] for answer in json.loads(out)["answers"])
    assert code == 0
    assert 0 < Fraction(loss["mean"][0]) < Fraction(loss["mean"][1]) < 1
    assert recovered["without"] == []
    assert Fraction(recovered["mean"][0]) <= 1 <= Fraction(recovered["mean"][1])


def test_bounds_are_claimed(run, quotes):
    """Met or missed, with what was found; nothing else is claimed then."""
    code, out, _ = run(*quotes, "quotes", "--bound", "accuracy >= 127", "--bound", "loss <= 1")
    assert code == 0
    assert "equivalence" not in out
    code, out, _ = run(*quotes, "quotes", "--bound", "least difference >= 100")
    assert code == 1
    assert "least difference at least 100 is refuted: found is least difference from" in out


def test_every_token_may_be_the_answer(run, quotes):
    """The candidates of the claim are then all tokens."""
    code, out, _ = run(*quotes, "quotes", "--property", "accuracy", "--candidates", "all", "--json")
    declared = json.loads(run(*quotes, "quotes", "--property", "accuracy", "--json")[1])["declaration"]
    assert code == 0
    assert json.loads(out)["declaration"] != declared


REFUSED = [
    (("--bound", "accuracy > 3"), 2, "the bound 'accuracy > 3' has the sign >; want <= or >="),
    (("--property", "accuracy", "--bound", "loss <= 3"), 2, "the bound loss <= 3 is given, but loss is not"),
    (("--bound", "accuracy >= 129"), 3, "at least 129 prompts are said to be right, the task has 128"),
    (("--property", "accuracy", "--engine", "z3"), 2, "accuracy is not asked of solvers; want equivalence"),
    (("--property", "accuracy", "--candidates", "some"), 2, "Invalid value for '--candidates'"),
]


@pytest.mark.parametrize(("asked", "code", "sentence"), REFUSED)
def test_what_cannot_be_meant_is_refused(run, quotes, asked, code, sentence):
    """In one sentence, before anything is proved."""
    found, out, err = run(*quotes, "quotes", *asked)
    assert (found, out) == (code, "")
    assert sentence in err


def test_a_band_norm_has_no_loss(run, tmp_path):
    """Nothing is enclosed there."""
    norm = BandNorm(Fraction(1, 2), Fraction(2), Lift.CONTINUOUS)
    save_model(tmp_path / "band", StoredModel(quote_model(sizes=replace(QUOTE_SIZES, norm=norm)), TOY))
    code, _, err = run("verify", "--model", tmp_path / "band", "--task", "quotes", "--property", "loss")
    assert code == 3
    assert "loss is measured in enclosed numbers, in which BandNorm has no value; claim an accuracy" in err


def test_a_softmax_model_is_counted_too(run, tmp_path):
    """In enclosed numbers, with every edge."""
    save_model(tmp_path / "soft", StoredModel(quote_model(sizes=SOFTMAX), TOY))
    arguments = (
        "verify",
        "--model",
        tmp_path / "soft",
        "--task",
        "quotes",
        "--property",
        "accuracy",
        "--json",
    )
    code, out, _ = run(*arguments)
    (answer,) = json.loads(out)["answers"]
    assert (code, answer["verdict"]) == (0, "proved")
    assert answer["findings"]["right"]["size"] == 128


def test_a_claims_file_may_bound_or_leave_to_be_found(tmp_path):
    """What was found is not in the file: the bundle states it and is still the one that is meant."""
    text = changed('equivalence = "refuted"', 'accuracy = "proved", loss = "proved"').replace(
        "expected = {", 'bounds = ["loss >= 0"]\nexpected = {'
    )
    file = load_claims(write_claims(tmp_path, text)).only(["brackets"])
    (claim,) = file.claims
    assert claim.properties[0] == Accuracy()
    prove_claims(file, tmp_path / "proofs", lambda *_: None)
    assert is_meant(ProofFolder(claim, tmp_path / "proofs" / "brackets"))


def test_bounds_of_what_is_not_expected_are_refused(tmp_path):
    """They would do nothing."""
    text = changed("expected = { equi", 'bounds = ["loss >= 0"]\nexpected = { equi')
    with pytest.raises(
        InputError, match="the bound loss >= 0 is given, but loss is not among the properties"
    ):
        load_claims(write_claims(tmp_path, text))
