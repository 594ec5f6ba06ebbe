"""Rows of logits that are long and many stand as digests in a bundle, and nothing else differs."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

import viewed
from circuitproof.bundle import files
from circuitproof.bundle.files import write_bundle
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.properties.catalogue import four_properties
from circuitproof.proof.properties.faithfulness import Faithfulness
from circuitproof.reports.bundle_view import BundleView, tell
from circuitproof.reports.checking_work import bound_needed
from circuitproof.reports.page import bundle_text
from circuitproof.tasks.alphabet import TOY
from circuitproof.tasks.quotes import toy_quotes
from circuitproof_check.main import Beside, Outcome, inspect
from hand_models import QUOTE_EDGES, circuit_of, freeze
from random_claims import known_ask, told


def battery(epsilon: Fraction = Fraction(1, 4)):
    """Return a claim that is proved below 1/3, with its answers."""
    frozen = freeze(viewed.closing_model(), TOY)
    properties = (*four_properties(epsilon), Faithfulness())
    return prove(Claim(frozen, circuit_of(QUOTE_EDGES), toy_quotes(), properties))


def folds(path: Path) -> list[object]:
    """Return the folds of a bundle."""
    return json.loads((path / "certificate.json").read_bytes())["folds"]


def seen(path: Path) -> BundleView:
    view = tell(path)
    assert isinstance(view, BundleView)
    return view


@pytest.mark.parametrize("epsilon", [Fraction(1, 4), Fraction(2, 5)])
def test_what_is_shown_of_digests_is_what_is_shown_of_rows(epsilon, tmp_path, monkeypatch):
    """Witnesses, counterexamples, margins: page and text have numbers that the checker computed."""
    found = battery(epsilon)
    write_bundle(tmp_path / "rows", found)
    monkeypatch.setattr(files, "_LONG_ROW", 0)
    monkeypatch.setattr(files, "_MOST_LONG", 0)
    write_bundle(tmp_path / "digests", found)
    assert {type(row) for row in folds(tmp_path / "digests")} == {str}
    rows, digests = seen(tmp_path / "rows"), seen(tmp_path / "digests")
    assert rows.judgement.outcome is (Outcome.VALID if epsilon < Fraction(1, 3) else Outcome.REFUTED)
    assert rows.judgement == digests.judgement
    assert rows.witnesses == digests.witnesses
    assert rows.witnesses
    parts = [
        [line for line in bundle_text(view).splitlines() if "bytes" not in line and str(tmp_path) not in line]
        for view in (rows, digests)
    ]
    assert parts[0] == parts[1]


def test_rows_are_written_out_until_they_are_long_and_many(tmp_path, monkeypatch):
    """So small bundles stay what they were, byte for byte."""
    rows = folds(written(tmp_path / "before"))
    lengths = [len(json.dumps(row, separators=(",", ":"))) for row in rows]
    long = [length for length in lengths if length > min(lengths)]
    assert long
    monkeypatch.setattr(files, "_LONG_ROW", min(lengths))
    monkeypatch.setattr(files, "_MOST_LONG", sum(long))
    assert folds(written(tmp_path / "few")) == rows
    monkeypatch.setattr(files, "_MOST_LONG", sum(long) - 1)
    told_rows = folds(written(tmp_path / "many"))
    assert [isinstance(row, str) for row in told_rows] == [length > min(lengths) for length in lengths]


def written(folder: Path) -> Path:
    """Return a bundle that the prover writes now, with rows of several lengths."""
    folder.mkdir()
    bundle = told(known_ask(1), folder).bundle
    assert bundle is not None
    return bundle


def test_the_bound_that_rows_would_allow_is_told_where_digests_stand_for_them(tmp_path, monkeypatch):
    """A bundle's bytes say less of its work then; where rows are written out nothing is said."""
    found = battery()
    write_bundle(tmp_path / "rows", found)
    assert bound_needed(tmp_path / "rows", tmp_path / "model", found) is None
    monkeypatch.setattr(files, "_LONG_ROW", 0)
    monkeypatch.setattr(files, "_MOST_LONG", 0)
    write_bundle(tmp_path / "digests", found)
    command = bound_needed(tmp_path / "digests", tmp_path / "model", found)
    assert command is not None
    said, _, bound = command.rpartition(" --operations ")
    assert said == f"circuitproof-check {tmp_path / 'digests'} --against {tmp_path / 'model'}"
    beside = Beside(operations=int(bound))
    assert inspect(tmp_path / "digests", beside).outcome is Outcome.VALID
    size = sum(file.stat().st_size for file in (tmp_path / "rows").iterdir())
    assert int(bound) >= 45_000_000 + 40 * size * 9 // 10
