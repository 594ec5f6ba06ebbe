"""The command that trains a model."""

from typing import Annotated

from typer import Option

from circuitproof.cli.options import AsJson, DeviceOption, RecipeFile, RunFolderOption, run_folder
from circuitproof.cli.show import progress, show_note, show_result, steps_on
from circuitproof.files.devices import DeviceChoice


def train(
    recipe: RecipeFile,
    out: RunFolderOption = None,
    seed: Annotated[
        int | None, Option("--seed", min=0, max=2**32 - 1, help="In place of the recipe's seed.")
    ] = None,
    device: DeviceOption = DeviceChoice.CPU,
    as_json: AsJson = False,
) -> None:
    """Train the model of a recipe; an interrupted run goes on where it stopped.

    Started by torchrun, the processes share every batch: as many pieces as there are of them, or a multiple.
    On cuda each of them takes a device of its own.
    """
    from circuitproof.nn.devices import device_of
    from circuitproof_lab.pipeline.recipe import load_recipe, with_seed
    from circuitproof_lab.pipeline.stages.train import MODEL, train_recipe
    from circuitproof_lab.train.loop import Watcher
    from circuitproof_lab.train.measures import Evaluation
    from circuitproof_lab.train.workers import joined

    loaded, where = load_recipe(recipe), device_of(device)
    if seed is not None:
        loaded = with_seed(loaded, seed)
    folder = run_folder(out, loaded.name)
    evaluations: list[Evaluation] = []
    with joined() as workers, progress(f"training {loaded.name}", loaded.plan.steps) as bar:
        watcher = Watcher(steps_on(bar, loaded.tokens_per_step), evaluations.append)
        train_recipe(loaded, folder, watcher, device=where)
        bar.update(bar.task_ids[0], completed=loaded.plan.steps)
    if workers.is_first:
        told = {"model": folder / MODEL, "evaluations": evaluations}
        show_result(told, lambda _: show_note(f"{folder / MODEL} holds the trained model"), as_json=as_json)
