"""All single-edge deletions of the toy graph on 128 prompts: one batch against one forward each."""

from pathlib import Path

import torch

from circuitproof.circuits.circuit import whole
from circuitproof.nn.decisions import score_circuits
from circuitproof.nn.transformer import Transformer, initialise
from circuitproof.tasks.quotes import toy_quotes
from circuitproof_lab.pipeline.recipe import load_recipe
from timing import median_seconds, print_table

RECIPE = Path(__file__).parent.parent / "recipes" / "toy.toml"


def main() -> None:
    """Print the table."""
    model = Transformer(load_recipe(RECIPE).architecture)
    initialise(model, seed=0, deviation=0.3)
    task = toy_quotes()
    lesions = whole(model.graph).lesions()
    prompts = torch.tensor(task.domain.prompts)

    def one_batch() -> None:
        score_circuits(model, task, lesions)

    def one_circuit_at_a_time() -> None:
        for circuit in lesions:
            score_circuits(model, task, [circuit])

    @torch.no_grad()
    def one_forward_per_prompt() -> None:
        for prompt in prompts:
            model(prompt[None], circuit=lesions[0])

    batch = median_seconds(one_batch)
    rows = [("one batch of circuits", len(lesions), 1, batch)]
    rows.append(("one circuit at a time", len(lesions), len(lesions), median_seconds(one_circuit_at_a_time)))
    every = len(lesions) * len(prompts)
    alone = median_seconds(one_forward_per_prompt, 1) * len(lesions)
    rows.append(("one prompt at a time (1 circuit, scaled)", len(lesions), every, alone))
    print_table(
        f"{len(lesions)} single-edge deletions on {len(prompts)} prompts",
        ("way", "circuits", "forwards", "seconds", "times the batch"),
        [(name, f"{a}", f"{b}", f"{time:.4f}", f"{time / batch:.1f}") for name, a, b, time in rows],
    )


if __name__ == "__main__":
    main()
