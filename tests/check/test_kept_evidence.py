"""The proofs that are kept in the tree hold, and say what the documents say of them."""

import pytest

from circuitproof_check.main import Outcome, check
from places import ROOT


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("quotes", ("lesion identity proved", "3 edges", "1280 prompts", "robustness at 1/100")),
        ("brackets", ("lesion identity proved", "3 edges", "1280 prompts", "robustness at 1/100")),
        ("brackets-beyond", ("3 edges", "all 1.382e423 prompts of a pattern", "robustness at 1/100")),
        ("quotes-beyond", ("3 edges", "all 1.382e423 prompts of a pattern", "robustness at 1/100")),
    ],
)
def test_a_kept_bundle_is_valid_and_says_what_is_told_of_it(name, words):
    """A change of the format or of the checker must not leave the evidence behind."""
    outcome, reason = check(ROOT / "evidence" / "code-lm" / name)
    assert outcome is Outcome.VALID
    for one in words:
        assert one in reason
