import pytest

from circuitproof.circuits.circuit import whole
from circuitproof.circuits.graph import Graph
from circuitproof.forward.frozen import open_model
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.fold import fold
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.trim import trim
from circuitproof.proof.verdict import Verdict
from circuitproof.tasks.alphabet import TOY
from circuitproof.tasks.quotes import toy_quotes
from hand_models import QUOTE_EDGES, circuit_of, quote_model


@pytest.fixture
def frozen(tmp_path):
    """Return a model that closes quotes along one path."""
    save_model(tmp_path / "model", StoredModel(quote_model(), TOY))
    return open_model(tmp_path / "model")


def test_all_edges_are_trimmed_to_the_one_path_that_is_needed(frozen):
    """The hand-made model has one mechanism; the rest carries nothing."""
    assert trim(frozen, toy_quotes(), whole(frozen.graph)) == circuit_of(QUOTE_EDGES)


def test_decisions_stay_and_every_edge_left_is_necessary(frozen):
    """What trimming promises, checked by the battery."""
    task, before = toy_quotes(), whole(frozen.graph)
    after = trim(frozen, task, before)
    folded = fold(frozen, task.candidates, [before, after], task.domain.prompts)
    assert [f.decision for f in folded.of(before)] == [f.decision for f in folded.of(after)]
    (answer,) = prove(Claim(frozen, after, task, (Necessity(),))).answers
    assert answer.verdict is Verdict.PROVED


def test_a_circuit_in_which_every_edge_is_needed_stays_as_it_is(frozen):
    """And trimming twice is trimming once."""
    needed = circuit_of(QUOTE_EDGES)
    assert needed.graph == Graph(frozen.architecture.layers, frozen.architecture.heads)
    assert trim(frozen, toy_quotes(), needed) == needed
