"""What Python calls of the laboratory; nothing is printed."""

from collections.abc import Sequence

from circuitproof.api.arguments import PathLike, Progress, choice, needing_extras, paced, path_of
from circuitproof.api.declaring import Model, load_model
from circuitproof.files.devices import DeviceChoice
from circuitproof.tasks.task import Task


@needing_extras("train")
def train(
    recipe: PathLike,
    out: PathLike,
    *,
    tasks: Sequence[Task] = (),
    device: str = DeviceChoice.CPU,
    progress: Progress | None = None,
) -> Model:
    """Train the model of a recipe into the run folder `out`; an interrupted run goes on where it stopped.

    With `tasks` the training is that of the recipe on these, and the model has as many tokens as they name
    and reads prompts as long as theirs. `device` is where torch computes: "cpu", "cuda", "mps" or "auto".
    """
    from circuitproof.nn.devices import device_of
    from circuitproof_lab.pipeline.recipe import load_recipe, with_tasks
    from circuitproof_lab.pipeline.stages.train import MODEL, train_recipe
    from circuitproof_lab.train.loop import Watcher

    loaded, folder = load_recipe(path_of("recipe", recipe, "a recipe file")), path_of("out", out)
    asked = with_tasks(loaded, tasks) if tasks else loaded
    where, hear = device_of(choice("device", device, DeviceChoice)), paced(None, progress).hear
    watcher = Watcher(on_step=lambda step, _loss: hear("steps", step, asked.plan.steps))
    train_recipe(asked, folder, watcher, device=where)
    return load_model(folder / MODEL)
