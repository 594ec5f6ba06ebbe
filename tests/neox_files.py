"""Small GPT-NeoX directories in Hugging Face's layout with random weights, and their forward in numpy."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from lens_files import activate

CONFIG: dict[str, Any] = {
    "model_type": "gpt_neox",
    "vocab_size": 11,
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 10,
    "hidden_act": "gelu",
    "max_position_embeddings": 7,
    "layer_norm_eps": 1e-05,
    "rotary_pct": 0.7,
    "rotary_emb_base": 100,
    "use_parallel_residual": True,
}
Tensors = dict[str, np.ndarray]


def neox_tensors(config: dict[str, Any] = CONFIG) -> Tensors:
    """Return random tensors under the names that Hugging Face gives them."""
    width, inner = config["hidden_size"], config["intermediate_size"]
    shapes = {"gpt_neox.embed_in.weight": (11, width), "embed_out.weight": (11, width)}
    maps = {
        "input_layernorm": (width,),
        "post_attention_layernorm": (width,),
        "attention.query_key_value": (3 * width, width),
        "attention.dense": (width, width),
        "mlp.dense_h_to_4h": (inner, width),
        "mlp.dense_4h_to_h": (width, inner),
    }
    for layer in range(config["num_hidden_layers"]):
        for name, shape in maps.items():
            shapes[f"gpt_neox.layers.{layer}.{name}.weight"] = shape
            shapes[f"gpt_neox.layers.{layer}.{name}.bias"] = shape[:1]
    shapes |= {f"gpt_neox.final_layer_norm.{one}": (width,) for one in ("weight", "bias")}
    draw = np.random.default_rng(0)
    return {name: draw.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def write_neox(folder: Path, config: dict[str, Any] = CONFIG, tensors: Tensors | None = None) -> Path:
    """Write a directory as `save_pretrained` does, and return it."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    save_file(neox_tensors(config) if tensors is None else tensors, folder / "model.safetensors")
    return folder


def neox_logits(tensors: Tensors, config: dict[str, Any], tokens: list[int], rotary: int) -> np.ndarray:
    """Return the logits at every position in FP64, from the names and shapes of the file alone."""
    wide = {name.removeprefix("gpt_neox."): tensor.astype(np.float64) for name, tensor in tensors.items()}
    rows = wide["embed_in.weight"][tokens]
    for layer in range(config["num_hidden_layers"]):
        prefix = f"layers.{layer}."
        own = {name.removeprefix(prefix): one for name, one in wide.items() if name.startswith(prefix)}
        attended = _attention(own, config, _norm(rows, own, "input_layernorm"), rotary)
        read = rows if config["use_parallel_residual"] else rows + attended
        hidden = activate(
            _linear(_norm(read, own, "post_attention_layernorm"), own, "mlp.dense_h_to_4h"),
            config["hidden_act"],
        )
        rows = rows + attended + _linear(hidden, own, "mlp.dense_4h_to_h")
    return _norm(rows, wide, "final_layer_norm") @ wide["embed_out.weight"].T


def _linear(rows: np.ndarray, own: Tensors, name: str) -> np.ndarray:
    return rows @ own[f"{name}.weight"].T + own.get(f"{name}.bias", 0)


def _norm(rows: np.ndarray, own: Tensors, name: str) -> np.ndarray:
    centred = rows - rows.mean(-1, keepdims=True)
    normed = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    return normed * own[f"{name}.weight"] + own[f"{name}.bias"]


def _attention(own: Tensors, config: dict[str, Any], read: np.ndarray, rotary: int) -> np.ndarray:
    heads, length = config["num_attention_heads"], len(read)
    fused = _linear(read, own, "attention.query_key_value").reshape(length, heads, 3, -1)
    query, key, value = (fused[:, :, place].swapaxes(0, 1) for place in range(3))
    query, key = _rotated(query, config, rotary), _rotated(key, config, rotary)
    scores = query @ key.swapaxes(1, 2) * float(np.float32(query.shape[-1] ** -0.5))  # ours is FP32
    scores[:, np.triu(np.ones((length, length), bool), 1)] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    mixed = (weights / weights.sum(-1, keepdims=True)) @ value
    return _linear(mixed.swapaxes(0, 1).reshape(length, -1), own, "attention.dense")


def _rotated(rows: np.ndarray, config: dict[str, Any], rotary: int) -> np.ndarray:
    half = rotary // 2
    speeds = config["rotary_emb_base"] ** (-2 * np.arange(half) / rotary)
    angles = np.outer(np.arange(rows.shape[1]), speeds)
    cos, sin = (one(angles).astype(np.float32).astype(np.float64) for one in (np.cos, np.sin))
    first, second = rows[..., :half], rows[..., half:rotary]
    turned = [first * cos - second * sin, second * cos + first * sin, rows[..., rotary:]]
    return np.concatenate(turned, -1)
