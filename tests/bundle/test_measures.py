"""Bundles of counts and measures: written, opened again, and judged by the checker as they are meant."""

import os
from collections import Counter

import pytest

from circuitproof.bundle.files import bundle_files, write_bundle
from circuitproof.bundle.opening import open_bundle
from circuitproof.proof.battery import prove
from circuitproof.proof.properties.accuracy import Accuracy
from circuitproof.proof.verdict import Verdict
from circuitproof_check.main import Beside, Outcome, inspect
from hand_models import adder_claim, table_task
from measured_claims import measured_claim

SEEDS = int(os.environ.get("CIRCUITPROOF_EXAMPLES", "30")) // 2
"""Dozens, and nightly thousands."""
OUTCOMES = {
    Verdict.PROVED: Outcome.VALID,
    Verdict.REFUTED: Outcome.REFUTED,
    Verdict.UNDECIDED: Outcome.INCOMPLETE,
}
WRONG = table_task({(0,): 1, (1,): 1, (2,): 1, (4,): 0})
"""Of the adder: token 1 is decided 0, and token 4 ties."""
EXACT = [
    (Accuracy(), Verdict.PROVED),
    (Accuracy(wrong=(1, 3)), Verdict.PROVED),
    (Accuracy(wrong=(1,)), Verdict.REFUTED),
    (Accuracy(wrong=(0, 1, 3)), Verdict.REFUTED),
    (Accuracy(least=2), Verdict.PROVED),
    (Accuracy(least=3), Verdict.REFUTED),
]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_checker_agrees_with_every_count_and_measure(seed, tmp_path):
    """Proved, refuted and open, with all remarks, found or bounded."""
    battery = prove(measured_claim(seed))
    write_bundle(tmp_path / "bundle", battery)
    report = inspect(tmp_path / "bundle", Beside(operations=10**10))
    assert report.outcome is OUTCOMES[battery.verdict], report.reason


@pytest.mark.parametrize(("prop", "verdict"), EXACT)
def test_an_accuracy_is_counted_in_exact_numbers_too(prop, verdict, tmp_path):
    """Where a tie is an error that is known."""
    battery = prove(adder_claim(prop, task=WRONG))
    assert battery.verdict is verdict
    write_bundle(tmp_path / "bundle", battery)
    report = inspect(tmp_path / "bundle", Beside())
    assert report.outcome is OUTCOMES[verdict], report.reason


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_bundle_is_read_as_it_was_written(seed, tmp_path):
    """Every property, with all its numbers; one that was found is read as it is stated."""
    battery = prove(measured_claim(seed))
    files = bundle_files(battery)
    opened = open_bundle(tmp_path, files)
    assert [one.prop for one in opened.answers] == list(battery.claim.properties)
    assert not any(one.prop.is_to_be_found for one in opened.answers)
    assert Counter(one.verdict for one in opened.answers) == Counter(a.verdict for a in battery.answers)
