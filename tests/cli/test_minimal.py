import json
from dataclasses import replace

import pytest

from circuitproof.circuits.ablation import Mean
from circuitproof.circuits.graph import Head
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.programs.text import parse
from circuitproof.reports import checking_work
from circuitproof.reports.results import marked_edges
from circuitproof.tasks.alphabet import TOY
from circuitproof_check.main import Outcome, check
from hand_models import QUOTE_EDGES, circuit_of, quote_model


@pytest.fixture
def model(tmp_path):
    """Return the directory of a hand-made model that closes quotes with two edges."""
    save_model(tmp_path / "model", StoredModel(quote_model(), TOY))
    return tmp_path / "model"


def test_the_minimum_is_printed_edge_by_edge(run, model):
    """Exit code 0: proved."""
    code, out, _ = run("minimal", "--model", model, "--task", "quotes")
    assert code == 0
    assert out.startswith("proved: 2 edges at head granularity are the fewest")
    assert ", ".join(QUOTE_EDGES) in out


@pytest.mark.parametrize(
    ("bound", "sentence"),
    [
        (("--most", 1), "all of fewer than 2 edges are refuted; --most ended the search: give a larger one"),
        (
            ("--budget", 2),
            "of 2 edges there are more than --budget allows: give a larger one, or",
        ),
        (("--deadline", "0.001"), "the work was ended before all of 1 were tried: give more time"),
    ],
)
def test_a_search_that_ends_early_says_which_bound_ended_it(run, model, tmp_path, bound, sentence):
    """Exit code 4, with the lower bound that is proved, how to go on, and that nothing is written."""
    asked = ("minimal", "--model", model, "--task", "quotes", *bound)
    code, out, _ = run(*asked, "--out", tmp_path / "bundle")
    assert code == 4
    assert sentence in out
    assert f"nothing is written to {tmp_path / 'bundle'}: no circuit was found" in out
    assert not (tmp_path / "bundle").exists()


def test_what_is_written_is_told(run, model, tmp_path):
    """And what it proves."""
    code, out, _ = run("minimal", "--model", model, "--task", "quotes", "--out", tmp_path / "bundle")
    assert code == 0
    assert f"{tmp_path / 'bundle'} holds the bundle: equivalence and minimum" in out


def test_a_bundle_that_is_much_work_to_check_comes_with_the_command(run, model, tmp_path, monkeypatch):
    """As verify tells it."""
    monkeypatch.setattr(checking_work, "bound_needed", lambda *_: "circuitproof-check BUNDLE --operations 7")
    _, out, err = run("minimal", "--model", model, "--task", "quotes", "--out", tmp_path / "bundle")
    assert "unless told: circuitproof-check BUNDLE --operations 7" in " ".join((out + err).split())


def circuit_file(folder, *edges):
    """Return the file of a circuit of the hand-made model."""
    circuit = {"layers": 1, "heads": 1, "ablation": "zero", "edges": list(edges)}
    (folder / "circuit.json").write_text(json.dumps(circuit))
    return folder / "circuit.json"


def test_a_circuit_is_searched_among_its_own_edges(run, model, tmp_path):
    """What is found is part of it, and the bundle claims no more than was looked at."""
    file = circuit_file(tmp_path, *QUOTE_EDGES, "embed -> logits")
    asked = ("minimal", "--model", model, "--task", "quotes", "--circuit", file)
    code, out, _ = run(*asked, "--out", tmp_path / "bundle")
    assert code == 0, out
    assert out.startswith("searched only among the 3 edges of the circuit that is given\nproved: 2 edges")
    assert f"{tmp_path / 'bundle'} holds the bundle: equivalence and subset minimality" in out
    assert check(tmp_path / "bundle", model)[0] is Outcome.VALID


def test_a_circuit_no_part_of_which_will_do_is_refuted(run, model, tmp_path):
    """Every part of it was tried, so this is no lack of budget."""
    file = circuit_file(tmp_path, "embed -> logits")
    code, out, _ = run("minimal", "--model", model, "--task", "quotes", "--circuit", file)
    assert code == 1
    tried = "refuted: 1 circuits were tried at head granularity, which are all that there are"
    assert f"{tried}: none decides the task" in out


def test_edges_that_carry_a_constant_are_marked():
    """A node that reads nothing puts out its biases: who reads the circuit must not take it for a reader."""
    kept = circuit_of(["embed -> logits", "head 0.0 -> logits"])
    assert list(marked_edges(kept, {})) == [
        "embed -> logits",
        "head 0.0 -> logits (a constant: its source reads nothing)",
    ]
    sometimes = parse("default 0\nadd 1 when key_token == 3\notherwise nowhere")
    assert list(marked_edges(kept, {Head(0, 0): sometimes})) == ["embed -> logits", "head 0.0 -> logits"]
    meant = replace(
        kept, ablation=Mean(((0,), (1,)))
    )  # what stands at the head's cut inputs differs by position
    assert list(marked_edges(meant, {})) == ["embed -> logits", "head 0.0 -> logits"]


def test_json_holds_the_same(run, model):
    """For programs."""
    code, out, _ = run("minimal", "--model", model, "--task", "quotes", "--json")
    assert code == 0
    assert json.loads(out)["minimum"] == [list(QUOTE_EDGES)]


def test_the_minimum_is_not_a_property_to_be_claimed_by_hand(run, model):
    """It is found by search; the sentence says with what."""
    code, *_ = run("verify", "--model", model, "--task", "quotes", "--property", "minimum")
    assert code == 2
