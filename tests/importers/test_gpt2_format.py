"""GPT-2's configuration and tensors in Hugging Face's layout."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from circuitproof.circuits.graph import Head
from circuitproof.errors import InputError
from circuitproof.files.canonical import readable_json
from circuitproof.files.reading import Fields, parse_json
from circuitproof.importers.gpt2_format import place_of, read_config, their_shapes, to_config
from circuitproof.models.architecture import inverse_root, tensor_shapes
from circuitproof.models.declaration import Declaration
from circuitproof.models.operators import Attention, Gelu, GeluForm, LayerNorm, LeakyRelu, NoNorm, Relu
from gpt2_files import CONFIG, gpt2_tensors
from models import PROGRAMS


def read(**changes):
    """Return the architecture of the small configuration with some keys changed, read as from a file."""
    return read_config(Fields(parse_json(readable_json({**CONFIG, **changes}), "config.json"), "config.json"))


def test_the_operators_stay_what_they_are():
    """LayerNorm with an exact epsilon, softmax, and the hyperbolic-tangent GELU; nothing is folded."""
    sizes = read()
    assert sizes.norm == LayerNorm(Fraction(1, 100000))
    assert sizes.attention is Attention.SOFTMAX
    assert sizes.activation == Gelu(GeluForm.TANH)
    assert (sizes.head_width, sizes.mlp_width, sizes.attention_scale) == (3, 24, inverse_root(3))
    assert (sizes.tied, sizes.biases, sizes.logit_bias) == (True, True, False)


@pytest.mark.parametrize(
    ("changes", "key", "value"),
    [
        ({"activation_function": "gelu"}, "activation", Gelu(GeluForm.EXACT)),
        ({"activation_function": "gelu_pytorch_tanh"}, "activation", Gelu(GeluForm.TANH)),
        ({"activation_function": "relu"}, "activation", Relu()),
        ({"n_inner": 5}, "mlp_width", 5),
        ({"scale_attn_weights": False}, "attention_scale", 1),
        ({"tie_word_embeddings": False}, "tied", False),
    ],
)
def test_what_a_configuration_says_is_declared(changes, key, value):
    """Each key that changes what the model computes."""
    assert getattr(read(**changes), key) == value


def test_options_that_change_no_logit_are_left_alone():
    """Those of configurations that are about: training, sampling, labels, how attention is computed."""
    others = {
        "_num_labels": 1,
        "id2label": {"0": "LABEL_0"},
        "label2id": {"LABEL_0": 0},
        "task_specific_params": {"text-generation": {"do_sample": True, "max_length": 50}},
        "summary_first_dropout": 0.1,
        "summary_use_proj": True,
        "output_past": True,
        "predict_special_tokens": True,
        "reorder_and_upcast_attn": True,
        "bos_token_id": 50256,
        "attention_probs_dropout_prob": 0.1,
        "gradient_checkpointing": False,
        "pruned_heads": {},
        "line_by_line": False,
        "_name_or_path": "gpt2",
        "torch_dtype": "float16",
        "max_length": 50,
        "use_cache": True,
    }
    assert read(**others) == read()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"pruned_heads": {"0": [1]}}, "pruned_heads is set, an option that GPT-2 here does not have"),
        ({"attention_window": 256}, "attention_window is set, an option that GPT-2 here does not have"),
        ({"activation_function": "silu"}, "activation_function is 'silu'"),
        ({"n_head": 4}, "which 4 heads do not divide"),
        ({"n_layer": 0}, "n_layer is 0"),
        ({"n_layer": 10**9}, "architecture.layers is 1000000000"),
        ({"n_embd": "6"}, "n_embd is the string '6'"),
        ({"layer_norm_epsilon": 0}, "epsilon is 0"),
        ({"scale_attn_by_inverse_layer_idx": True}, "scale_attn_by_inverse_layer_idx is true"),
        ({"add_cross_attention": True}, "add_cross_attention is true"),
    ],
)
def test_another_model_is_refused_with_the_key_that_says_so(changes, sentence):
    """A model that computes something else must not pass for a GPT-2."""
    with pytest.raises(InputError, match=f"config.json.*{sentence}"):
        read(**changes)


@pytest.mark.parametrize("tied", [True, False])
def test_every_number_of_theirs_has_one_place_in_ours(tied):
    """Cutting all of ours out of theirs and putting them back writes each of their numbers just once."""
    sizes = read(tie_word_embeddings=tied)
    theirs = gpt2_tensors({**CONFIG, "tie_word_embeddings": tied})
    assert {name: tensor.shape for name, tensor in theirs.items()} == dict(their_shapes(sizes))
    written = {name: np.zeros(tensor.shape, np.int64) for name, tensor in theirs.items()}
    back = {name: np.full_like(tensor, np.nan) for name, tensor in theirs.items()}
    for ours, shape in tensor_shapes(sizes).items():
        place = place_of(ours, sizes)
        cut = place.cut(theirs[place.theirs])
        assert cut.shape == shape
        place.put(back[place.theirs], cut)
        place.put(written[place.theirs], place.cut(written[place.theirs]) + 1)
    assert all(np.array_equal(back[name], theirs[name]) for name in theirs)
    assert all((counts == 1).all() for counts in written.values())


def test_a_configuration_comes_back():
    """What is written is read as the same architecture."""
    for changes in ({}, {"n_inner": 5, "activation_function": "relu"}, {"scale_attn_weights": False}):
        sizes = read(**changes)
        content = readable_json(to_config(Declaration(sizes, {}, None)))
        assert read_config(Fields(parse_json(content, "again"), "again")) == sizes


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"norm": NoNorm()}, "norm is 'none'"),
        ({"norm": LayerNorm(Fraction(1, 3))}, "epsilon"),
        ({"attention": Attention.SPARSEMAX}, "attention is sparsemax"),
        ({"activation": LeakyRelu(Fraction(1, 100))}, "activation is 'leaky relu'"),
        ({"head_width": 2}, "2 heads of width 2 do not make up the width 6"),
        ({"attention_scale": Fraction(1, 2)}, "scaled by 1/2"),
        ({"biases": False}, "no biases"),
        ({"logit_bias": True}, "logits have a bias"),
        ({"outputs": 3, "tied": False}, "it has 3 outputs, want one for each token"),
    ],
)
def test_a_model_that_is_no_gpt2_is_not_written_as_one(changes, sentence):
    """A reader of the directory would compute something else."""
    with pytest.raises(InputError, match=sentence):
        to_config(Declaration(replace(read(), **changes), {}, None))


def test_a_program_cannot_be_written():
    """GPT-2 has queries and keys only."""
    with pytest.raises(InputError, match="programs"):
        to_config(Declaration(read(), {Head(0, 0): PROGRAMS[Head(0, 0)]}, None))
