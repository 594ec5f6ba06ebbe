"""The command that builds artifacts whose circuits can be proved."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option

from circuitproof.cli.options import AsJson, DeviceOption, RunFolderOption, drawing_of, run_folder
from circuitproof.cli.show import show_json, show_line, show_note, show_said, show_table
from circuitproof.files.devices import DeviceChoice
from circuitproof.files.replacing import OneFile

if TYPE_CHECKING:
    from circuitproof_lab.pipeline.construction import Artifact


def construct(  # noqa: PLR0913, PLR0917  # a run has these parts
    recipe: Annotated[Path, Argument(metavar="RECIPE", help="A construction.")],
    out: RunFolderOption = None,
    base: Annotated[Path | None, Option("--base", help="A model directory to build on instead.")] = None,
    figure: Annotated[Path | None, drawing_of("lesions"), OneFile()] = None,
    device: DeviceOption = DeviceChoice.CPU,
    as_json: AsJson = False,
) -> None:
    """Install programs in a model, calibrate only their readouts, audit, prove and bundle; resumable."""
    from circuitproof.nn.devices import device_of
    from circuitproof.proof.verdict import EXIT_CODES, worst
    from circuitproof_lab.figures.gallery import states_in
    from circuitproof_lab.figures.lesions import draw_lesions, ladder_panels
    from circuitproof_lab.figures.style import refuse_undrawable, write_drawing
    from circuitproof_lab.pipeline.construction import construct as build
    from circuitproof_lab.pipeline.construction_recipe import load_construction

    refuse_undrawable(figure)
    loaded = load_construction(recipe, base)
    folder = run_folder(out, loaded.name)
    where = device_of(device)
    found = build(loaded, folder, lambda stage: show_note(f"{loaded.name}: {stage}"), where)
    if figure is not None:
        write_drawing(draw_lesions(ladder_panels(states_in(folder))), figure)
    if as_json:
        show_json(found)
    else:
        for artifact in found:
            _show(artifact)
    raise Exit(EXIT_CODES[worst([artifact.proof.verdict for artifact in found])])


def _show(artifact: "Artifact") -> None:
    from circuitproof.reports.answers import answers_table

    rows = [
        (
            f"{state.name}{' *' if state.name == artifact.record else ''}",
            f"{state.audit.model}",
            f"{state.audit.circuit}",
            f"{state.audit.without_heads}",
            ", ".join(map(str, state.audit.circuit_without_each)),
            f"{state.audit.without_circuit}",
            f"{state.radius:.4f}",
            "" if state.losses is None else f"{state.losses.model:.4f}",
            "yes" if state.passes else "no",
        )
        for state in artifact.states
    ]
    audited = ("model#", "circuit#", "heads silenced#", "circuit, each silenced#", "no circuit#")
    columns = ("state", *audited, f"worst {artifact.states[0].aim}#", "loss#", "passes")
    count = artifact.states[0].audit.prompts
    show_table(f"{artifact.task}: right of {count} prompts, in FP32; * is the model of record", columns, rows)
    proof, claim = artifact.proof, artifact.proof.battery.claim
    title = f"{artifact.task}: {len(claim.circuit)} of {proof.declared_edges} declared edges, {proof.verdict}"
    show_said(answers_table(title, proof.battery))
    measures = artifact.measures
    ratio = proof.seconds / measures.forward_seconds
    show_line(f"{claim.task.size} prompts in {proof.battery.cells} cells")
    show_line(
        f"verified in {proof.seconds:.2f} s, {ratio:.2f} times one float forward of the circuit "
        "over all prompts"
    )
    show_line(f"largest error of a float logit {measures.float_error:.2e}")
    show_line(
        f"{measures.anchors} anchors evaluated alone gave the same logits, tracing {measures.signs} signs"
    )
    show_line(f"{artifact.model} holds the artifact, {proof.bundle} the bundle")
