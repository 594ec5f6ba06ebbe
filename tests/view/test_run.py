"""Pages of runs: what stands in their folders, wherever it stands, and hostile names as text."""

import json
import shutil

import pytest

import viewed
from circuitproof.errors import InputError
from circuitproof.view.page import run_page
from circuitproof.view.parts.of_runs import RUN_PARTS
from circuitproof.view.reporting import report_on
from circuitproof.view.run import tell_run
from circuitproof_check.main import Beside, Outcome
from page_reader import EVIL, read

GATE = {"kl": 0.1, "agreed": 15, "prompts": 16, "worst_margin": -0.25}
CIRCUIT = {"layers": 1, "heads": 1, "ablation": "zero", "edges": ["embed -> logits"]}
POINT = {"origin": EVIL, "circuit": CIRCUIT, "development": GATE, "gate": GATE}
AUDIT = {"prompts": 8, "model": 8, "circuit": 7, "without_heads": 1, "without_circuit": 2}
STATE = {"name": EVIL, "audit": AUDIT, "radius": 0.5, "loss": None, "seconds": 1.5, "passes": True}
LESION = {"where": "model", "silenced": ["head 0.0"], "kl": 1.0, "unchanged": 3, "right": 3, "prompts": 8}
FILES = {
    "run.json": {"recipe": EVIL, "recipe_digest": "0" * 64},
    "A/quotes/gate.result.json": {
        "generation": EVIL,
        "task": EVIL,
        "points": [POINT],
        "nested": [POINT],
        "selected": 0,
        "ledger_head": "0" * 64,
    },
    "quotes/exact.json": STATE,
    "seed-0/healed/migration.json": {
        "round": "healed",
        "behaviours": [{"task": EVIL, "fate": "held", "lesions": [{**LESION, "worst_margin": -1.0}]}],
    },
    "attenuated/removal.json": {"norms": [{"norm": EVIL, "first": 1, "last": 2, "deviation": 0.1}]},
}


@pytest.fixture
def folder(tmp_path):
    """A run folder with a file of every kind, and a bundle."""
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(json.dumps(content))
    shutil.copytree(viewed.bundle_of(viewed.seeds()[0]), tmp_path / "proof" / "bundle")
    return tmp_path


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
