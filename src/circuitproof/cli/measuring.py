"""The command that runs a model and circuits of it in floats."""

from circuitproof.cli.options import Ablated, AsJson, CircuitFiles, DeviceOption, ModelOption, Tasks
from circuitproof.cli.show import show_json, show_table
from circuitproof.files.devices import DeviceChoice


def evaluate(  # noqa: PLR0913, PLR0917  # what is run on what, and where
    model: ModelOption,
    task: Tasks,
    circuit: CircuitFiles = None,
    ablation: Ablated = None,
    device: DeviceOption = DeviceChoice.CPU,
    as_json: AsJson = False,
) -> None:
    """Run a model and circuits of it on tasks: how many prompts are right, and by what margin (in floats)."""
    from circuitproof.nn.devices import device_of
    from circuitproof.nn.evaluation import evaluate as evaluate_model

    rows = evaluate_model(model, task, circuit or [], ablation, device_of(device))
    if as_json:
        show_json(rows)
        return
    lines = [
        (
            row.task,
            row.circuit,
            f"{row.edges}",
            row.ablation or "none cut",
            f"{row.score.right}/{row.score.prompts}",
            f"{row.score.worst_margin:.4f}",
        )
        for row in rows
    ]
    columns = ("task", "circuit", "edges#", "ablation", "right#", "worst margin#")
    show_table(f"{model}, measured in FP32", columns, lines)
