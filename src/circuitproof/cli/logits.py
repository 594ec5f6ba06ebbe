"""The command that tells exact logits, to compare with another forward."""

from typing import Annotated

from typer import Option

from circuitproof.cli.options import AsJson, CircuitFile, ModelOption
from circuitproof.cli.show import show_result, show_told


def logits(
    path: ModelOption,
    prompt: Annotated[
        list[str], Option("--prompt", help="Tokens by name or number, between blanks; repeat for several.")
    ],
    circuit: CircuitFile = None,
    candidates: Annotated[
        str | None,
        Option(
            "--candidates", help="Of which tokens, between blanks. [default: all; the ten largest are shown]"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Tell the exact logits after prompts, as rationals and as the nearest doubles."""
    from circuitproof.lab.runs.logits import find_logits

    asked = None if candidates is None else candidates.split()
    show_result(find_logits(path, prompt, circuit, asked), show_told, as_json=as_json)
