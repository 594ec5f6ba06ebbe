"""The command that tells exact logits, to compare with another forward."""

from typing import Annotated

from typer import Option

from circuitproof.cli.options import AsJson, CircuitFile, ModelPath
from circuitproof.cli.show import show_result, show_told


def logits(
    path: ModelPath,
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
    """Tell the exact logits after prompts, as rationals and as the nearest doubles.

    For example: circuitproof logits run/model --prompt "1 9 5" --prompt "1 10 6" --candidates "9 10"
    """
    from circuitproof.lab.runs.logits import find_logits

    asked = None if candidates is None else candidates.split()
    show_result(find_logits(path, prompt, circuit, asked), show_told, as_json=as_json)
