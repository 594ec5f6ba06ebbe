"""How the answers to a claim look, on listed prompts or on a pattern."""

from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, assert_never

import typer

from circuitproof.prove.properties import Kind

if TYPE_CHECKING:
    from fractions import Fraction

    from circuitproof.lab.runs.symbolic import PatternVerification
    from circuitproof.lab.runs.verification import Request, Verification
    from circuitproof.prove.patterns.battery import SymbolicAnswer
    from circuitproof.prove.patterns.frontier import FailingCell, FailingChoice, Frontier

_CELLS_SHOWN = 8


def show_answers_to(request: "Request", out: Path | None, *, as_json: bool) -> NoReturn:
    """Answer a request, print the answers, and end with the verdict's exit code."""
    from circuitproof.cli.show import show_json
    from circuitproof.lab.runs.symbolic import PatternVerification
    from circuitproof.lab.runs.verification import Verification, verify
    from circuitproof.prove.verdict import EXIT_CODES

    found = verify(request, out)
    if as_json:
        show_json(found.to_json())
    match found:
        case Verification():
            _show_listed(found, is_told=as_json)
        case PatternVerification():
            if not as_json:
                _show_pattern(found)
        case _:
            assert_never(found)
    raise typer.Exit(EXIT_CODES[found.verdict])


def _show_listed(found: "Verification", *, is_told: bool) -> None:
    """Print the answers, unless they are told already, and what kept floats from being measured."""
    from circuitproof.cli.show import show_note, show_verification
    from circuitproof.lab.runs.verification import Unmeasured

    if not is_told:
        show_verification(found)
    if isinstance(found.floats, Unmeasured):
        show_note(f"no floats measured, which changes nothing of the answers: {found.floats.reason}")


def _show_pattern(found: "PatternVerification") -> None:
    from circuitproof.cli.show import claim_title, show_line, show_table
    from circuitproof.declare.tasks.pattern_text import print_pattern
    from circuitproof.text.reading import scientific

    battery = found.battery
    task = battery.claim.task
    rows = [_row(found, answer) for answer in battery.answers]
    title = claim_title(battery.claim, found.verdict)
    show_table(title, ("property", "verdict", "regions#", "seen"), rows)
    show_line(f"{scientific(task.size)} prompts: {print_pattern(task.pattern)}")
    show_line(f"{battery.cells} cells computed in {found.seconds:.1f} s")
    if found.frontier is not None:
        _show_frontier(found.frontier)


def _row(found: "PatternVerification", answer: "SymbolicAnswer") -> tuple[str, str, str, str]:
    from circuitproof.cli.show import property_name, with_remarks

    seen = with_remarks(_seen(found, answer), answer.remarks)
    return (property_name(answer.prop), answer.verdict, f"{answer.cells}", seen)


def _seen(found: "PatternVerification", answer: "SymbolicAnswer") -> str:
    """Say in a few words what an answer rests on."""
    from circuitproof.prove.patterns.evidence import IdleEdge, Open, shown

    if isinstance(answer.evidence, Open):
        return answer.evidence.reason
    if isinstance(answer.evidence, IdleEdge):
        return f"no prompt needs {list(found.battery.claim.circuit)[answer.evidence.edge]}"
    margin, radius = found.battery.worst_margin(answer), found.battery.least_radius(answer)
    if margin is not None:
        is_asked = radius is not None and answer.prop.kind is Kind.ROBUSTNESS
        least = "least" if found.battery.is_attained(answer) else "lower bound of the"
        return f"{least} margin {_short(margin)}" + (f", {least} radius {_short(radius)}" if is_asked else "")
    prompts = [found.battery.claim.task.text(replayed.prompt) for replayed in shown(answer.evidence)]
    return " and ".join(map(_cut, prompts[:2]))


def _show_frontier(found: "Frontier") -> None:
    from circuitproof.cli.show import show_line
    from circuitproof.declare.tasks.pattern_text import print_pattern
    from circuitproof.text.reading import scientific

    perturbed = "" if found.epsilon is None else f" after a perturbation of {found.epsilon}"
    if found.cells:
        show_line(f"{len(found.failing)} of {found.cells} cells fail{':' * bool(found.failing)}")
    for cell in found.failing[:_CELLS_SHOWN]:
        show_line(f"  {_place(cell)}: margin {_short(cell.margin)}{perturbed}")
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


def _short(value: "Fraction | None") -> str:
    """Return six digits of a number, which may lie outside the range of floats."""
    from decimal import Decimal

    if value is None:
        return "infinite"
    return f"{Decimal(value.numerator) / Decimal(value.denominator):.6g}"


def _cut(text: str) -> str:
    most = 160
    return text if len(text) <= most else f"{text[:most]}..."
