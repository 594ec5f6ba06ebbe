import json
import signal
import sys
from dataclasses import replace

import pytest

from circuitproof.bundle.files import names_in
from circuitproof.bundle.opening import open_bundle
from circuitproof.cli.main import main
from circuitproof.models.operators import Attention
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.reports.regions import region_trees
from circuitproof_check.main import Outcome, check
from hand_models import PLAIN, build

SIZES = replace(PLAIN, attention=Attention.SOFTMAX, vocabulary=4, context=6, width=4, head_width=4)
UNITS = [[float(row == token) for token in range(4)] for row in range(4)]
TASK = """
name = "largest"
vocabulary = 4
candidates = "all"
answer = "maximum"
pattern = "any{1..6}"
"""
SIZE = sum(4**length for length in range(1, 7))


@pytest.fixture
def run(monkeypatch, capsys):
    """Return what runs `circuitproof verify` in this process, just as the entry point does."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # the test runner keeps its own Ctrl-C
    monkeypatch.setenv("COLUMNS", "300")

    def run_command(*arguments):
        monkeypatch.setattr(sys, "argv", ["circuitproof", "verify", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *capsys.readouterr()

    return run_command


def largest(tmp_path, sharpness):
    """Write a head that looks at larger tokens and copies what it sees, and return what names it."""
    weights = {
        "embed.token": UNITS,
        "head.0.0.query.weight": [[1.0] * 4, *[[0.0] * 4] * 3],
        "head.0.0.key.weight": [[sharpness * token for token in range(4)], *[[0.0] * 4] * 3],
        "head.0.0.value.weight": UNITS,
        "head.0.0.output.weight": UNITS,
        "logits.weight": UNITS,
    }
    save_model(tmp_path / "model", StoredModel(build(weights, SIZES), None))
    edges = ["embed -> head 0.0", "head 0.0 -> logits"]
    circuit = {"layers": 1, "heads": 1, "ablation": "zero", "edges": edges}
    (tmp_path / "circuit.json").write_text(json.dumps(circuit))
    (tmp_path / "task.toml").write_text(TASK)
    named = ["--model", tmp_path / "model", "--circuit", tmp_path / "circuit.json"]
    return [*named, "--task", tmp_path / "task.toml", "--out", tmp_path / "bundle"]


def test_a_sharp_head_is_proved_on_every_sequence(run, tmp_path):
    """e^4 for each step up outweighs five smaller tokens, whatever they are."""
    asked = ["--property", "equivalence", "--property", "invariance"]
    code, out, err = run(*largest(tmp_path, 4.0), *asked)
    assert (code, err) == (0, "")
    assert f"{SIZE} prompts: any{{1..6}}" in out
    assert "logits are enclosed at 64 bits; of the prompts that are shown, " in out
    assert check(tmp_path / "bundle")[0] is Outcome.VALID


def test_a_blunt_head_is_refuted_by_a_sequence_and_its_errors_are_counted(run, tmp_path):
    """With e for each step up, several smaller tokens outweigh a larger one."""
    arguments = largest(tmp_path, 1.0)
    assert run(*arguments)[0] == 1
    assert check(tmp_path / "bundle")[0] is Outcome.REFUTED
    arguments[-1] = tmp_path / "counted"
    code, out, _ = run(*arguments, "--property", "accuracy")
    assert code == 0
    assert "errors" in out or "right" in out
    report = check(tmp_path / "counted")
    assert report[0] is Outcome.VALID, report


def test_the_page_tells_the_regions_of_a_proof(run, tmp_path):
    """Each label has its prompts, and each leaf says what is decided there."""
    run(*largest(tmp_path, 4.0), "--property", "equivalence")
    files = {name: (tmp_path / "bundle" / name).read_bytes() for name in names_in(tmp_path / "bundle")}
    (tree,) = region_trees(open_bundle(tmp_path / "bundle", files))
    assert tree.regions[0].prompts == SIZE
    assert sum(region.prompts for region in tree.regions if region.depth == 1) == SIZE
    assert {region.shows[:8] for region in tree.regions if region.shows} == {"decides "}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--epsilon", "1/100"), "robustness is not known over patterns in enclosed arithmetic; want"),
        (("--limits",), "--limits looks at exact margins, and softmax has enclosed ones; leave it out"),
        (("--property", "loss"), "loss is not known over patterns in enclosed arithmetic; want"),
        (("--pattern", "any{1..7}"), "the pattern has prompts of up to 7 tokens"),
        (("--bound", "accuracy >= 9999"), "at least 9999 prompts are said to be right, the task has"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(run, tmp_path, arguments, said):
    """It says what to ask instead."""
    code, _, err = run(*largest(tmp_path, 4.0), *arguments)
    assert code in {2, 3}
    assert said in err


def test_too_many_exponentials_are_told_before_they_are_computed(run, tmp_path):
    """The sentence names the option that allows them."""
    code, out, _ = run(*largest(tmp_path, 4.0), "--exps", "10", "--listed", "5", "--property", "equivalence")
    assert code == 4
    assert "exponentials would have to be computed, more than 10; allow more with --exps" in " ".join(
        out.split()
    )
