"""Commands that make a model and look at it."""

from pathlib import Path
from typing import Annotated

import typer

from circuitproof.cli.options import AsJson, CircuitFiles, ModelPath, TaskNames
from circuitproof.text.codec import to_json


def train(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE", help="A recipe file.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option("--out", help="The run's folder. [default: build/NAME]", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Train the model of a recipe; an interrupted run goes on where it stopped."""
    from circuitproof.cli.show import progress, show_json, show_note
    from circuitproof.lab.runs.recipe import load_recipe
    from circuitproof.lab.runs.training import MODEL, train_recipe
    from circuitproof.lab.train.loop import Evaluation, Watcher

    loaded = load_recipe(recipe)
    folder = out or Path("build") / loaded.name
    evaluations: list[Evaluation] = []
    with progress(f"training {loaded.name}", loaded.plan.steps) as bar:
        task = bar.task_ids[0]
        watcher = Watcher(
            on_step=lambda step, loss: bar.update(task, completed=step, note=f"loss {loss:.4f}"),
            on_evaluation=evaluations.append,
        )
        train_recipe(loaded, folder, watcher)
        bar.update(task, completed=loaded.plan.steps)
    if as_json:
        show_json({"model": str(folder / MODEL), "evaluations": to_json(evaluations)})
    else:
        show_note(f"{folder / MODEL} holds the trained model")


def evaluate(
    model: ModelPath, task: TaskNames = None, circuit: CircuitFiles = None, as_json: AsJson = False
) -> None:
    """Run a model and circuits of it on tasks: how many prompts are right, and by what margin (in floats)."""
    from circuitproof.cli.show import show_json, show_table
    from circuitproof.lab.runs.evaluation import evaluate as evaluate_model

    rows = evaluate_model(model, task or [], circuit or [])
    if as_json:
        show_json([row.to_json() for row in rows])
        return
    lines = [
        (
            row.task,
            row.circuit,
            f"{row.edges}",
            f"{row.score.right}/{row.score.prompts}",
            f"{row.score.worst_margin:.4f}",
        )
        for row in rows
    ]
    show_table(f"{model}, measured in FP32", ("task", "circuit", "edges#", "right#", "worst margin#"), lines)
