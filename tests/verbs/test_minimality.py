import json

import pytest

from circuitproof.errors import InputError
from circuitproof.importers.release import import_release
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.proof.verdict import Verdict
from circuitproof.tasks.alphabet import TOY
from circuitproof.verbs.minimality import find_minimum
from circuitproof_check.main import Outcome, check
from hand_models import QUOTE_EDGES, quote_model


@pytest.fixture
def model(tmp_path):
    """Return the directory of a hand-made model that closes quotes with two edges."""
    save_model(tmp_path / "model", StoredModel(quote_model(), TOY))
    return tmp_path / "model"


def test_the_minimum_is_found_proved_and_accepted_by_the_checker(model, tmp_path):
    """The head's chain suffices and a direct edge does not; the checker enumerates for itself."""
    found = find_minimum(model, "quotes", most=3, budget=1000, out=tmp_path / "bundle")
    assert found.verdict is Verdict.PROVED
    assert found.to_json()["minimum"] == [list(QUOTE_EDGES)]
    outcome, reason = check(tmp_path / "bundle", model)
    assert outcome is Outcome.VALID, reason
    claim = json.loads((tmp_path / "bundle" / "claim.json").read_bytes())
    assert claim["properties"][1] == {"kind": "minimum", "circuits": [list(QUOTE_EDGES)]}


def test_a_search_that_ends_early_proves_a_lower_bound_and_writes_nothing(model, tmp_path):
    """A guess is never called a minimum. Of one edge only the direct one reads its prompt."""
    found = find_minimum(model, "quotes", most=1, budget=1000, out=tmp_path / "bundle")
    assert found.verdict is Verdict.UNDECIDED
    content = found.to_json()
    assert content["verdict"] == "undecided"
    assert (content["lower_bound"], content["circuits_tried"], content["minimum"]) == (2, 1, [])
    assert (content["ended_by"], content["bundle"]) == ("most", None)
    assert not (tmp_path / "bundle").exists()


def test_a_place_that_is_taken_is_refused_before_the_work(model):
    """Nothing is overwritten."""
    with pytest.raises(InputError, match="already exists"):
        find_minimum(model, "quotes", most=1, budget=1, out=model)


@pytest.mark.parametrize(
    ("name", "count"), [("norm_free", 2), ("band_norm_matched", 1), ("program_healed", 2)]
)
def test_two_edges_suffice_for_quote_closing_in_the_public_models(reference, tmp_path, name, count):
    """The published circuits of four, two and five edges: only one is a minimum."""
    import_release(reference / name, tmp_path / name)
    found = find_minimum(tmp_path / name, "quotes", most=3, budget=1000, out=tmp_path / "bundle")
    assert found.verdict is Verdict.PROVED
    assert [len(circuit) for circuit in found.search.minimum] == [2] * count
    outcome, reason = check(tmp_path / "bundle", tmp_path / name)
    assert outcome is Outcome.VALID, reason
