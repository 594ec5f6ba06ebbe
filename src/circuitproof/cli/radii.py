"""The command that measures how robust decisions are."""

import typer

from circuitproof.cli.options import AsJson, At, CircuitFile, Deadline, ModelPath, Parts, Perturbed, TaskName
from circuitproof.cli.pacing import paced
from circuitproof.cli.show import show_result, show_told
from circuitproof.prove.effort import Effort


def radius(  # noqa: PLR0913, PLR0917  # a radius has these parts
    model: ModelPath,
    task: TaskName,
    circuit: CircuitFile = None,
    at: At = "logits input",
    positions: Perturbed = "last",
    budget: Parts = 5_000,
    deadline: Deadline = None,
    as_json: AsJson = False,
) -> None:
    """Find how large a perturbation must be to change each decision: exactly, or between proved bounds."""
    from circuitproof.lab.runs.radii import find_radii
    from circuitproof.lab.runs.verification import Place

    with paced(deadline, as_json=as_json) as pace:
        effort = Effort(budget=budget, pace=pace)
        found = find_radii(model, task, circuit, Place(at, positions), effort)
    show_result(found, show_told, as_json=as_json)
    raise typer.Exit(found.exit_code)
