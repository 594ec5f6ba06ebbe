"""The gate beside `transformers`: a stand-in for it everywhere, and the package where it is installed."""

import json
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from circuitproof.errors import InputError
from circuitproof.files.codec import to_json
from circuitproof.importers.hugging_face import import_hf
from circuitproof.importers.hugging_face_comparison import compare
from gpt2_files import CONFIG, logits_by_hand, write_gpt2
from places import REFERENCE

SHAKESPEARE = REFERENCE / "shakespeare_gpt2"


class StandIn:
    """What the gate asks of `transformers`: a GPT-2 that is loaded from a directory and called."""

    def __init__(self, folder) -> None:
        self.config = json.loads((folder / "config.json").read_text())
        self.tensors = load_file(folder / "model.safetensors")
        self.dtype = torch.float32

    @classmethod
    def from_pretrained(cls, folder, **_):
        """Load it."""
        return cls(folder)

    def float(self):
        """Compute in FP32."""
        self.dtype = torch.float32
        return self

    def double(self):
        """Compute in FP64."""
        self.dtype = torch.float64
        return self

    def to(self, device):
        """Stay in main memory, where the tests of it are."""
        assert device == "cpu"
        return self

    def eval(self):
        """Leave dropout out; there is none."""
        return self

    def __call__(self, tokens):
        """Return the logits at every position."""
        logits = logits_by_hand(self.tensors, self.config, tokens[0].tolist())
        return SimpleNamespace(logits=torch.from_numpy(logits[None]).to(self.dtype))


@pytest.fixture
def stand_in(monkeypatch):
    """Stand in for the package `transformers`."""
    package = ModuleType("transformers")
    package.AutoModelForCausalLM = StandIn
    package.logging = SimpleNamespace(set_verbosity_error=lambda: None, disable_progress_bar=lambda: None)
    monkeypatch.setitem(sys.modules, "transformers", package)


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize("scaled", [True, False])
def test_the_same_model_passes(tmp_path, scaled):
    """At every position of two prompts as long as the context; heads of width 4 have an exact scale."""
    config = {**CONFIG, "n_embd": 8, "scale_attn_weights": scaled}
    source = write_gpt2(tmp_path / "source", config)
    import_hf(source, tmp_path / "model")
    found = compare(source, tmp_path / "model")
    assert found.positions == 14
    assert found.difference <= 2.0**-26 * found.largest_logit
    assert to_json(found)["difference_fp64"] == found.difference


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize(
    "tensor", ["wpe.weight", "h.1.attn.c_attn.bias", "ln_f.weight", "h.0.mlp.c_proj.weight"]
)
def test_one_other_number_is_seen(tmp_path, tensor):
    """A source that is not the model is refused, with the size of the difference."""
    source = write_gpt2(tmp_path / "source", {**CONFIG, "n_embd": 8})
    import_hf(source, tmp_path / "model")
    changed = load_file(source / "model.safetensors")
    changed[tensor].flat[-1] += np.float32(0.01)
    other = write_gpt2(tmp_path / "other", {**CONFIG, "n_embd": 8}, changed)
    with pytest.raises(InputError, match="our logits differ from those of transformers by"):
        compare(other, tmp_path / "model")


NEOX = {
    "vocab_size": 13,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 9,
}


@pytest.fixture
def neox(tmp_path):
    """Return what writes a GPT-NeoX of `transformers` with random weights."""
    package = pytest.importorskip(
        "transformers", reason="transformers is not installed; the gpt2 extra brings it"
    )

    def write(name, **options):
        torch.manual_seed(0)
        model = package.GPTNeoXForCausalLM(package.GPTNeoXConfig(**NEOX, **options))
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, 0, 0.5)
        model.save_pretrained(tmp_path / name)
        return tmp_path / name

    return write


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"use_parallel_residual": False, "hidden_act": "relu"},
        {"attention_bias": False, "hidden_act": "gelu_new", "tie_word_embeddings": True},
        {"rope_parameters": {"rope_type": "default", "rope_theta": 500.0, "partial_rotary_factor": 0.5}},
    ],
    ids=str,
)
def test_a_neox_of_transformers_computes_the_same(neox, tmp_path, options):
    """In FP64, with the tables that `transformers` computes; ours are these but for rounding."""
    source = neox("source", **options)
    agreements = []
    import_hf(source, tmp_path / "model", lambda model: agreements.append(compare(source, model)))
    assert agreements[0].difference <= 2.0**-45 * agreements[0].largest_logit
    assert agreements[0].difference_fp32 <= 2.0**-16 * agreements[0].largest_logit


@pytest.mark.slow
def test_rotations_of_another_base_are_seen(neox, tmp_path):
    """Before any logit is compared."""
    other = neox("other", rope_parameters={"rope_theta": 9990.0, "partial_rotary_factor": 0.5})
    import_hf(
        neox("source", rope_parameters={"rope_theta": 1e4, "partial_rotary_factor": 0.5}), tmp_path / "model"
    )
    with pytest.raises(InputError, match="the tables of positions are not those of transformers"):
        compare(other, tmp_path / "model")


@pytest.mark.slow
def test_transformers_agrees(tmp_path):
    """The package itself, on a small directory and, where it is, on a public model."""
    pytest.importorskip("transformers", reason="transformers is not installed; the gpt2 extra brings it")
    sources = [write_gpt2(tmp_path / "source"), *([SHAKESPEARE] if SHAKESPEARE.is_dir() else [])]
    for place, source in enumerate(sources):
        import_hf(source, tmp_path / f"model {place}", lambda model, source=source: compare(source, model))
