"""What the tests of the Python interface share: a small model on disk that closes quotes."""

import pytest

import circuitproof as cp
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.tasks.alphabet import TOY
from hand_models import QUOTE_EDGES, quote_model


@pytest.fixture
def model(tmp_path):
    """Return a model whose program head copies the only quotation mark."""
    save_model(tmp_path / "model", StoredModel(quote_model(), TOY))
    return cp.load_model(tmp_path / "model")


@pytest.fixture
def answers(model, tmp_path):
    """Return the answers to a claim about it, written to a bundle."""
    circuit = cp.circuit(model, QUOTE_EDGES)
    return cp.verify(model, "quotes", circuit, epsilon="1/100", out=tmp_path / "bundle")


@pytest.fixture(autouse=True)
def nothing_is_printed(capfd):
    """Whatever is called, the terminal stays empty."""
    yield
    assert capfd.readouterr() == ("", "")
