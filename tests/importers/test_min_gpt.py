"""minGPT and nanoGPT, against the forward of GPT-2 on matrices that are turned."""

import json
import re
from base64 import b64decode

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

import gpt2_files
from circuitproof.errors import InputError
from circuitproof.importers.min_gpt import import_mingpt
from circuitproof.nn.checkpoint import load_model
from floats import agree
from gpt2_files import MINGPT, as_linear, gpt2_tensors, logits_by_hand, write_mingpt
from places import REFERENCE

TOKENS = [3, 1, 4, 1, 5, 9, 2]
NANOGPT = {key: MINGPT[key] for key in MINGPT if key != "model_type"} | {"bias": True, "dropout": 0.0}


@pytest.mark.parametrize(
    ("config", "activation", "tied"),
    [
        (MINGPT, "gelu_new", False),
        (NANOGPT, "gelu", True),
        ({**MINGPT, "activation": "relu"}, "relu", False),
    ],
)
def test_an_imported_model_computes_what_it_computed(tmp_path, config, activation, tied):
    """With minGPT's mask, nanoGPT's tied embeddings stored twice, and the activation that each has."""
    ours = {**gpt2_files.CONFIG, "activation_function": activation, "tie_word_embeddings": tied}
    tensors = gpt2_tensors(ours)
    mask = {"transformer.h.0.attn.bias": np.tril(np.ones((1, 1, 7, 7), np.float32))}
    twice = {"lm_head.weight": tensors["wte.weight"]} if tied else {}
    found = import_mingpt(
        write_mingpt(tmp_path / "source", config, {**as_linear(tensors), **mask, **twice}), tmp_path / "model"
    )
    model = load_model(tmp_path / "model").model.double()
    assert model.architecture.tied is tied
    with torch.no_grad():
        wanted = logits_by_hand(tensors, ours, TOKENS)
        assert agree(model(torch.tensor([TOKENS]))[0], torch.from_numpy(wanted))
    assert bool(found.notes) == ("activation" not in config)


def test_a_compiled_nanogpt_without_biases_is_read_with_zeros(tmp_path):
    """Of maps and of norms, all of them; names begin with what torch.compile puts there."""
    ours = {**gpt2_files.CONFIG, "activation_function": "gelu"}
    tensors = gpt2_tensors(ours)
    for name in tensors:
        tensors[name] *= not name.endswith(".bias")
    kept = {name: one for name, one in tensors.items() if not name.endswith(".bias")}
    source = write_mingpt(
        tmp_path / "source", {**NANOGPT, "bias": False}, as_linear(kept, "_orig_mod.transformer.")
    )
    assert "biases that it does not have are zeros" in import_mingpt(source, tmp_path / "model").notes
    with torch.no_grad():
        found = load_model(tmp_path / "model").model.double()(torch.tensor([TOKENS]))[0]
    assert agree(found, torch.from_numpy(logits_by_hand(tensors, ours, TOKENS)))


def test_a_bias_that_was_lost_is_refused_unless_zeros_are_meant(tmp_path):
    """Where others are there, a model without it is another one, and may look as good."""
    tensors = as_linear(gpt2_tensors())
    del tensors["transformer.h.1.attn.c_attn.bias"]
    source = write_mingpt(tmp_path / "source", MINGPT, tensors)
    with pytest.raises(
        InputError, match=r"lacks tensor h\.1\.attn\.c_attn\.bias, though .* say --zero-biases"
    ):
        import_mingpt(source, tmp_path / "model")
    import_mingpt(source, tmp_path / "model", zero_biases=True)
    weights = load_model(tmp_path / "model").model.named_slices()
    assert not weights["head.1.0.query.bias"].any()


def without(name):
    """Return a change that takes a tensor away."""
    return lambda tensors: tensors.pop(name)


def poisoned(tensors):
    """Make a number no number."""
    tensors["transformer.h.1.mlp.c_fc.weight"][2, 3] = np.nan


def widened(tensors):
    """Add a tensor that no such model has."""
    tensors["transformer.h.0.attn.rotary"] = np.zeros(3, np.float32)


def unturned(tensors):
    """Store a matrix as Hugging Face does."""
    name = "transformer.h.0.attn.c_attn.weight"
    tensors[name] = np.ascontiguousarray(tensors[name].T)


@pytest.mark.parametrize(
    ("changes", "spoil", "sentence"),
    [
        ({}, without("transformer.wte.weight"), "has no matrix wte.weight, which minGPT and nanoGPT have"),
        ({}, without("transformer.h.1.ln_2.weight"), "lacks tensor h.1.ln_2.weight, which minGPT needs"),
        ({}, poisoned, "tensor h.1.mlp.c_fc.weight holds a NaN or an infinite number"),
        ({}, widened, "holds tensor h.0.attn.rotary, which minGPT does not have"),
        ({}, unturned, "tensor h.0.attn.c_attn.weight has shape (6, 18), minGPT wants (18, 6)"),
        ({"n_head": 4}, None, "n_head is 4, which does not divide the width 6"),
        ({"n_layer": 3}, None, "n_layer is 3, the tensors have 2"),
        ({"activation": "silu"}, None, "activation is 'silu', want one of"),
    ],
)
def test_what_does_not_fit_is_refused_by_its_name(tmp_path, changes, spoil, sentence):
    """With nothing left of it."""
    tensors = as_linear(gpt2_tensors())
    if spoil is not None:
        spoil(tensors)
    with pytest.raises(InputError, match=re.escape(sentence)):
        import_mingpt(write_mingpt(tmp_path / "source", {**MINGPT, **changes}, tensors), tmp_path / "model")
    assert not (tmp_path / "model").exists()


NANO_SORT = REFERENCE / "nano_sort"
with_sorter = pytest.mark.skipif(
    not NANO_SORT.is_dir(), reason="nano_sort is not beside the project (../shared/reference)"
)


@with_sorter
def test_the_public_sorter_sorts(tmp_path):
    """Biases of `c_attn` may be missing from its file; with zeros it sorts all the same."""
    import_mingpt(NANO_SORT, tmp_path / "model", zero_biases=True)
    model = load_model(tmp_path / "model").model.double()
    inputs = torch.cartesian_prod(*[torch.arange(3)] * 6)
    ordered = inputs.sort(1).values
    for known in range(6):
        with torch.no_grad():
            logits = model(torch.cat([inputs, ordered[:, :known]], 1))[:, -1]
        assert torch.equal(logits.argmax(1), ordered[:, known])


@with_sorter
def test_the_public_sorter_computes_its_published_activations(tmp_path):
    """To the rounding of FP32, in which they were published; they need the biases of `c_attn`."""
    if "transformer.h.0.attn.c_attn.bias" not in load_file(NANO_SORT / "model.safetensors"):
        pytest.skip("the public file lacks the biases of c_attn, with which its activations were published")
    import_mingpt(NANO_SORT, tmp_path / "model")
    published = json.loads((NANO_SORT / "gpt-nano-sort-t0-partials.json").read_text())
    tokens, logits = (
        np.frombuffer(b64decode(one["data"]), "<f4").reshape(one["shape"])
        for one in (published["idx"], published["lm_head"])
    )
    with torch.no_grad():
        found = load_model(tmp_path / "model").model.double()(torch.from_numpy(tokens.astype(np.int64)))
    assert np.abs(found.numpy() - logits).max() <= 4e-6  # FP32 through three layers
