"""Digests in the place of rows of logits: what the checker computes itself, it need not be told."""

from collections.abc import Callable
from copy import deepcopy
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

import bundle_maker as maker
import enclosed_forgeries
import pattern_forgeries
from attack import resealed
from bundle_maker import Bundle, fitting, proving, row_digest
from bundle_twin import read_bundle
from circuitproof_check.exact import digest_of
from circuitproof_check.main import Beside, Outcome, Report, inspect
from circuitproof_check.work import ExceededError, allow
from random_claims import CYCLE, known_ask, told

BEYOND = "digests are of the logits"


def in_digests(bundle: Bundle) -> Bundle:
    """Return the same bundle with a digest for each row."""
    found = deepcopy(bundle)
    if "remarks" in found.pins:
        maker.remark(found)  # which reads the rows
    found.pins.discard("remarks")
    found.certificate["folds"] = list(map(row_digest, found.certificate["folds"]))
    return found


def report(bundle: Bundle, folder: Path) -> Report:
    """Return what the checker says."""
    return inspect(bundle.write(folder), Beside())


def refuted() -> Bundle:
    """Return a refutation of equivalence."""
    prover = fitting()
    right, candidates = prover.claim["task"]["answer"]["answers"], prover.claim["task"]["candidates"]
    right[2] = next(token for token in candidates if token != right[2])
    replay = {"replay": [{"prompt": 2, "fold": prover.fold(2)}]}
    prover.answer({"kind": "equivalence"}, "refuted", replay)
    return prover.bundle


@cache
def honest() -> Bundle:
    return proving(fitting(), *maker.KINDS)


@pytest.mark.parametrize("make", [honest, refuted, pattern_forgeries.honest, pattern_forgeries.agreeing])
def test_digests_say_what_rows_say(make: Callable[[], Bundle], tmp_path: Path):
    """Of every property, of a refutation, of patterns: the same words, and the same rows to show."""
    bundle = make()
    one, other = report(bundle, tmp_path / "rows"), report(in_digests(bundle), tmp_path / "digests")
    assert one.outcome in (Outcome.VALID, Outcome.REFUTED)
    assert one == other
    assert one.folds == other.folds


@pytest.mark.parametrize("seed", range(0, 3 * len(CYCLE), 4))
def test_digests_of_the_provers_bundles_say_the_same(seed: int, tmp_path: Path):
    """Whatever evidence it writes, over lists and patterns."""
    found = told(known_ask(seed), tmp_path).bundle
    if found is None:
        return
    before = inspect(found, Beside())
    claim, domain, certificate = read_bundle(found)
    certificate["folds"] = list(map(row_digest, certificate["folds"]))
    resealed(found, (claim, domain, certificate))
    after = inspect(found, Beside())
    assert before == after
    assert before.folds == after.folds


FORGED: dict[str, tuple[Callable[[list[str]], str], str]] = {
    "of another row": (lambda row: row_digest([*row[1:], row[0]]), BEYOND),
    "of a shorter row": (lambda row: row_digest(row[:-1]), BEYOND),
    "in capitals": (lambda row: row_digest(row).upper(), BEYOND),
    "of other spaces": (lambda row: maker.digest(str(row).replace("'", '"').encode()), BEYOND),
    "of other terms": (lambda row: maker.digest(maker.as_bytes([f"{row[0]}0/10", *row[1:]])), BEYOND),
    "cut": (lambda row: row_digest(row)[:-1], BEYOND),
    "nothing": (lambda _: "", BEYOND),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_digest_is_of_the_row_and_of_its_one_spelling(name: str, tmp_path: Path):
    """Otherwise two checkers might disagree."""
    forge, rule = FORGED[name]
    bundle = deepcopy(honest())
    bundle.certificate["folds"][0] = forge(bundle.certificate["folds"][0])
    found = report(bundle, tmp_path / "bundle")
    assert found.outcome is Outcome.INVALID
    assert rule in found.reason


def test_a_digest_stands_for_one_row(tmp_path: Path):
    """Two prompts of other logits cannot share it, whichever comes first."""
    bundle = in_digests(honest())
    children = bundle.certificate["answers"][0]["evidence"]["children"]
    first, second = next((a, b) for a, b in pairwise(children) if a["fold"] != b["fold"])
    second["fold"] = first["fold"]
    found = report(bundle, tmp_path / "bundle")
    assert found.outcome is Outcome.INVALID
    assert "folds are the logits" in found.reason


def test_a_wrong_decision_is_not_hidden_by_a_digest(tmp_path: Path):
    """The digest is right, and the prompt is not: what is decided is read from what was computed."""
    prover = fitting()
    right, candidates = prover.claim["task"]["answer"]["answers"], prover.claim["task"]["candidates"]
    right[2] = next(token for token in candidates if token != right[2])
    found = report(in_digests(proving(prover, "equivalence")), tmp_path / "bundle")
    assert found.outcome is Outcome.INVALID
    assert "decision is the answer" in found.reason


def test_a_larger_radius_is_not_hidden_by_a_digest(tmp_path: Path):
    """Margins too are of the logits that were computed."""
    bundle = in_digests(honest())
    answers = bundle.certificate["answers"]
    robust = next(one for one in answers if one["property"]["kind"] == "robustness")
    robust["evidence"]["children"][0]["radius"] = "1000"
    found = report(bundle, tmp_path / "bundle")
    assert "radius is the radius" in found.reason


def test_every_digest_is_referred_to(tmp_path: Path):
    """As every row is: nothing stands in a certificate that nobody compares."""
    bundle = deepcopy(honest())
    bundle.certificate["folds"].append("0" * 64)
    assert "every fold is referred to" in report(bundle, tmp_path / "bundle").reason


def test_spelling_a_long_row_is_paid_for_before():
    """It takes as long as reading it, which is not linear in its digits."""
    row = (Fraction(1, 3**200_000),)
    allow(100_000)
    with pytest.raises(ExceededError, match="100000 operations"):
        digest_of(row)
    allow(10_000_000)
    assert digest_of((Fraction(6, 4), Fraction(-3), Fraction(0))) == row_digest(["3/2", "-3", "0"])


def test_numbers_of_a_million_digits_are_not_spelled():
    """A bound of reading is one of writing, too."""
    allow(10**12)
    with pytest.raises(ExceededError, match="digits of a logit"):
        digest_of((Fraction(1 << 4_000_000),))


def test_an_enclosure_has_no_digest(tmp_path: Path):
    """Enclosed arithmetic has no rows of logits."""
    bundle = enclosed_forgeries.honest()
    bundle.certificate["folds"] = [row_digest(["1", "0", "0"])]
    assert "every fold is referred to" in report(bundle, tmp_path / "bundle").reason
