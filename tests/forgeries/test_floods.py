"""Bundles that flood dictionaries, or whose size lies in what is done with them, end in time."""

import pytest

from circuitproof_check.main import Outcome
from floods import FLOODS, classes_of_one_hash
from limited import judged

PROVED = ("rows_of_one_hash", "edges_times_prompts")
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


def test_the_classes_have_one_hash():
    """Otherwise the bundle that is made of them floods nothing."""
    classes = classes_of_one_hash(100)
    assert len({tuple(one) for one in classes}) == 100
    assert len({hash(frozenset(one)) for one in classes}) == 1
