"""What enclosing a model costs, and how many bits it loses, layer after layer and precision by precision.

`PYTHONPATH=tests python benchmarks/depth.py MODEL [TOKENS]` looks at the whole model on a prompt of so many
seeded tokens (8 unless told), and on two prompts that share all but the last half. Without MODEL it is a
seeded one of GPT-2's operators, of 4 layers and width 128.

*bits lost* is log2 of the radius in units: a row whose numbers are near 1 keeps the precision less that.
*decided* says whether the largest logit of the first prompt is known. Seconds are those of a processor.
"""

import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path

import torch

from circuitproof.arithmetic.exact import Exact
from circuitproof.circuits.circuit import whole
from circuitproof.circuits.graph import Mlp
from circuitproof.forward.forward import Forward
from circuitproof.forward.frozen import Frozen, open_model
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.nn.transformer import Transformer, initialise
from circuitproof.proof.arithmetic import EnclosedNumbers, enclosed_rows
from circuitproof.proof.blocks import blocks
from circuitproof.proof.effort import UNHURRIED
from circuitproof.proof.enclosed import Enclosed, NotKnown
from circuitproof.tasks.domain import Prompt
from lists import small_gpt
from timing import print_table, shown

PRECISIONS = (64, 128, 256, 512)
CANDIDATES = 100


@dataclass(frozen=True, slots=True)
class Enclosure:
    """What enclosing the whole model on some prompts took and gave."""

    seconds: float
    lost: Sequence[float]
    """After each layer, and last of the logits: the most bits that a row has lost."""
    is_decided: bool


def enclose(frozen: Frozen, prompts: Sequence[Prompt], precision: int) -> Enclosure:
    """Enclose the whole model; prompts stand in one block if they are few."""
    begun = time.process_time()
    numbers, circuit = EnclosedNumbers(precision), whole(frozen.graph)
    (block,) = blocks(frozen, [circuit], prompts, UNHURRIED)
    candidates = tuple(range(min(CANDIDATES, frozen.architecture.vocabulary)))
    trace = numbers.trace(Forward(frozen, block.cells, Exact(), candidates))
    stage, rows = block.rows[circuit]
    logits = enclosed_rows(trace.output(stage), numbers)
    seconds = time.process_time() - begun
    layers = [
        max(log2(max(1, radius)) for radius in trace.output(place).radii)
        for place, one in enumerate(block.cells.stages)
        if isinstance(one.node, Mlp)
    ]
    reach = max(log2(max(1, row.reach)) for row in logits)
    decided = not isinstance(Enclosed(*logits[rows[0]]).decision, NotKnown)
    return Enclosure(seconds, [*layers, reach], decided)


def rows(frozen: Frozen, tokens: int) -> Iterator[tuple[str, ...]]:
    """Return a row for each precision, of the first one that decides and the next."""
    one, other = _prompts(frozen.architecture.vocabulary, tokens)
    enclose(frozen, [one], PRECISIONS[0])  # weights are read
    for precision in PRECISIONS:
        alone, both = enclose(frozen, [one], precision), enclose(frozen, [one, other], precision)
        *layers, logits = alone.lost
        yield (
            f"{precision}",
            "yes" if alone.is_decided else "no",
            " ".join(f"{bits:.0f}" for bits in layers),
            f"{logits:.0f}",
            f"{alone.seconds:.1f}",
            f"{alone.seconds / tokens:.2f}",
            f"{both.seconds - alone.seconds:.1f}",
        )


def _prompts(vocabulary: int, tokens: int) -> tuple[Prompt, Prompt]:
    draw = random.Random(0)  # noqa: S311  # prompts, not secrets
    one, other = ([draw.randrange(vocabulary) for _ in range(tokens)] for _ in range(2))
    half = tokens // 2
    return tuple(one), (*one[: tokens - half], *other[tokens - half :])


def main() -> None:
    """Print the table of one model."""
    torch.set_num_threads(1)
    columns = (
        "bits",
        "decided",
        "bits lost after each layer",
        "of logits",
        "seconds",
        "a token",
        "another prompt, half shared",
    )
    named, tokens = sys.argv[1:2], int(sys.argv[2]) if sys.argv[2:] else 8
    with tempfile.TemporaryDirectory() as made:
        model = Path(named[0]) if named else Path(made) / "model"
        if not named:
            seeded = Transformer(small_gpt())
            initialise(seeded, seed=0, deviation=0.1)
            save_model(model, StoredModel(seeded, None))
        print_table(f"{model.name}, {tokens} tokens", columns, shown(rows(open_model(model), tokens)))


if __name__ == "__main__":
    main()
