"""Small GPT-2 directories in Hugging Face's layout with random weights, and their forward in numpy."""

import json
from math import erf
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

CONFIG: dict[str, Any] = {
    "model_type": "gpt2",
    "architectures": ["GPT2LMHeadModel"],
    "activation_function": "gelu_new",
    "layer_norm_epsilon": 1e-05,
    "n_ctx": 7,
    "n_positions": 7,
    "n_embd": 6,
    "n_head": 2,
    "n_layer": 2,
    "n_inner": None,
    "vocab_size": 11,
    "resid_pdrop": 0.1,
}
TOKENIZER: dict[str, Any] = {
    "added_tokens": [{"id": 0, "content": "<|endoftext|>"}],
    "model": {"type": "BPE", "vocab": {"<|endoftext|>": 0, "a": 1, "Ġb": 2}, "merges": []},
}

Tensors = dict[str, np.ndarray]


def gpt2_tensors(config: dict[str, Any] = CONFIG, *, seed: int = 0) -> Tensors:
    """Return random tensors under the names that Hugging Face gives them, without a prefix."""
    width, inner = config["n_embd"], config.get("n_inner") or 4 * config["n_embd"]
    shapes = {"wte.weight": (config["vocab_size"], width), "wpe.weight": (config["n_positions"], width)}
    for layer in range(config["n_layer"]):
        shapes |= {
            f"h.{layer}.{name}": shape
            for name, shape in {
                "ln_1.weight": (width,),
                "ln_1.bias": (width,),
                "attn.c_attn.weight": (width, 3 * width),
                "attn.c_attn.bias": (3 * width,),
                "attn.c_proj.weight": (width, width),
                "attn.c_proj.bias": (width,),
                "ln_2.weight": (width,),
                "ln_2.bias": (width,),
                "mlp.c_fc.weight": (width, inner),
                "mlp.c_fc.bias": (inner,),
                "mlp.c_proj.weight": (inner, width),
                "mlp.c_proj.bias": (width,),
            }.items()
        }
    shapes |= {"ln_f.weight": (width,), "ln_f.bias": (width,)}
    if not config.get("tie_word_embeddings", True):
        shapes["lm_head.weight"] = shapes["wte.weight"]
    draw = np.random.default_rng(seed)
    return {name: draw.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def write_gpt2(
    folder: Path,
    config: dict[str, Any] = CONFIG,
    tensors: Tensors | None = None,
    tokenizer: dict[str, Any] | None = TOKENIZER,
) -> Path:
    """Write a directory as `save_pretrained` does, and return it."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    if tokenizer is not None:
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    save_file(gpt2_tensors(config) if tensors is None else tensors, folder / "model.safetensors")
    return folder


MINGPT: dict[str, Any] = {
    "model_type": "gpt-nano",
    "n_layer": 2,
    "n_head": 2,
    "n_embd": 6,
    "vocab_size": 11,
    "block_size": 7,
}


def as_linear(tensors: Tensors, prefix: str = "transformer.") -> Tensors:
    """Return GPT-2's tensors as minGPT's `nn.Linear` has them, [out, in], under a prefix."""
    found = {
        name: tensor.T if ".c_" in name and name.endswith("weight") else tensor
        for name, tensor in tensors.items()
    }
    return {
        name if name.startswith("lm_head") else prefix + name: np.ascontiguousarray(tensor)
        for name, tensor in found.items()
    }


def write_mingpt(folder: Path, config: dict[str, Any] = MINGPT, tensors: Tensors | None = None) -> Path:
    """Write a directory of minGPT's layout, and return it."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    save_file(as_linear(gpt2_tensors()) if tensors is None else tensors, folder / "model.safetensors")
    return folder


def logits_by_hand(tensors: Tensors, config: dict[str, Any], tokens: list[int]) -> np.ndarray:
    """Return GPT-2's logits at every position in FP64, from the names and shapes of its file alone."""
    wide = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}
    rows = wide["wte.weight"][tokens] + wide["wpe.weight"][: len(tokens)]
    for layer in range(config["n_layer"]):
        own = {name.removeprefix(f"h.{layer}."): tensor for name, tensor in wide.items()}
        rows = rows + _attention(own, config, _layer_norm(rows, own["ln_1.weight"], own["ln_1.bias"], config))
        read = _layer_norm(rows, own["ln_2.weight"], own["ln_2.bias"], config)
        hidden = _activate(read @ own["mlp.c_fc.weight"] + own["mlp.c_fc.bias"], config)
        rows = rows + hidden @ own["mlp.c_proj.weight"] + own["mlp.c_proj.bias"]
    last = _layer_norm(rows, wide["ln_f.weight"], wide["ln_f.bias"], config)
    tied = config.get("tie_word_embeddings", True)
    return last @ wide["wte.weight" if tied else "lm_head.weight"].T


def _attention(own: Tensors, config: dict[str, Any], read: np.ndarray) -> np.ndarray:
    heads, length = config["n_head"], len(read)
    fused = read @ own["attn.c_attn.weight"] + own["attn.c_attn.bias"]
    queries, keys, values = (
        part.reshape(length, heads, -1).swapaxes(0, 1) for part in np.split(fused, 3, axis=1)
    )
    scores = queries @ keys.swapaxes(1, 2)
    if config.get("scale_attn_weights", True):
        scores = scores * np.float64(np.float32(queries.shape[-1] ** -0.5))  # ours is rounded to FP32
    scores[:, np.triu(np.ones((length, length), bool), 1)] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    mixed = (weights / weights.sum(-1, keepdims=True)) @ values
    return mixed.swapaxes(0, 1).reshape(length, -1) @ own["attn.c_proj.weight"] + own["attn.c_proj.bias"]


def _layer_norm(rows: np.ndarray, scale: np.ndarray, shift: np.ndarray, config: dict[str, Any]) -> np.ndarray:
    centred = rows - rows.mean(-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(-1, keepdims=True) + config["layer_norm_epsilon"])
    return centred / spread * scale + shift


def _activate(values: np.ndarray, config: dict[str, Any]) -> np.ndarray:
    match config["activation_function"]:
        case "relu":
            return np.maximum(values, 0)
        case "gelu":
            return values * (1 + np.vectorize(erf)(values / np.sqrt(2))) / 2
        case _:
            return values * (1 + np.tanh(np.sqrt(2 / np.pi) * (values + 0.044715 * values**3))) / 2
