"""Pages of runs: what stands in their folders, wherever it stands, and hostile names as text."""

import json

import pytest

from circuitproof.errors import InputError
from circuitproof.view.page import run_page
from circuitproof.view.parts.of_runs import RUN_PARTS
from circuitproof.view.reporting import report_on
from circuitproof.view.run import tell_run
from circuitproof_check.main import Beside, Outcome
from page_reader import read
from run_folders import FILES, write_run


@pytest.fixture
def folder(tmp_path):
    """A run folder with a file of every kind, and a bundle."""
    return write_run(tmp_path / "run")


def test_a_run_has_every_part_that_its_files_are_for(folder):
    """Files are found by what they are, so that new kinds of runs need no new page."""
    run = tell_run(folder)
    assert all(part(run) is not None for part in RUN_PARTS)
    reader = read(run_page(run))
    said = " ".join(reader.text)
    assert "15/16" in said
    assert "proof/bundle" in said
    assert "img" not in {tag for tag, _ in reader.tags}


def test_an_empty_run_has_a_heading_and_nothing_else(tmp_path):
    """A part without data is not there."""
    (tmp_path / "run.json").write_text(json.dumps(FILES["run.json"]))
    assert [part for part in RUN_PARTS if part(tell_run(tmp_path)) is not None] == [RUN_PARTS[0]]


def test_a_run_with_a_broken_bundle_is_invalid(folder):
    """A run is no better than its proofs."""
    assert report_on(folder, Beside()).exit_code == Outcome.VALID
    (folder / "proof" / "bundle" / "claim.json").write_text("{}")
    assert report_on(folder, Beside()).exit_code == Outcome.INVALID


def test_a_file_that_is_not_what_it_should_be_is_one_sentence(folder):
    """The sentence names the file and the key."""
    (folder / "A" / "quotes" / "gate.result.json").write_text(json.dumps({"points": 3}))
    with pytest.raises(InputError, match=r"gate.result.json.*points"):
        tell_run(folder)
