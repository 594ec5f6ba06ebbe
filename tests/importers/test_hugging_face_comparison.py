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
    package.GPT2LMHeadModel = StandIn
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


@pytest.mark.slow
def test_transformers_agrees(tmp_path):
    """The package itself, on a small directory and, where it is, on a public model."""
    pytest.importorskip("transformers", reason="transformers is not installed; the gpt2 extra brings it")
    sources = [write_gpt2(tmp_path / "source"), *([SHAKESPEARE] if SHAKESPEARE.is_dir() else [])]
    for place, source in enumerate(sources):
        import_hf(source, tmp_path / f"model {place}", lambda model, source=source: compare(source, model))
