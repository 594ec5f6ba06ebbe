"""Answering a claim on the command line, on listed prompts or on a pattern."""

from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

if TYPE_CHECKING:
    from circuitproof.lab.runs.verification import Request


def show_answers_to(
    request: "Request", out: Path | None, deadline: float | None, *, as_json: bool
) -> NoReturn:
    """Answer a request, print the answers, and end with the verdict's exit code."""
    from circuitproof.cli.keeping import kept
    from circuitproof.cli.pacing import paced
    from circuitproof.cli.show import show_note, show_told
    from circuitproof.lab.runs.verification import Unmeasured, verify
    from circuitproof.prove.verdict import EXIT_CODES
    from circuitproof.text.locked import claimed

    with claimed(out), paced(deadline, as_json=as_json) as pace:
        answered = kept(lambda: verify(request.at(pace), out))
    answered.show(lambda found: show_told(found.told()), as_json=as_json)
    found = answered.found
    if isinstance(found.floats, Unmeasured):
        show_note(f"no floats measured, which changes nothing of the answers: {found.floats.reason}")
    raise typer.Exit(EXIT_CODES[found.verdict])
