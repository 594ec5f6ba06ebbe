"""The command that draws figures of runs and bundles."""

from pathlib import Path
from typing import Annotated

from typer import Argument

from circuitproof.cli.options import AsJson, Out
from circuitproof.cli.show import show_json, show_line
from circuitproof.files.replacing import Folder


def figures(
    paths: Annotated[
        list[Path], Argument(metavar="RUN...", help="Run folders, bundles, files of cost --json.")
    ],
    out: Annotated[Out, Folder("folder of figures", ("*.svg", "*.png"))],
    as_json: AsJson = False,
) -> None:
    """Draw every figure that runs and bundles give, as SVG and PNG, and say which are not there and why."""
    from circuitproof_lab.figures.gallery import write_figures

    found = write_figures(paths, out)
    if as_json:
        show_json(found)
        return
    for one in found:
        if one.name is not None:
            show_line(f"{out / one.name}.svg and .png: the {one.kind} of {one.about}")
    for one in found:
        if one.name is None:
            show_line(f"no {one.kind} of {one.about}: {one.reason}")
