"""The command about every prompt of a pattern: `verify` under an older name."""

from pathlib import Path
from typing import Annotated

import typer

from circuitproof.cli.options import (
    AsJson,
    BundleOut,
    CircuitFile,
    Epsilon,
    Limits,
    Listed,
    ModelOption,
    PatternText,
    Properties,
    Regions,
)


def verify_pattern(  # noqa: PLR0913, PLR0917  # a claim has these parts
    model: ModelOption,
    task: Annotated[Path, typer.Option("--task-file", help="A task file.", show_default=False)],
    pattern: PatternText = None,
    circuit: CircuitFile = None,
    properties: Properties = None,
    epsilon: Epsilon = None,
    limits: Limits = False,
    regions: Regions = 4096,
    listed: Listed = 1024,
    out: BundleOut = None,
    as_json: AsJson = False,
) -> None:
    """Prove or refute what a circuit does on every prompt of a pattern: the same as verify --task FILE."""
    from circuitproof.cli.answering import show_answers_to
    from circuitproof.lab.runs.verification import Request, parse_properties
    from circuitproof.prove.patterns.cover import Budget

    request = Request(
        model=model,
        circuit=circuit,
        task=str(task),
        properties=parse_properties(properties or [], epsilon),
        pattern=pattern,
        budget=Budget(regions, listed),
        find_limits=limits,
    )
    show_answers_to(request, out, as_json=as_json)
