"""The command that tells logits, exact or enclosed, to compare with another forward."""

from typing import Annotated

from typer import BadParameter, Option

from circuitproof.cli.options import AsJson, CircuitFile, ModelOption, PrecisionOption
from circuitproof.cli.show import printing, show_result
from circuitproof.proof.effort import Effort


def logits(  # noqa: PLR0913, PLR0917  # what is asked, in either spelling, and of what
    path: ModelOption,
    prompt: Annotated[
        list[str] | None,
        Option(
            "--prompt",
            help="Text, where the model has a tokenizer, and otherwise as --tokens; repeat for several.",
        ),
    ] = None,
    tokens: Annotated[
        list[str] | None,
        Option("--tokens", help="A prompt as tokens by name or number, between blanks; repeat for several."),
    ] = None,
    circuit: CircuitFile = None,
    candidates: Annotated[
        str | None,
        Option(
            "--candidates", help="Of which tokens, between blanks. [default: all; the ten largest are shown]"
        ),
    ] = None,
    position: Annotated[
        int, Option("--position", help="Where in each prompt: 0 the first, -1 the last.")
    ] = -1,
    precision: PrecisionOption = 512,
    as_json: AsJson = False,
) -> None:
    """Tell the logits after prompts: exactly, or where softmax, GELU or LayerNorm are used with a radius.

    Prompts given by --prompt come first. Enclosed logits are computed with ever more bits, up to --precision,
    until the radius is about that of a double.
    """
    from circuitproof.reports.results import logits_said
    from circuitproof.verbs.logits import find_logits

    if not prompt and not tokens:
        raise BadParameter("give a prompt: --prompt, or --tokens")
    prompts = [*(prompt or []), *(one.split() for one in tokens or [])]
    asked = None if candidates is None else candidates.split()
    found = find_logits(path, prompts, circuit, asked, Effort(precision=precision), position=position)
    show_result(found, printing(logits_said), as_json=as_json)
