"""True claims about circuits of many layers or edges, written down without computing anything."""

from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import Any

import bundle_maker as maker
from bundle_maker import Bundle, architecture, random_bundle, shapes

IDENTITY = [1.0, 0.0, 0.0, 1.0]
PARTS = {
    "mlp {}": ("mlp.{}.up", "mlp.{}.down"),
    "head {}.0": tuple(f"head.{{}}.0.{role}" for role in ("query", "key", "value", "output")),
}
"""The nodes of a chain by their names, with the linear maps that they have."""
BIAS = 1 / 1024


def deep_claim(node: str, layers: int) -> Bundle:
    """Return a proof of equivalence of a chain of nodes that all hand on what they read."""
    size = architecture(vocabulary=2, context=2, layers=layers, width=2, mlp_width=2)
    size |= {"biases": False, "logit_bias": False}
    names = ["embed", *(node.format(layer) for layer in range(layers)), "logits"]
    bundle = random_bundle(architecture(), [f"{a} -> {b}" for a, b in pairwise(names)], 0, prompts=1)
    bundle.claim |= {"architecture": size}
    bundle.claim["circuit"] |= {"layers": layers, "heads": 1}
    maps = [part.format(layer) for layer in range(layers) for part in PARTS[node]]
    weights = ["embed.token", "logits.weight", *(f"{name}.weight" for name in maps)]
    bundle.tensors = dict.fromkeys(weights, ((2, 2), IDENTITY))
    bundle.tensors["embed.position"] = ((2, 2), [0.0] * 4)
    _ask(bundle, [[0], [1]], [0, 1])
    evidence = {"split": "prompt", "children": [{"fold": 0}, {"fold": 1}]}
    return _answer(bundle, "equivalence", [["1", "0"], ["0", "1"]], evidence)


def deep_pattern(node: str, layers: int) -> Bundle:
    """Return the same about a pattern, whose prompts are shown one by one."""
    bundle = deep_claim(node, layers)
    bundle.domain["pattern"] = {"shape": {"tokens": [0, 1]}, "clauses": [], "longest": 1}
    bundle.claim["task"] |= {
        "answer": {"kind": "only opener", "answers": [[0, 0], [1, 1]]},
        "relation": {"kind": "same opener", "openers": [0, 1]},
    }
    shown = {"prompts": [{"prompt": number, "fold": number} for number in (0, 1)]}
    return _answer(bundle, "equivalence", [["1", "0"], ["0", "1"]], shown)


def necessary_edges(heads: int) -> Bundle:
    """Return a proof that two edges of each of many heads are needed, each for one prompt alone.

    The heads are of layers of their own, so that each edge to the logits brings a bias too. Head L adds one
    to the second candidate's logit if the token is L, and all biases together add less than the one half
    that the first candidate has.
    """
    size = architecture(vocabulary=2 * heads, context=1, layers=heads, width=heads, head_width=1, mlp_width=1)
    layers = range(heads)
    edges = [f"embed -> head {layer}.0" for layer in layers] + [
        f"head {layer}.0 -> logits" for layer in layers
    ]
    programs = {f"{layer}.0": ["default 1", "otherwise self"] for layer in layers}
    bundle = random_bundle(size, edges, 0, programs, prompts=1)
    numbers = {name: [0.0] * prod(shape) for name, shape in shapes(size, programs).items()}
    for layer in layers:
        numbers["embed.token"][layer * heads + layer] = numbers["logits.weight"][heads + layer] = 1.0
        numbers[f"head.{layer}.0.value.weight"][layer] = numbers[f"head.{layer}.0.output.weight"][layer] = 1.0
        numbers[f"attention.{layer}.output.bias"][layer] = BIAS
    numbers["logits.bias"][0] = 0.5
    bundle.tensors = {name: (shape, numbers[name]) for name, shape in shapes(size, programs).items()}
    _ask(bundle, [[token] for token in (*range(heads, 2 * heads), *layers)], [0] * heads + [1] * heads)
    shared = heads * Fraction(BIAS)
    folds = [["1/2", str(1 + shared)], ["1/2", str(shared)], ["1/2", str(shared - Fraction(BIAS))]]
    replays = [{"prompt": heads + e % heads, "fold": 0, "lesion": 1 + e // heads} for e in range(2 * heads)]
    return _answer(
        bundle, "necessity", folds, {"split": "edge", "children": [{"replay": [one]} for one in replays]}
    )


def _ask(bundle: Bundle, prompts: list[list[int]], answers: list[int]) -> None:
    bundle.domain = {"prompts": prompts, "strata": [""] * len(prompts)}
    bundle.claim["task"] |= {
        "names": {},
        "candidates": [0, 1],
        "answer": {"kind": "table", "answers": answers},
        "relation": {"kind": "table", "classes": answers},
    }


def _answer(bundle: Bundle, kind: str, folds: list[list[str]], evidence: dict[str, Any]) -> Bundle:
    claimed = {"kind": kind}
    bundle.claim["properties"] = [claimed]
    answer = {"property": claimed, "verdict": "proved", "evidence": evidence, "remarks": []}
    bundle.certificate = {"format": maker.CERTIFICATE_FORMAT, "folds": folds, "answers": [answer]}
    bundle.pins.discard("remarks")
    return bundle
