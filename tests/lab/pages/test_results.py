"""The page of results: what is not in a record is not in it."""

import json
import re

import pytest

from circuitproof.errors import InputError
from circuitproof_lab.pages.results import NO_RECORD, TEMPLATE, filled, results_page
from places import DOCS, ROOT

RECORD = {
    "loss": 2.5,
    "edges": ["a", "b", "c"],
    "tasks": [
        {"name": "quotes", "right": 1234, "radii": [0.5, 0.25, 1.0]},
        {"name": "brackets", "right": -3, "radii": [2.0]},
    ],
    "why": "it loses least",
    "passes": True,
    "tiny": -1.5e-5,
    "nothing": 0.0,
    "exact": ["1/3", "-2"],
}


@pytest.fixture
def evidence(tmp_path):
    """Return a folder of one record."""
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "run.json").write_text(json.dumps(RECORD))
    return tmp_path


@pytest.mark.parametrize(
    ("field", "shown"),
    [
        ("loss; .3f", "2.500"),
        ("loss; exp; .2f", "12.18"),
        ("edges; count", "3"),
        ("edges[1]", "b"),
        ("tasks[name=quotes].right", "1,234"),
        ("tasks[name=brackets].right; +", "\N{MINUS SIGN}3"),
        ("tasks[0].radii; least; .2f", "0.25"),
        ("tasks[0].radii; median; .2f", "0.50"),
        ("tasks[*].right; sum; d", "1231"),
        ("tasks[*].radii[0]; most; .1e", "2.0e+0"),
        ("tasks[*]; count", "2"),
        ("edges; list", "a, b, c"),
        ("tasks[0].radii; list .2f", "0.50, 0.25, 1.00"),
        ("tasks[*][name=quotes]; count", "1"),
        ("tiny; .1e", "\N{MINUS SIGN}1.5e-5"),
        ("nothing; .1e", "0"),
        ("exact; most; .3f", "0.333"),
        ("why", "it loses least"),
    ],
)
def test_a_field_is_what_the_record_says(evidence, field, shown):
    """In the place where the template names it, and nothing else changes."""
    assert filled(f"| here | {{{{toy/run.json: {field}}}}} |\n", evidence) == f"| here | {shown} |\n"


@pytest.mark.parametrize(
    ("field", "sentence"),
    [
        ("toy/none.json: loss", r"cannot read .*none\.json"),
        ("toy/run.json: lost", "there is no 'lost'; look into the record and mend the path"),
        ("toy/run.json: edges[3]", r"there is no '\[3\]'"),
        ("toy/run.json: tasks[name=tags].right", r"there is no '\[name=tags\]'"),
        ("toy/run.json: tasks[*].right", "there are 2 values, want one; take them together: least"),
        ("toy/run.json: loss; mean; .2f", "'mean' is not known before a format; known are least"),
        ("toy/run.json: why; .2f", "'it loses least' is no number"),
        ("toy/run.json: passes", "True is no number"),
        ("toy/run.json: loss; %q", "'%q' is no format of 2.5"),
        ("toy/run.json: tasks[0", "cannot be read from '\\[0' on"),
    ],
)
def test_a_field_that_does_not_fit_is_refused_with_its_line(evidence, field, sentence):
    """Nothing is left out in silence."""
    with pytest.raises(InputError, match=sentence) as refusal:
        filled(f"\n{{{{{field}}}}}\n", evidence)
    assert str(refusal.value).startswith(f"line 2, {{{{{field}}}}}: ")


def test_a_record_may_be_pending_and_that_is_said(evidence):
    """Only where the template says so; once it is there it is read."""
    assert filled("{{pending code/base.json: loss}}", evidence) == NO_RECORD
    (evidence / "code").mkdir()
    (evidence / "code" / "base.json").write_text('{"loss": 1}')
    assert filled("{{pending code/base.json: loss}}", evidence) == "1"


@pytest.mark.parametrize("text", ["{{toy/run.json loss}}", "a }} b", "{{"])
def test_braces_that_are_no_field_are_refused(evidence, text):
    """A number that was meant to be filled is not shown as a template."""
    with pytest.raises(InputError, match=r"line 1 has .* that belongs to no field"):
        filled(text, evidence)


def test_the_committed_page_is_what_its_records_say():
    """Whoever adds a record or changes a row makes the page anew, by the command that it names."""
    assert (DOCS / "results.md").read_text() == results_page(ROOT / "evidence").text


def test_no_number_of_ours_is_typed():
    """Outside of fields, the column of what was found here has only names and radii that were asked about."""
    template = (ROOT / "evidence" / TEMPLATE).read_text()
    rows = [line[2:-2].split(" | ") for line in template.splitlines() if line.startswith("| ")]
    found = [row[2] for row in rows if len(row) == 4]
    assert len(found) > 30
    bare = re.sub(r"\{\{[^{}]*\}\}|`[^`]*`|\]\([^)]*\)", "", "\n".join(found))
    typed = {word.strip(";,.") for word in re.findall(r"\S*\d\S*", bare)}
    assert typed == {"GPT-2's", "0.0", "0.001", "0.0025", "0.005", "0.01"}
