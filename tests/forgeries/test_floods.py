"""Bundles that flood dictionaries, or whose size lies in what is done with them, end in time."""

from fractions import Fraction
from types import SimpleNamespace

import pytest

from circuitproof_check.case import Case
from circuitproof_check.main import Outcome
from floods import CLOSER, FLOODS, classes_of_one_hash, pairs_of_one_hash
from limited import judged

PROVED = (
    "rows_of_one_hash",
    "edges_times_prompts",
    "brackets_of_one_hash",
    "last_tokens_asked_for_each_key",
)
"""These are true, and too little work now to exceed a bound."""


@pytest.mark.parametrize("name", FLOODS)
def test_a_bundle_that_took_minutes_or_gigabytes_ends_in_ten_seconds_and_500_megabytes(name, tmp_path):
    """Each of these exceeded the bound before its loop was paid for, or its numbers were hashed."""
    bundle = FLOODS[name](tmp_path / "bundle")
    sizes = [file.stat().st_blocks * 512 for file in bundle.iterdir()]
    assert sum(sizes) < 1 << 20, "a small bundle on the disk"
    code, said, complaint = judged(bundle)
    ended = {Outcome.VALID} if name in PROVED else {Outcome.VALID, Outcome.INCOMPLETE, Outcome.INVALID}
    assert (complaint, code in ended) == ("", True), said


def test_the_classes_pairs_and_brackets_have_one_hash():
    """Otherwise the bundles that are made of them flood nothing."""
    classes, pairs = classes_of_one_hash(100), [tuple(pair) for pair in pairs_of_one_hash(100)]
    brackets = classes_of_one_hash(100, lambda token: hash((token, CLOSER)))
    spelled = [frozenset((token, CLOSER) for token in one) for one in brackets]
    for kinds in (pairs, [frozenset(one) for one in classes], spelled):
        assert len({str(sorted(one)) for one in kinds}) == 100
        assert len({hash(one) for one in kinds}) == 1


def test_ties_that_a_bundle_chooses_have_hashes_of_their_own():
    """Faithfulness allows ties, and which candidates tie is up to the weights."""
    classes = classes_of_one_hash(100)
    candidates = tuple(range(max(map(max, classes)) + 1))
    case = Case(SimpleNamespace(task=SimpleNamespace(candidates=candidates)), None, ())
    ties = [case.decide(tuple(Fraction(token in one) for token in candidates)) for one in classes]
    assert ties == [frozenset(one) for one in classes]
    assert len({hash(tie) for tie in ties}) == 100
