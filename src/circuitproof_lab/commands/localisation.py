"""The command that finds circuits by a protocol of gates, and the one that reads a ledger."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option

from circuitproof.cli.options import AsJson, DeviceOption, RunFolderOption, drawing_of, run_folder
from circuitproof.cli.show import show_json, show_line, show_note, show_result, show_said, show_table
from circuitproof.files.devices import DeviceChoice
from circuitproof.files.replacing import Continued, OneFile

if TYPE_CHECKING:
    from circuitproof_lab.pipeline.localisation import Localisation


def localise(  # noqa: PLR0913, PLR0917  # a run has these parts
    recipe: Annotated[Path, Argument(metavar="RECIPE", help="A protocol.")],
    out: RunFolderOption = None,
    ledger: Annotated[
        Path | None,
        Option("--ledger", help="A ledger to share with other runs. [default: one in the run's folder]"),
        Continued(),
    ] = None,
    figure: Annotated[Path | None, drawing_of("frontier"), OneFile()] = None,
    device: DeviceOption = DeviceChoice.CPU,
    as_json: AsJson = False,
) -> None:
    """Extract circuits, open each generation's gate once, and prove what is left; runs can be resumed."""
    from circuitproof.nn.devices import device_of
    from circuitproof.proof.verdict import EXIT_CODES
    from circuitproof_lab.figures.frontier import draw_frontier
    from circuitproof_lab.figures.gallery import trials_in
    from circuitproof_lab.figures.style import refuse_undrawable, write_drawing
    from circuitproof_lab.pipeline.localisation import localise as run
    from circuitproof_lab.pipeline.protocol import load_protocol

    refuse_undrawable(figure)
    protocol = load_protocol(recipe)
    folder = run_folder(out, protocol.name)
    where = device_of(device)
    found = run(protocol, folder, ledger, lambda stage: show_note(f"{protocol.name}: {stage}"), where)
    if figure is not None:
        write_drawing(draw_frontier(trials_in(folder)), figure)
    show_result(found, _show, as_json=as_json)
    raise Exit(EXIT_CODES[found.verdict])


def ledger(
    file: Annotated[Path, Argument(metavar="LEDGER", help="A ledger file.")],
    head: Annotated[str | None, Option("--head", help="A line's digest that must be there.")] = None,
    as_json: AsJson = False,
) -> None:
    """Check a ledger's chain and list what was declared, looked at, burned and measured."""
    from circuitproof.errors import InputError, InvalidError
    from circuitproof.files.canonical import Digest
    from circuitproof_lab.pipeline.ledger import Ledger

    if not file.exists():
        raise InputError(f"cannot read {file}: there is no such ledger")
    opened = Ledger(file)
    if not opened.entries():
        raise InvalidError(f"{file} is empty, and a ledger begins with a declaration: it is no ledger")
    if head is not None:
        opened.require(Digest(head))
    if as_json:
        show_json(opened.entries())
        return
    for entry in opened.entries():
        show_line(f"{str(entry.digest)[:12]}  {entry.event.words()}")
    show_line(f"{len(opened.entries())} lines, unbroken")


def _show(found: "Localisation") -> None:
    from circuitproof.reports.answers import answers_table

    rows = [
        (
            outcome.generation,
            outcome.task,
            outcome.trial.origin,
            f"{len(outcome.trial.circuit)}",
            f"{outcome.trial.development.agreed}/{outcome.trial.development.prompts}",
            f"{outcome.trial.gate.agreed}/{outcome.trial.gate.prompts}",
            f"{len(outcome.apart)}",
            f"{outcome.trial.gate.worst_margin:.4f}",
        )
        for outcome in found.outcomes
    ]
    columns = ("generation", "task", "found by", "edges#", "development#", "gate#", "apart#", "worst margin#")
    show_table("the circuits selected before each gate was opened, measured in FP32", columns, rows)
    show_line("apart are prompts of the gate that the model itself decides wrong")
    others = sum(len(outcome.points) + len(outcome.nested) - 1 for outcome in found.outcomes)
    show_line(f"{others} other circuits were measured: --json and circuitproof report have them")
    for proof in found.proofs:
        claim = proof.battery.claim
        title = (
            f"{claim.task.name}: {proof.declared_edges} edges selected, {len(claim.circuit)} after trimming, "
            f"on all {claim.task.size} prompts looked at"
        )
        show_said(answers_table(title, proof.battery))
    show_line(f"the ledger's last line is {found.ledger_head}")
