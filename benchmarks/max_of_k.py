"""The largest of K tokens, on all 64^K sequences: what looking at each costs, and what proof and check do.

`python benchmarks/max_of_k.py MODEL [MODEL ...]`: every sequence through the model in FP32, where there are
no more than 2^24, and beside it how many are right by proof, exactly; one thread. Models are those of
`recipes/max-of-four.toml` and its like. `--prove-only` leaves the looking out.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import torch
from torch import Tensor

import circuitproof as cp
from circuitproof.nn.checkpoint import load_model
from circuitproof.nn.transformer import Transformer

ROWS = 1 << 15
"""How many sequences are computed at a time."""
MOST = 1 << 24
"""How many sequences are looked at one by one."""
SHOWN = 20
"""How many wrong ones are shown."""
OPERATIONS = 10**11
"""What the checker may do: more than any of these claims takes."""
Measured = dict[str, object]


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


def looked_at(path: Path) -> Measured:
    """Return how many sequences a model gets wrong in floats, some of them, and how long that took."""
    model = load_model(path).model
    sizes, begun = model.architecture, perf_counter()
    with torch.no_grad():
        parts = [wrong_in(model, tokens) for tokens in sequences(sizes.vocabulary, sizes.context)]
    wrong, seconds = torch.cat(parts), perf_counter() - begun
    return {"wrong": len(wrong), "some": wrong[:SHOWN].tolist(), "seconds of looking": round(seconds, 1)}


def proved(path: Path, length: int, vocabulary: int) -> Measured:
    """Return what is proved of all sequences, and how long proof and check took."""
    asked = {"vocabulary": vocabulary, "candidates": range(vocabulary), "pattern": f"any{{{length}}}"}
    task = cp.declare_task("maximum", answer="maximum", **asked)
    begun = perf_counter()
    with TemporaryDirectory() as folder:
        answers = cp.verify(path, task, properties=["accuracy"], out=f"{folder}/bundle")
        done = perf_counter()
        checked = cp.check(answers, against=path, operations=OPERATIONS)
        ended = perf_counter()
    return {
        "verdict": str(answers.verdict),
        "claim": [answer.prop.name for answer in answers.battery.answers],
        "checker": checked.outcome.name.lower(),
        "seconds of proof": round(done - begun, 1),
        "seconds of check": round(ended - done, 1),
    }


def measure(path: Path, *, only_prove: bool) -> Measured:
    """Return both of one model, and how much longer looking took than proof and check."""
    sizes = cp.load_model(path).architecture
    count = sizes.vocabulary**sizes.context
    found = {} if only_prove or count > MOST else looked_at(path)
    told = proved(path, sizes.context, sizes.vocabulary)
    whole = {"model": path.name, "sequences": count, **found, **told}
    if "seconds of looking" in found:
        spent = float(str(told["seconds of proof"])) + float(str(told["seconds of check"]))
        whole["ratio"] = round(float(str(found["seconds of looking"])) / spent, 1)
    return whole


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL")
    parser.add_argument("--prove-only", action="store_true", help="do not look at sequences one by one")
    options = parser.parse_args()
    torch.set_num_threads(1)
    for path in options.models:
        print(json.dumps(measure(path, only_prove=options.prove_only)), flush=True)


if __name__ == "__main__":
    main()
