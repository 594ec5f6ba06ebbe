import json

import pytest

from circuitproof.declare.tasks.alphabet import TOY
from circuitproof.lab.model.checkpoint import StoredModel, save_model
from hand_models import QUOTE_EDGES, quote_model


@pytest.fixture
def model(tmp_path):
    """Return the directory of a hand-made model that closes quotes with two edges."""
    save_model(tmp_path / "model", StoredModel(quote_model(), TOY))
    return tmp_path / "model"


def test_the_minimum_is_printed_edge_by_edge(run, model):
    """Exit code 0: proved."""
    code, out, _ = run("minimal", "--model", model, "--task", "quotes")
    assert code == 0
    assert out.startswith("proved: 2 edges are the fewest")
    assert ", ".join(QUOTE_EDGES) in out


def test_a_search_that_ends_early_is_undecided(run, model):
    """Exit code 4, with the lower bound that is proved."""
    code, out, _ = run("minimal", "--model", model, "--task", "quotes", "--most", 1)
    assert code == 4
    assert "1 circuits were tried, all of fewer than 2 edges are refuted" in out


def test_json_holds_the_same(run, model):
    """For programs."""
    code, out, _ = run("minimal", "--model", model, "--task", "quotes", "--json")
    assert code == 0
    assert json.loads(out)["minimum"] == [list(QUOTE_EDGES)]


def test_the_minimum_is_not_a_property_to_be_claimed_by_hand(run, model):
    """It is found by search; the sentence says with what."""
    code, *_ = run("verify", "--model", model, "--task", "quotes", "--property", "minimum")
    assert code == 3
