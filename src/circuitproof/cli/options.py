"""The options that several commands share, each spelled once."""

from pathlib import Path
from typing import Annotated

import typer

from circuitproof.verify.properties import Kind

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for programs.")]
ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="A model directory.", show_default=False)]
Out = Annotated[Path, typer.Option("--out", help="Where the result is written.", show_default=False)]
TaskNames = Annotated[
    list[str] | None,
    typer.Option("--task", help="A task by name; repeat for several. [default: all]", show_default=False),
]
CircuitFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--circuit",
        help="A circuit file in our spelling, the release's or EAP-IG's; repeat for several. "
        "[default: all edges, the most harmful single deletion, none]",
        show_default=False,
    ),
]
At = Annotated[
    str,
    typer.Option(
        "--at",
        help="Where to perturb: a node's input or output such as 'mlp 0 output', or a TransformerLens hook.",
    ),
]
Perturbed = Annotated[
    str, typer.Option("--positions", help="Which positions to perturb: last, all, or such as 0,3.")
]
Parts = Annotated[int, typer.Option("--budget", min=1, help="The most parts of a prompt's ball to look at.")]
ModelOption = Annotated[Path, typer.Option("--model", help="A model directory.", show_default=False)]
TaskName = Annotated[str, typer.Option("--task", help="A task by name.", show_default=False)]
CircuitFile = Annotated[Path | None, typer.Option("--circuit", help="A circuit file. [default: all edges]")]
Properties = Annotated[
    list[Kind] | None,
    typer.Option(
        "--property",
        help="What to claim; repeat for several. [default: equivalence, invariance, necessity, and with "
        "--epsilon robustness]",
        show_default=False,
    ),
]
Epsilon = Annotated[str | None, typer.Option("--epsilon", help="The size of perturbations, such as 1/100.")]
BundleOut = Annotated[Path | None, typer.Option("--out", help="Write the bundle here.", show_default=False)]
