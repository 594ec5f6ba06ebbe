"""What the page says of remarks: each that a bundle can hold is told in plain words."""

import re

from circuitproof.view.words import remark_meaning
from places import ROOT


def test_every_remark_of_the_specification_has_a_meaning():
    """The page says it beside the verdict."""
    text = (ROOT / "docs" / "certificate.md").read_text()
    table = text.partition("### Remarks")[2].partition("For a pattern")[0]
    listed = re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)
    assert "one edge" in listed
    assert all(map(remark_meaning, listed))
