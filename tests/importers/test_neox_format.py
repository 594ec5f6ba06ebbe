"""GPT-NeoX in Hugging Face's layout, against a forward that reads the stored names and shapes itself."""

import re

import numpy as np
import pytest
import torch

from circuitproof.errors import InputError
from circuitproof.importers.hugging_face import import_hf
from circuitproof.nn.checkpoint import load_model
from floats import agree
from neox_files import CONFIG, neox_logits, neox_tensors, write_neox

TOKENS = [3, 1, 4, 1, 5, 9, 2]
NEWER = {"rope_parameters": {"rope_type": "default", "rope_theta": 100.0, "partial_rotary_factor": 0.7}}
OLDER = {key: CONFIG[key] for key in CONFIG if not key.startswith("rotary")}


@pytest.mark.parametrize(
    ("config", "rotary"),
    [
        (CONFIG, 4),
        ({**CONFIG, "use_parallel_residual": False, "hidden_act": "gelu_new"}, 4),
        ({**CONFIG, "rotary_pct": 1.0, "hidden_act": "relu"}, 6),
        ({**OLDER, **NEWER, "attention_bias": False}, 4),
        ({**OLDER, "rope_theta": 100, "partial_rotary_factor": 0.4}, 2),
    ],
)
def test_an_imported_model_computes_what_neox_computes(tmp_path, config, rotary):
    """Rotary positions in every way to say them, and both kinds of residual."""
    tensors = neox_tensors(config)
    if not config.get("attention_bias", True):
        tensors = {n: t for n, t in tensors.items() if not (".attention." in n and n.endswith("bias"))}
    found = import_hf(write_neox(tmp_path / "source", config, tensors), tmp_path / "model")
    model = load_model(tmp_path / "model").model.double()
    assert (model.architecture.rotary, model.architecture.parallel) == (
        rotary,
        config["use_parallel_residual"],
    )
    wanted = neox_logits(tensors, {**CONFIG, **config}, TOKENS, rotary)
    with torch.no_grad():
        assert agree(model(torch.tensor([TOKENS]))[0], torch.from_numpy(wanted))
    assert found.notes[0] == "the tables of rotary positions are computed in FP64 and rounded to FP32"


def test_what_older_versions_stored_is_left_out_and_halves_are_widened(tmp_path):
    """Masks and frequencies; numbers of FP16 are numbers of FP32."""
    halves = {name: tensor.astype(np.float16) for name, tensor in neox_tensors().items()}
    extra = {
        "gpt_neox.layers.0.attention.bias": np.tril(np.ones((1, 1, 7, 7), bool)),
        "gpt_neox.layers.0.attention.masked_bias": np.array(-1e9, np.float32),
        "gpt_neox.layers.1.attention.rotary_emb.inv_freq": np.ones(2, np.float32),
    }
    found = import_hf(write_neox(tmp_path / "source", CONFIG, {**halves, **extra}), tmp_path / "model")
    assert found.notes[-1] == "F16 numbers are stored as the FP32 numbers that they are"
    whole = {name: tensor.astype(np.float32) for name, tensor in halves.items()}
    import_hf(write_neox(tmp_path / "whole", CONFIG, whole), tmp_path / "same")
    weights = [(tmp_path / name / "weights.safetensors").read_bytes() for name in ("model", "same")]
    assert weights[0] == weights[1]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"model_type": "llama"},
            "model_type is 'llama', want gpt2 or gpt_neox: RMSNorm, gated MLPs and grouped",
        ),
        ({"hidden_act": "silu"}, "hidden_act is 'silu', want one of"),
        ({"num_attention_heads": 5}, "hidden_size is 12, which 5 heads do not divide"),
        (
            {"rotary_pct": 0.5},
            "rotary_pct is 1/2: 3 of 6 coordinates of a head would be rotated, want an even",
        ),
        ({"rotary_pct": 0}, "rotary_pct is 0: 0 of 6"),
        (
            {"rope_parameters": {"rope_type": "linear", "factor": 2.0}},
            "rope_type is 'linear', want one of 'default'",
        ),
        (
            {"rope_scaling": {"type": "linear"}},
            "rope_scaling is set, an option that GPT-NeoX here does not have",
        ),
        ({"quantization_config": {"bits": 4}}, "quantization_config is set, an option that GPT-NeoX here"),
        ({"rotary_emb_base": "big"}, "rotary_emb_base is the string 'big'"),
        ({"layer_norm_eps": 0}, "norm.epsilon is 0"),
        (
            {"attention_bias": False},
            "holds tensor layers.0.attention.dense.bias, which GPT-NeoX does not have",
        ),
        ({"vocab_size": 12}, "tensor embed_in.weight has shape (11, 12), its config.json wants (12, 12)"),
    ],
)
def test_what_is_not_there_is_refused_by_its_name(tmp_path, changes, sentence):
    """A model that computes something else must not pass for one that is there."""
    with pytest.raises(InputError, match=re.escape(sentence)):
        import_hf(write_neox(tmp_path / "source", {**CONFIG, **changes}, neox_tensors()), tmp_path / "model")
    assert not (tmp_path / "model").exists()
