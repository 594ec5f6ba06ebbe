"""What a step of training costs each variant of the language model, and one that begins without norms.

Random tokens, the variants' own sizes, one thread, in processor seconds because a machine may be shared; the
median of several steps after the first. The last column is how many times that is paid where the memory that
a step frees goes back to the system.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

import torch

from circuitproof.declare.architecture import Architecture
from circuitproof.declare.operators import NoNorm
from circuitproof.lab.model.transformer import Transformer, initialise
from circuitproof.lab.runs.variants_recipe import load_variants_recipe
from circuitproof.lab.train.adamw import AdamW
from circuitproof.lab.train.memory import freed_memory_kept
from circuitproof.lab.train.windows import next_token_loss
from timing import print_table

RECIPE = load_variants_recipe(Path(__file__).parents[1] / "recipes" / "code-lm-variants.toml")
_PROMPTS, _STEPS = 32, 7
TOKENS = _PROMPTS * RECIPE.base.architecture.context
"""How many a step sees."""


def step_seconds(architecture: Architecture, clock: Callable[[], float] = time.process_time) -> float:
    """Return what a step costs a model that was just initialised, by a clock."""
    model = Transformer(architecture)
    initialise(model, seed=0, deviation=RECIPE.base.plan.initial_deviation)
    optimizer = AdamW(model.parameters(), RECIPE.base.plan.learning_rate)
    tokens = torch.randint(architecture.vocabulary, (_PROMPTS, architecture.context + 1))
    seconds: list[float] = []
    for _ in range(_STEPS):
        start = clock()
        optimizer.forget_gradients()
        next_token_loss(model(tokens[:, :-1]), tokens[:, 1:]).backward()
        optimizer.step()
        seconds.append(clock() - start)
    return median(seconds[1:])


def architectures() -> dict[str, Architecture]:
    """Return the variants by name, and the sources' operators without any norm."""
    found = {variant.name: RECIPE.recipe_of(variant, seed=1).architecture for variant in RECIPE.variants}
    plain = {
        f"no norm, {one.attention}": replace(one, norm=NoNorm())
        for one in (found["baseline"], found["sparsemax, LeakyReLU, LayerNorm"])
    }
    return found | plain


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    returned = {name: step_seconds(architecture) for name, architecture in architectures().items()}
    with freed_memory_kept():
        kept = {name: step_seconds(architecture) for name, architecture in architectures().items()}
    first = kept["baseline"]
    rows = [
        (
            name,
            f"{seconds:.2f}",
            f"{TOKENS / seconds:,.0f}",
            f"{seconds / first:.2f}",
            f"{returned[name] / seconds:.2f}",
        )
        for name, seconds in kept.items()
    ]
    columns = ("variant", "CPU seconds", "tokens a CPU second", "times the baseline", "freed memory returned")
    print_table("one step of training", columns, rows)


if __name__ == "__main__":
    main()
