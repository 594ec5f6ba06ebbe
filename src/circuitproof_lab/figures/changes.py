"""What variants cost, as a figure: how far each is from the first, beside what the paper reports."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from circuitproof.files.codec import Codec
from circuitproof.files.reading import Fields, read_fields
from circuitproof_lab.figures.style import COLOURS, GREY, WIDTH, Drawing, legend_below, legible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COMPARISON = "comparison.json"
"""The file in which a run of variants keeps its comparison."""
_HEIGHT = 0.38


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One variant: the mean change over seeds, the least and the most of them, and the paper's."""

    label: str
    mean: float
    least: float
    most: float
    paper: float | None


@dataclass(frozen=True, slots=True)
class Changes:
    """One panel of the figure: what has changed, and by how much in each variant."""

    title: str
    bars: tuple[Bar, ...]


def read_changes(path: Path) -> tuple[Changes, ...]:
    """Read the comparison that a run of variants wrote: loss, and perplexity on the second corpus."""
    fields = read_fields(path)
    rows = [Fields(row, f"{path}.variants[{place}]") for place, row in enumerate(fields.items("variants"))]
    first = rows[0].text("name")
    loss = [_bar(row, "loss_change", 0) for row in rows[1:]]
    perplexity = [_bar(row, "perplexity_change", 1) for row in rows[1:]]
    return (
        Changes(f"held-out loss above {first}", tuple(loss)),
        Changes(f"second corpus's perplexity above {first}", tuple(perplexity)),
    )


def _bar(row: Fields, key: str, place: int) -> Bar:
    paper = None
    if row.value("paper_change") is not None:
        paper = Codec().value(tuple[float, float], row, "paper_change")[place]
    return Codec().record(Bar, row.fields(key), label=row.text("name"), paper=paper)


def draw_changes(panels: Sequence[Changes]) -> Drawing:
    """Return one panel per measure; a line over a bar spans the seeds."""
    height = 1.2 + 0.42 * max(len(panel.bars) for panel in panels)
    return Drawing(WIDTH, height, lambda figure: _paint(figure, panels))


def _paint(figure: "Figure", panels: Sequence[Changes]) -> None:
    (row,) = figure.subplots(1, len(panels), squeeze=False, sharey=True)
    for axes, panel in zip(row, panels, strict=True):
        _draw(axes, panel)
    legend_below(figure, row[0], 2)


def _draw(axes: "Axes", panel: Changes) -> None:
    places = range(len(panel.bars))
    told = [(place + _HEIGHT / 2, bar.paper) for place, bar in enumerate(panel.bars) if bar.paper is not None]
    spread = [[bar.mean - bar.least for bar in panel.bars], [bar.most - bar.mean for bar in panel.bars]]
    has_spread = any(map(any, spread))
    axes.barh(
        [place - (_HEIGHT / 2 if bar.paper is not None else 0) for place, bar in enumerate(panel.bars)],
        [bar.mean for bar in panel.bars],
        _HEIGHT,
        xerr=spread if has_spread else None,
        error_kw={"elinewidth": 1, "capsize": 2.5},
        color=COLOURS[0],
        label="here; the line spans the seeds" if has_spread else "here, one seed",
    )
    if told:
        heights, papers = zip(*told, strict=True)
        look: dict[str, Any] = {"color": "white", "edgecolor": COLOURS[1], "hatch": "////"}
        axes.barh(heights, papers, _HEIGHT, label="the paper, GPT-2", **look)
    axes.set_yticks(places, [legible(bar.label) for bar in panel.bars])
    axes.set_ylim(len(panel.bars) - 0.5, -0.5)
    axes.axvline(0, color=GREY, linewidth=0.8)
    axes.grid(visible=True, axis="x")
    axes.tick_params(axis="y", length=0)
    axes.set_title(legible(panel.title, 60), fontsize=8)
