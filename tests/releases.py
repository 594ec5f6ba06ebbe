"""Small directories in the public format of the paper's release, with random weights."""

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np

SIZES = {"n_layers": 2, "n_heads": 2, "d_model": 4, "vocab_size": 5}
_HEAD, _MLP, _CONTEXT = 3, 6, 3
_VARIANTS = {"norm_variant": "none", "attn_variant": "sparsemax", "activation_variant": "leaky_relu"}

Files = dict[str, Any]


def release_files(*, norm: str = "none", seed: int = 0) -> Files:
    """Return the content of each file of a release of two layers of two heads."""
    variants = _VARIANTS | {"norm_variant": norm}
    band = {"norm_l1_low_per_dim": 0.55, "norm_l1_high_per_dim": 1.05}
    config = SIZES | variants | band | {"max_seq_len": _CONTEXT, "d_mlp": _MLP, "dropout": 0.0}
    config |= {"tie_embeddings": False, "use_bias": True, "leaky_relu_negative_slope": 0.01}
    weights = SIZES | variants | {"d_ff": _MLP, "head_dim": _HEAD, "half_low": 1.1, "half_high": 2.1}
    weights |= _tensors(np.random.default_rng(seed), is_plain=norm == "none")
    edges = [{"source": "emb", "target": "attn_0_h_1"}, {"source": "attn_0_h_1", "target": "logits"}]
    circuit = {"n_layers": 2, "n_heads": 2, "ablation": "zero", "num_edges": 2, "edges": edges}
    return {
        "config.json": config,
        "smt_weights.json": weights,
        "vocab.json": {"vocab_size": 5, "token_names": {"0": "<PAD>", "2": "A"}},
        "quote_close/circuit.json": circuit,
    }


def write_release(folder: Path, files: Files) -> Path:
    """Write a release directory and return it; text is written as it is, all else as JSON."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def read_release(folder: Path) -> Files:
    """Return the content of the files of a release directory."""
    return {
        str(path.relative_to(folder)): json.loads(path.read_text()) for path in sorted(folder.rglob("*.json"))
    }


def stored(release):
    """Return the model of a release as torch computes it; files alone are written without torch."""
    import torch

    from circuitproof.nn.checkpoint import StoredModel, build_model

    tensors = {name: torch.from_numpy(tensor) for name, tensor in release.tensors.items()}
    declared = release.declaration
    return StoredModel(build_model(declared.architecture, declared.programs, tensors), declared.alphabet)


def changed(files: Files, name: str, **values: object) -> Files:
    """Return the files with some values of one of them replaced."""
    result = copy.deepcopy(files)
    result[name] |= values
    return result


def without(files: Files, name: str, key: str) -> Files:
    """Return the files with a key of one of them left out."""
    result = copy.deepcopy(files)
    del result[name][key]
    return result


def _tensors(random: np.random.Generator, *, is_plain: bool) -> dict[str, Any]:
    def draw(*shape: int) -> Any:  # nested lists of any depth
        return random.normal(0, 0.7, shape).astype(np.float32).astype(float).tolist()

    width, inner = SIZES["d_model"], SIZES["n_heads"] * _HEAD
    tensors = {"wte": draw(5, width), "wpe": draw(_CONTEXT, width)}
    for layer in range(SIZES["n_layers"]):
        attention = f"attn_{layer}"
        tensors |= {f"{attention}_W_{role}": draw(inner, width) for role in "qkv"}
        tensors |= {f"{attention}_b_{role}": draw(inner) for role in "qkv"}
        tensors |= {f"{attention}_W_o": draw(width, inner), f"{attention}_b_o": draw(width)}
        tensors |= {f"mlp_{layer}_W_up": draw(_MLP, width), f"mlp_{layer}_b_up": draw(_MLP)}
        tensors |= {f"mlp_{layer}_W_down": draw(width, _MLP), f"mlp_{layer}_b_down": draw(width)}
    for node in ("attn_0", "mlp_0", "attn_1", "mlp_1", "final"):
        tensors[f"{node}_norm_gamma"] = [1.0] * width if is_plain else draw(width)
        tensors[f"{node}_norm_beta"] = [0.0] * width if is_plain else draw(width)
    return tensors | {"lm_head": draw(5, width), "lm_head_bias": draw(5)}
