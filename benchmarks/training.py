"""What a step of training costs the toy, each variant of the language model, and one without norms.

Random tokens, the models' own sizes, one thread, in processor seconds because a machine may be shared. Each
figure is the median of several processes, in which freed memory is kept or goes back to the system in turn;
a process gives the median of its steps after the first ones. `in AdamW` is the optimizer's share of a step,
the last column how many times a step is paid where the memory that it frees goes back.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from statistics import median

import torch

from circuitproof.models.architecture import Architecture
from circuitproof.models.operators import NoNorm
from circuitproof.nn.transformer import Transformer, initialise
from circuitproof_lab.pipeline.recipe import load_recipe
from circuitproof_lab.pipeline.variants_recipe import load_variants_recipe
from circuitproof_lab.train.memory import freed_memory_kept
from circuitproof_lab.train.windows import next_token_loss
from timing import print_table, shown

_RECIPES = Path(__file__).parents[1] / "recipes"
RECIPE = load_variants_recipe(_RECIPES / "code-lm-variants.toml")
_PROMPTS, _STEPS, _FIRST = 32, 9, 2
_TOY, _TOY_STEPS = "the toy", 300
TOKENS = _PROMPTS * RECIPE.base.architecture.context
"""How many a step of the language model sees."""
_ROUNDS = 3


def step_seconds(
    architecture: Architecture, clock: Callable[[], float] = time.process_time, steps: int = _STEPS
) -> tuple[float, float]:
    """Return what a step costs a model that was just initialised, by a clock, and the optimizer's part."""
    model = Transformer(architecture)
    initialise(model, seed=0, deviation=RECIPE.base.plan.initial_deviation)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RECIPE.base.plan.learning_rate)
    tokens = torch.randint(architecture.vocabulary, (_PROMPTS, architecture.context + 1))
    seconds: list[float] = []
    moving: list[float] = []
    for _ in range(steps):
        start = clock()
        optimizer.zero_grad()
        next_token_loss(model(tokens[:, :-1]), tokens[:, 1:]).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), RECIPE.base.plan.gradient_limit)
        before = clock()
        optimizer.step()
        moving.append(clock() - before)
        seconds.append(clock() - start)
    return median(seconds[_FIRST:]), median(moving[_FIRST:])


def architectures() -> dict[str, Architecture]:
    """Return the toy, the variants by name, and the sources' operators without any norm."""
    toy = {_TOY: load_recipe(_RECIPES / "toy.toml").architecture}
    found = {variant.name: RECIPE.recipe_of(variant, seed=1).architecture for variant in RECIPE.variants}
    plain = {
        f"no norm, {one.attention}": replace(one, norm=NoNorm())
        for one in (found["baseline"], found["sparsemax, LeakyReLU, LayerNorm"])
    }
    return toy | found | plain


def measured(name: str, freed: str) -> tuple[float, float]:
    """Return the seconds of a step and of its optimizer, in a process of its own."""
    command = (sys.executable, __file__, name, freed)
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603  # ourselves
    step, moving = map(float, done.stdout.split())
    return step, moving


def measure(name: str, freed: str) -> tuple[float, float]:
    """Return the same, measured in this process."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    steps = _TOY_STEPS if name == _TOY else _STEPS
    with freed_memory_kept() if freed == "kept" else nullcontext():
        return step_seconds(architectures()[name], steps=steps)


def row(name: str, architecture: Architecture) -> tuple[str, ...]:
    """Return what a step costs a model."""
    pairs = [(measured(name, "kept"), measured(name, "returned")) for _ in range(_ROUNDS)]
    step = median(kept for (kept, _), _ in pairs)
    moving = median(part for (_, part), _ in pairs)
    returned = median(back / kept for (kept, _), (back, _) in pairs)
    tokens = _PROMPTS * architecture.context
    return name, f"{step:.4f}", f"{tokens / step:,.0f}", f"{moving / step:.0%}", f"{returned:.2f}"


def main() -> None:
    """Print the table."""
    rows = shown(row(name, architecture) for name, architecture in architectures().items())
    columns = ("model", "CPU seconds", "tokens a CPU second", "in AdamW", "freed memory returned")
    print_table(f"one step of training, medians of {_ROUNDS}, {os.cpu_count()} cores", columns, rows)


if __name__ == "__main__":
    if sys.argv[1:]:
        print(*measure(*sys.argv[1:]))
    else:
        main()
