"""The largest of K tokens, over all 64^K sequences: what looking at each costs, and how many are wrong.

`python benchmarks/max_of_k.py MODEL [MODEL ...]`: every sequence through the model in FP32, one thread.
Models are those of `recipes/max-of-four.toml` and its like; longer sequences than four are too many.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import torch
from torch import Tensor

from circuitproof.nn.checkpoint import load_model
from circuitproof.nn.transformer import Transformer

ROWS = 1 << 15
"""How many sequences are computed at a time."""
SHOWN = 20
"""How many wrong ones are shown."""


def sequences(vocabulary: int, length: int) -> Iterator[Tensor]:
    """Return all sequences, in the order of numbers with so many digits."""
    powers = vocabulary ** torch.arange(length).flip(0)
    for start in range(0, vocabulary**length, ROWS):
        numbers = torch.arange(start, min(start + ROWS, vocabulary**length))
        yield numbers[:, None] // powers % vocabulary


def wrong_in(model: Transformer, tokens: Tensor) -> Tensor:
    """Return the sequences whose largest token does not lead every other; a tie is wrong."""
    logits = model.residual_logits(model.final_residual(tokens), range(model.architecture.vocabulary))
    best = tokens.amax(1, keepdim=True)
    rivals = logits.scatter(1, best, -torch.inf).amax(1, keepdim=True)
    return tokens[(logits.gather(1, best) <= rivals)[:, 0]]


def measure(path: Path) -> dict[str, object]:
    """Return how many sequences a model gets wrong, some of them, and how long that took."""
    model = load_model(path).model
    sizes, begun = model.architecture, perf_counter()
    with torch.no_grad():
        parts = [wrong_in(model, tokens) for tokens in sequences(sizes.vocabulary, sizes.context)]
    wrong, seconds = torch.cat(parts), perf_counter() - begun
    return {
        "model": path.name,
        "sequences": sizes.vocabulary**sizes.context,
        "wrong": len(wrong),
        "some of them": wrong[:SHOWN].tolist(),
        "seconds of brute force": round(seconds, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL")
    torch.set_num_threads(1)
    for path in parser.parse_args().models:
        print(json.dumps(measure(path)), flush=True)


if __name__ == "__main__":
    main()
