"""How the answers to a claim look, on listed prompts or on a pattern."""

from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

if TYPE_CHECKING:
    from circuitproof.lab.runs.verification import Request, Verification
    from circuitproof.prove.patterns.frontier import FailingCell, FailingChoice, Frontier

_CELLS_SHOWN = 8


def show_answers_to(
    request: "Request", out: Path | None, deadline: float | None, *, as_json: bool
) -> NoReturn:
    """Answer a request, print the answers, and end with the verdict's exit code."""
    from circuitproof.cli.pacing import paced
    from circuitproof.cli.show import show_json, show_note
    from circuitproof.lab.runs.verification import Unmeasured, verify
    from circuitproof.prove.verdict import EXIT_CODES
    from circuitproof.text.locked import claimed

    with claimed(out), paced(deadline, as_json=as_json) as pace:
        found = verify(request.at(pace), out)
    if as_json:
        show_json(found.to_json())
    else:
        _show(found)
    if isinstance(found.floats, Unmeasured):
        show_note(f"no floats measured, which changes nothing of the answers: {found.floats.reason}")
    raise typer.Exit(EXIT_CODES[found.verdict])


def _show(found: "Verification") -> None:
    """Print the answers as a table, and beside them how much they say."""
    from circuitproof.cli.show import claim_title, show_answers, show_line
    from circuitproof.declare.tasks.domain import Domain
    from circuitproof.declare.tasks.pattern_text import print_pattern
    from circuitproof.lab.runs.verification import Floats
    from circuitproof.text.reading import scientific
    from circuitproof.view.counterexamples import counterexample_lines

    battery, task = found.battery, found.battery.claim.task
    show_answers(claim_title(battery.claim, found.verdict), battery)
    if isinstance(task.domain, Domain):
        ties = "not computed" if battery.ties is None else f"in {battery.cells} cells, {battery.ties} ties"
        show_line(f"{task.size} prompts {ties}")
    else:
        show_line(f"{scientific(task.size)} prompts: {print_pattern(task.domain)}")
        show_line(f"{battery.cells} cells computed in {found.seconds:.1f} s")
    if isinstance(found.floats, Floats):
        show_line(
            f"measured in floats: largest error of a logit {found.floats.error:.2e}; the circuit decides as "
            f"the model on {found.floats.agreement} of {task.size} prompts"
        )
    for one in found.counterexamples():
        for line in counterexample_lines(task, one):
            show_line(line)
    if found.frontier is not None:
        _show_frontier(found.frontier)


def _show_frontier(found: "Frontier") -> None:
    from circuitproof.cli.show import show_line
    from circuitproof.declare.tasks.pattern_text import print_pattern
    from circuitproof.prove.findings import shown
    from circuitproof.text.reading import scientific

    perturbed = "" if found.epsilon is None else f" after a perturbation of {found.epsilon}"
    if found.cells:
        show_line(f"{len(found.failing)} of {found.cells} cells fail{':' * bool(found.failing)}")
    for cell in found.failing[:_CELLS_SHOWN]:
        show_line(f"  {_place(cell)}: margin {shown(cell.margin)}{perturbed}")
    if not found.parts:
        show_line("no part of the pattern was found to be proved")
    proved = "proved" if found.epsilon is None else f"proved at {found.epsilon}"
    for part in found.parts:
        show_line(f"{proved} {part.what}: {scientific(part.size)} prompts, {print_pattern(part.pattern)}")


def _place(cell: "FailingCell | FailingChoice") -> str:
    from circuitproof.prove.patterns.frontier import FailingCell

    if isinstance(cell, FailingCell):
        return f"{cell.head} reads token {cell.token} at {cell.position}"
    return ", ".join(f"token {token} at {position}" for position, token in cell.tokens)
