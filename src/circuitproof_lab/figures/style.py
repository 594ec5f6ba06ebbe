"""One look for all figures: sizes for print, colours that everybody tells apart, the same bytes each time."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from circuitproof.errors import InputError, UsageError
from circuitproof.files.canonical import refuse_unwritable, write_file
from circuitproof.files.printing import shown_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import Locator
    from matplotlib.typing import RcKeyType

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Those of Okabe and Ito, which differ in lightness too: blue, vermilion, green, purple, orange, sky."""
GREY, PALE, INK = "#7A7A7A", "#E3E3E3", "#1A1A1A"
WIDTH = 6.5
"""The width of a page's text, in inches."""
_FONT = "DejaVu Sans"
"""Comes with matplotlib, so that texts have the same size everywhere."""
_SETTINGS: "Mapping[RcKeyType, object]" = {
    "font.family": [_FONT],
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.axisbelow": True,
    "grid.color": PALE,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.2,
    "hatch.linewidth": 0.6,
    "text.parse_math": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "circuitproof",
}
_FORMATS: Mapping[str, Mapping[str, None]] = {".png": {"Software": None}, ".svg": {"Date": None}}
"""The kinds of files, and what must not be written into them: it changes with the day or the version."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """What is to be drawn on a figure of so many inches."""

    width: float
    height: float
    paint: Callable[["Figure"], None]


def refuse_undrawable(path: Path | None) -> None:
    """Refuse, before any work, a figure that could not be drawn after it; none is no matter."""
    if path is not None:
        if path.is_dir():
            raise InputError(f"{path} is a folder, want the name of a figure; choose another place")
        if path.suffix not in _FORMATS:
            raise UsageError(f"{path} is no name of a figure: want one that ends in .png or .svg")
        refuse_unwritable(path)
        with _look():
            pass


def write_drawing(drawing: Drawing, *paths: Path) -> None:
    """Draw once, and write a PNG or an SVG, as each name ends."""
    with _look():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(drawing.width, drawing.height), layout="constrained")
        drawing.paint(figure)
        for path in paths:
            content, kind = BytesIO(), path.suffix
            figure.savefig(content, format=kind[1:], dpi=200, metadata=dict(_FORMATS[kind]))
            write_file(path, content.getvalue())


@contextmanager
def _look() -> Iterator[None]:
    """Draw as said above, whatever the user's own settings of matplotlib are."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise InputError("figures need the package matplotlib; install the report extra") from error
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        yield


def canvas(figure: "Figure") -> "Axes":
    """Return an empty canvas of the figure's size, one unit an inch, for what is no plot."""
    figure.set_layout_engine("none")
    width, height = figure.get_size_inches()
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(0, height))
    axes.axis("off")
    return axes


def centred(axes: "Axes", x: float, y: float, text: str, **look: Any) -> None:  # noqa: ANN401  # what matplotlib takes
    """Write a text around a point."""
    axes.text(x, y, text, ha="center", va="center", **look)


def orders_axis(axes: "Axes", locator: "Locator") -> None:
    """Let the horizontal axis show orders of magnitude, with plain numbers where a locator says."""
    from matplotlib.ticker import NullLocator, StrMethodFormatter

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))


def legible(text: str, most: int = 40) -> str:
    """Return untrusted text on one line, with signs spelled out that the font does not have."""
    known = _signs()
    return "".join(sign if ord(sign) in known else f"\\u{ord(sign):04x}" for sign in shown_text(text, most))


@cache
def _signs() -> frozenset[int]:
    from matplotlib.font_manager import findfont, get_font

    return frozenset(get_font(findfont(_FONT)).get_charmap())


def legend_below(figure: "Figure", axes: "Axes", columns: int) -> None:
    """Put the legend of one panel, each label once, below all of them, where it hides nothing."""
    handles, labels = axes.get_legend_handles_labels()
    shown = dict(zip(labels, handles, strict=True))
    figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=columns)
