"""A model beside logits that somebody recorded."""

import json
from fractions import Fraction

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from circuitproof.errors import ExitCode, InputError
from circuitproof.models.operators import Attention
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.nn.comparison import compare
from circuitproof.verbs.logits import find_logits
from hand_models import ADDER, build, freeze
from models import NORMS, random_model, tiny_architecture

TOKENS = [[0], [3, 1]]
ADDED = [[2, 3, 0, 0, 0], [1, 0, 0, 0, 0]]
"""The logits of the adder after its last token, by the table beside it."""


@pytest.fixture
def adder(tmp_path):
    """Return the directory of a model whose logits are worked out by hand."""
    save_model(tmp_path / "adder", StoredModel(build(ADDER), None))
    return tmp_path / "adder"


def recorded(folder, tokens, logits):
    """Write a file of JSON."""
    file = folder / "logits.json"
    file.write_text(json.dumps({"tokens": tokens, "logits": logits}))
    return file


def test_logits_that_are_equal_differ_by_nothing(adder, tmp_path):
    """The last position alone, of prompts of different lengths; and every position."""
    found = compare(adder, recorded(tmp_path, TOKENS, ADDED), Fraction(0))
    assert (found.positions, found.difference, found.agreeing) == (2, 0, 2)
    assert (found.is_exact, found.exit_code) == (True, ExitCode.GOOD)
    rows = [[[2, 3, 0, 0, 0]], [[4, 3, 0, 0, 0], [1, 0, 0, 0, 0]]]
    found = compare(adder, recorded(tmp_path, TOKENS, rows))
    assert (found.positions, found.difference, found.agreeing) == (3, 0, 3)


def test_the_largest_difference_is_told_with_its_place_and_its_bound(adder, tmp_path):
    """Just at the bound is within it, and only then is the exit code good."""
    file = recorded(tmp_path, TOKENS, [ADDED[0], [1, 0, 1.5, 0, -0.25]])
    found = compare(adder, file, Fraction(3, 2))
    assert (found.difference, found.prompt, found.position, found.token) == (Fraction(3, 2), 1, 1, 2)
    assert (found.agreeing, found.largest, found.exit_code) == (1, 3, ExitCode.GOOD)
    beyond = compare(adder, file, Fraction(149, 100))
    assert beyond.exit_code is ExitCode.REFUTED
    assert list(beyond.words())[1:] == [
        "top-1 agrees at 1 of 2 positions",
        "the difference is beyond the bound of 1.49",
    ]


def test_torch_in_fp32_is_within_rounding_of_exact_logits_and_json_reads_doubles(tmp_path):
    """A forward of one's own is compared with the exact value, not with another rounding."""
    model = random_model(tiny_architecture(norm=NORMS[2]))
    save_model(tmp_path / "model", StoredModel(model, None))
    tokens = torch.tensor([[1, 5, 2, 0], [6, 6, 3, 4]])
    with torch.no_grad():
        logits = model(tokens)
    save_file({"tokens": tokens.numpy(), "logits": logits.numpy()}, tmp_path / "logits.safetensors")
    found = compare(tmp_path / "model", tmp_path / "logits.safetensors", Fraction(1, 10000))
    assert (found.is_exact, found.positions, found.exit_code) == (True, 8, ExitCode.GOOD)
    assert found.difference > 0
    exact = find_logits(freeze(model), tokens.tolist())
    doubles = compare(tmp_path / "model", recorded(tmp_path, tokens.tolist(), exact.floats()))
    assert doubles.difference <= Fraction(1, 2**50)


def test_a_softmax_model_is_compared_in_fp64(tmp_path):
    """There is no exact value to compare with, and ours must not add rounding of its own."""
    model = random_model(tiny_architecture(attention=Attention.SOFTMAX)).double()
    tokens = torch.tensor([[1, 5, 2]])
    with torch.no_grad():
        logits = model(tokens)[:, -1]
    save_model(tmp_path / "model", StoredModel(model.float(), None))
    save_file({"tokens": tokens.numpy(), "logits": logits.numpy()}, tmp_path / "last.safetensors")
    found = compare(tmp_path / "model", tmp_path / "last.safetensors")
    assert (found.is_exact, found.positions) == (False, 1)
    assert found.difference < Fraction(1, 2**40)


@pytest.mark.parametrize(
    ("tokens", "logits", "says"),
    [
        ([], [], "has 0 prompts and logits of 0"),
        ([[0]], [], "has 1 prompts and logits of 0"),
        ([[9]], [[0] * 5], "'9' is no token of the model"),
        ([[0, 0, 0, 0]], [[0] * 5], "the prompt has 4 tokens, want 1 to 3"),
        ([[0]], [[0] * 4], "1 rows of 4 logits, want a row of 5"),
        ([[0]], [[[0] * 5, [0] * 5]], "prompt 0 has 1 tokens and 2 rows of 5 logits"),
        ([[0]], [["x"] * 5], "holds 'x', want finite numbers"),
        ([["a"]], [[0] * 5], "want a whole number"),
    ],
    ids=str,
)
def test_a_file_that_does_not_fit_the_model_is_refused(adder, tmp_path, tokens, logits, says):
    """Nothing is compared that is not recorded."""
    with pytest.raises(InputError, match=says):
        compare(adder, recorded(tmp_path, tokens, logits))


@pytest.mark.parametrize(
    ("tensors", "says"),
    [
        ({"tokens": np.zeros((1, 1), np.int64)}, "lacks logits"),
        ({"tokens": np.zeros((1, 1)), "logits": np.zeros((1, 5))}, "tokens are float64"),
        ({"tokens": np.zeros(1, np.int64), "logits": np.zeros((1, 5))}, r"of shape \(1,\)"),
        ({"tokens": np.zeros((1, 1), np.int64), "logits": np.zeros((1, 5), np.int64)}, "logits are int64"),
        ({"tokens": np.zeros((1, 1), np.int64), "logits": np.full((1, 5), np.nan)}, "want finite floats"),
        (None, "no JSON file and no usable safetensors file"),
    ],
    ids=["no logits", "float tokens", "one prompt", "integer logits", "NaN", "text"],
)
def test_tensors_that_are_no_record_are_refused(adder, tmp_path, tensors, says):
    """With what was found and what is wanted."""
    file = tmp_path / "logits.safetensors"
    if tensors is None:
        file.write_text("logits")
    else:
        save_file(tensors, file)
    with pytest.raises(InputError, match=says):
        compare(adder, file)
