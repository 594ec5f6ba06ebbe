"""Small models as TransformerLens keeps them, with random weights, and their forward in numpy FP64."""

import json
from math import erf
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

State = dict[str, np.ndarray]
CONFIG: dict[str, Any] = {
    "n_layers": 2,
    "d_model": 6,
    "n_ctx": 5,
    "d_head": 4,
    "n_heads": 2,
    "d_mlp": 7,
    "act_fn": "gelu_new",
    "d_vocab": 9,
    "d_vocab_out": 9,
    "normalization_type": "LN",
    "eps": 1e-5,
    "attn_only": False,
    "positional_embedding_type": "standard",
    "attention_dir": "causal",
    "use_attn_scale": True,
    "attn_scale": -1.0,
}


def lens_state(config: dict[str, Any] = CONFIG, seed: int = 0) -> State:
    """Return random tensors under the names of a HookedTransformer's state."""
    width, heads, head = config["d_model"], config["n_heads"], config["d_head"]
    out = config.get("d_vocab_out", config["d_vocab"])
    shapes = {"embed.W_E": (config["d_vocab"], width), "unembed.W_U": (width, out), "unembed.b_U": (out,)}
    if config.get("positional_embedding_type", "standard") == "standard":
        shapes["pos_embed.W_pos"] = (config["n_ctx"], width)
    norms = ["ln_final"] if config.get("normalization_type") == "LN" else []
    for layer in range(config["n_layers"]):
        block = f"blocks.{layer}"
        shapes |= {f"{block}.attn.W_{one}": (heads, width, head) for one in "QKV"}
        shapes |= {f"{block}.attn.b_{one}": (heads, head) for one in "QKV"}
        shapes |= {f"{block}.attn.W_O": (heads, head, width), f"{block}.attn.b_O": (width,)}
        norms += [f"{block}.ln1"] if norms else []
        if not config.get("attn_only"):
            inner = config["d_mlp"]
            shapes |= {f"{block}.mlp.W_in": (width, inner), f"{block}.mlp.b_in": (inner,)}
            shapes |= {f"{block}.mlp.W_out": (inner, width), f"{block}.mlp.b_out": (width,)}
            norms += [f"{block}.ln2"] if norms else []
    shapes |= {f"{norm}.{one}": (width,) for norm in norms for one in "wb"}
    draw = np.random.default_rng(seed)
    return {name: draw.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def to_native(state: State) -> State:
    """Return the same model under the names of TransformerLens's native model, heads stacked, [out, in]."""
    found: State = {}
    for name, tensor in state.items():
        block, _, last = name.rpartition(".")
        if ".attn." in name:
            kind, letter = last.split("_")
            spelled = f"{block}.{letter.lower()}.{'weight' if kind == 'W' else 'bias'}"
            if last == "W_O":
                found[spelled] = tensor.reshape(-1, tensor.shape[-1]).T
            elif kind == "W":
                found[spelled] = tensor.swapaxes(1, 2).reshape(-1, tensor.shape[1])
            else:
                found[spelled] = tensor.reshape(-1)
        elif ".mlp." in name:
            kind, side = last.split("_")
            found[f"{block}.{side}.{'weight' if kind == 'W' else 'bias'}"] = tensor.T
        elif last in "wb":
            found[f"{block}.{'weight' if last == 'w' else 'bias'}"] = tensor
        elif last != "b_U":
            found[f"{block}.weight"] = tensor.T if last == "W_U" else tensor
    return {name: np.ascontiguousarray(tensor) for name, tensor in found.items()}


def to_grokking(state: State) -> State:
    """Return the same model in the layout before HookedTransformer, which has no biases in attention."""
    found: State = {}
    for name, tensor in state.items():
        if ".attn.b_" in name or name == "unembed.b_U":
            continue
        if name.endswith("W_O"):
            found[name] = tensor.reshape(-1, tensor.shape[-1]).T
        elif ".attn.W_" in name:
            found[name] = tensor.swapaxes(1, 2)
        else:
            found[name] = tensor.T if ".mlp.W_" in name or name == "embed.W_E" else tensor
    return {name: np.ascontiguousarray(tensor) for name, tensor in found.items()}


def write_lens(folder: Path, config: dict[str, Any], state: State) -> Path:
    """Write a configuration and a state, and return their directory."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    save_file(state, folder / "model.safetensors")
    return folder


def lens_logits(state: State, config: dict[str, Any], tokens: list[int]) -> np.ndarray:
    """Return the logits at every position, from the names and shapes of a HookedTransformer alone."""
    wide = {name: tensor.astype(np.float64) for name, tensor in state.items()}
    rows = wide["embed.W_E"][tokens]
    if "pos_embed.W_pos" in wide:
        rows = rows + wide["pos_embed.W_pos"][: len(tokens)]
    for layer in range(config["n_layers"]):
        prefix = f"blocks.{layer}."
        own = {name.removeprefix(prefix): one for name, one in wide.items() if name.startswith(prefix)}
        attended = _attention(own, config, _norm(rows, own, "ln1", config))
        beside = rows if config.get("parallel_attn_mlp") else rows + attended
        rows = rows + attended
        if not config.get("attn_only"):
            read = _norm(beside, own, "ln2", config)
            hidden = activate(read @ own["mlp.W_in"] + own["mlp.b_in"], config["act_fn"])
            rows = rows + hidden @ own["mlp.W_out"] + own["mlp.b_out"]
    return _norm(rows, wide, "ln_final", config) @ wide["unembed.W_U"] + wide["unembed.b_U"]


def _norm(rows: np.ndarray, own: State, name: str, config: dict[str, Any]) -> np.ndarray:
    if config.get("normalization_type") is None:
        return rows
    centred = rows - rows.mean(-1, keepdims=True)
    normed = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + config["eps"])
    return normed * own[f"{name}.w"] + own[f"{name}.b"] if f"{name}.w" in own else normed


def _attention(own: State, config: dict[str, Any], read: np.ndarray) -> np.ndarray:
    query, key, value = (
        np.einsum("pd,hde->hpe", read, own[f"attn.W_{one}"]) + own[f"attn.b_{one}"][:, None] for one in "QKV"
    )
    if config.get("positional_embedding_type") == "rotary":
        query, key = _rotated(query, config), _rotated(key, config)
    scores = query @ key.swapaxes(1, 2) * _scale(config)
    length = len(read)
    if config.get("attention_dir", "causal") == "causal":
        scores[:, np.triu(np.ones((length, length), bool), 1)] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    mixed = (weights / weights.sum(-1, keepdims=True)) @ value
    return np.einsum("hpe,hed->pd", mixed, own["attn.W_O"]) + own["attn.b_O"]


def _scale(config: dict[str, Any]) -> float:
    if not config.get("use_attn_scale", True):
        return 1.0
    said = config.get("attn_scale", -1.0)
    return float(np.float32(config["d_head"] ** -0.5 if said <= 0 else 1 / said))  # ours is rounded to FP32


def _rotated(rows: np.ndarray, config: dict[str, Any]) -> np.ndarray:
    """Rotate coordinates pair by pair, by angles whose cosines and sines are rounded to FP32."""
    rotary = config.get("rotary_dim") or config["d_head"]
    turned = rows.copy()
    for position in range(rows.shape[1]):
        for pair in range(rotary // 2):
            angle = position * config.get("rotary_base", 10000) ** (-2 * pair / rotary)
            cos, sin = (float(np.float32(one)) for one in (np.cos(angle), np.sin(angle)))
            is_adjacent = config.get("rotary_adjacent_pairs")
            a, b = (2 * pair, 2 * pair + 1) if is_adjacent else (pair, pair + rotary // 2)
            turned[:, position, a] = rows[:, position, a] * cos - rows[:, position, b] * sin
            turned[:, position, b] = rows[:, position, b] * cos + rows[:, position, a] * sin
    return turned


def activate(values: np.ndarray, name: str) -> np.ndarray:
    """Return an activation by its name, in capitals or not."""
    match name.lower():
        case "relu":
            return np.maximum(values, 0)
        case "gelu":
            return values * (1 + np.vectorize(erf)(values / np.sqrt(2))) / 2
        case _:
            return values * (1 + np.tanh(np.sqrt(2 / np.pi) * (values + 0.044715 * values**3))) / 2
