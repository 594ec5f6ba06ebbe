"""Files of programs that Tracr compiled."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from safetensors.numpy import save_file

from circuitproof.errors import DeclarationError, InputError
from circuitproof.importers.tracr_format import Compiled, load_compiled
from places import COMPILED

FILES = sorted(COMPILED.glob("*.safetensors"))
LENGTH = COMPILED / "length.safetensors"
UP, DOWN = "transformer/layer_0/mlp/linear_1/w", "transformer/layer_0/mlp/linear_2/w"


def softmax_outputs(compiled: Compiled) -> np.ndarray:
    """Return what the parameters give at the last position of each prompt, by Tracr's names and softmax."""

    def linear(name, x):
        return x @ at[f"{name}/w"] + at[f"{name}/b"]

    at = {name: tensor.astype(np.float64) for name, tensor in compiled.tensors.items()}
    heads, rows = compiled.interface.heads, []
    for prompt in compiled.interface.prompts:
        x = at["token_embed/embeddings"][list(prompt)] + at["pos_embed/embeddings"][: len(prompt)]
        for layer in range(sum(name.endswith("linear_1/w") for name in at)):
            place = f"transformer/layer_{layer}"
            q, k, v = (
                np.stack(np.split(linear(f"{place}/attn/{role}", x), heads, axis=1))
                for role in ("query", "key", "value")
            )
            scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
            scores[:, ~np.tri(len(prompt), dtype=bool)] = -np.inf
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            mixed = weights / weights.sum(-1, keepdims=True) @ v
            x = x + linear(f"{place}/attn/linear", np.concatenate(list(mixed), axis=1))
            x = x + linear(f"{place}/mlp/linear_2", np.maximum(linear(f"{place}/mlp/linear_1", x), 0))
        rows.append(x[-1] @ at["unembed"])
    return np.array(rows)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_is_recorded_is_what_the_parameters_compute_with_softmax(file):
    """So the difference that an import tells is that of the replacement, and of FP32."""
    compiled = load_compiled(file)
    assert np.abs(softmax_outputs(compiled) - compiled.tensors["recorded"]).max() < 1e-4


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_compiled_program_is_written_as_it_was_read(file):
    """The file that lies beside an import is the one that was imported."""
    assert load_compiled(file).to_bytes() == file.read_bytes()


def test_a_number_is_read_as_the_nearest_value():
    """The largest of 2vx - v² belongs to the value v that is nearest to x."""
    compiled = load_compiled(COMPILED / "pair-balance.safetensors")
    values = [float(Fraction(one)) for one in compiled.interface.values]
    weights, biases = compiled.readout()
    for x in np.linspace(-1.2, 1.2, 100):
        nearest = np.abs(x - np.array(values)).argmin()
        assert (weights[:, 0] * x + biases).argmax() == nearest


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({DOWN: None}, "linear_2/w is missing"),
        ({UP: None}, "is unknown"),
        ({UP: np.zeros((3, 3), np.float32)}, "the others want"),
        ({"token_embed/embeddings": np.zeros((2, 16), np.float32)}, "the others want"),
        ({"pos_embed/embeddings": np.zeros(3, np.float32)}, "want 2 sizes"),
        ({"transformer/layer_0/attn/query/b": np.zeros((), np.float32)}, "want 1 sizes"),
        ({"unembed": np.zeros((16, 1), np.float32)}, "its readout wants 5"),
        ({"more": np.zeros(1, np.float32)}, "more is unknown"),
        ({UP: np.full((16, 10), np.inf, np.float32)}, "a NaN or an infinite number"),
    ],
)
def test_tensors_that_are_not_those_of_a_compiled_program_are_refused(changes, sentence):
    """Each by its name, before anything is computed."""
    good = load_compiled(LENGTH)
    tensors = {name: one for name, one in {**good.tensors, **changes}.items() if one is not None}
    with pytest.raises(InputError, match=sentence):
        Compiled(good.interface, tensors)


def test_numbers_of_another_precision_are_refused(tmp_path):
    """A proof is about FP32 weights, and nothing is rounded on the way."""
    save_file({"unembed": np.zeros((2, 2))}, tmp_path / "wide.safetensors")
    with pytest.raises(InputError, match="unembed is F64, want F32"):
        load_compiled(tmp_path / "wide.safetensors")


def test_heads_that_do_not_divide_the_queries_are_refused():
    """Five columns are not those of two heads."""
    good = load_compiled(LENGTH)
    with pytest.raises(InputError, match="2 heads do not divide"):
        Compiled(replace(good.interface, heads=2), good.tensors)


def test_an_answer_that_is_no_value_is_refused():
    """Nothing else could ever be decided."""
    good = load_compiled(LENGTH)
    answers = ("seven", *good.interface.answers[1:])
    with pytest.raises(DeclarationError, match="seven"):
        _ = Compiled(replace(good.interface, answers=answers), good.tensors).task
