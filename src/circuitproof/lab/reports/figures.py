"""Figures without a screen: made from data, written as PNG, the same bytes for the same data."""

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from circuitproof.errors import InputError
from circuitproof.text.canonical import refuse_unwritable, write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def refuse_undrawable(path: Path | None) -> None:
    """Refuse, before any work, a figure that could not be drawn after it; none is no matter."""
    if path is not None:
        if path.is_dir():
            raise InputError(f"{path} is a folder, want the name of a PNG; choose another place")
        refuse_unwritable(path)
        new_figure(1, 1)


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure of a size in inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError("figures need the package matplotlib; install the report extra") from error
    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: "Figure", path: Path) -> None:
    """Write a figure as PNG."""
    content = BytesIO()
    figure.savefig(content, format="png", dpi=150)
    write_file(path, content.getvalue())
