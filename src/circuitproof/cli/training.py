"""Commands that make a model and look at it."""

from pathlib import Path

from circuitproof.cli.options import Ablated, AsJson, CircuitFiles, ModelOption, RecipeFile, RunFolder, Tasks
from circuitproof.cli.show import progress, show_json, show_note, show_result, show_table, steps_on


def train(recipe: RecipeFile, out: RunFolder = None, as_json: AsJson = False) -> None:
    """Train the model of a recipe; an interrupted run goes on where it stopped.

    Started by torchrun, the processes share every batch: as many pieces as there are of them, or a multiple.
    """
    from circuitproof_lab.pipeline.recipe import load_recipe
    from circuitproof_lab.pipeline.stages.train import MODEL, train_recipe
    from circuitproof_lab.train.loop import Watcher
    from circuitproof_lab.train.measures import Evaluation
    from circuitproof_lab.train.workers import joined

    loaded = load_recipe(recipe)
    folder = out or Path("build") / loaded.name
    evaluations: list[Evaluation] = []
    with joined() as workers, progress(f"training {loaded.name}", loaded.plan.steps) as bar:
        watcher = Watcher(steps_on(bar, loaded.tokens_per_step), evaluations.append)
        train_recipe(loaded, folder, watcher)
        bar.update(bar.task_ids[0], completed=loaded.plan.steps)
    if workers.is_first:
        told = {"model": folder / MODEL, "evaluations": evaluations}
        show_result(told, lambda _: show_note(f"{folder / MODEL} holds the trained model"), as_json=as_json)


def evaluate(
    model: ModelOption,
    task: Tasks,
    circuit: CircuitFiles = None,
    ablation: Ablated = None,
    as_json: AsJson = False,
) -> None:
    """Run a model and circuits of it on tasks: how many prompts are right, and by what margin (in floats)."""
    from circuitproof.nn.evaluation import evaluate as evaluate_model

    rows = evaluate_model(model, task, circuit or [], ablation)
    if as_json:
        show_json(rows)
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
