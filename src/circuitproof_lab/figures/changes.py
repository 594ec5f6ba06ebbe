"""What variants cost, as a figure: how far each is from the first, beside what the paper reports."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from circuitproof_lab.figures.style import COLOURS, GREY, WIDTH, Drawing, legend_below, legible
from circuitproof_lab.records.variants import VariantComparison, VariantRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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


def changes_of(found: VariantComparison) -> tuple[Changes, ...]:
    """Return a panel for each measure; the first variant is what the others are compared with."""
    first, *others = found.rows
    return tuple(
        Changes(f"{kind} above {first.name}", tuple(_bar(row, kind) for row in others))
        for kind in first.measures
    )


def _bar(row: VariantRow, kind: str) -> Bar:
    spread = row.changes[kind]
    return Bar(
        label=row.name,
        mean=spread.mean,
        least=spread.least,
        most=spread.most,
        paper=row.paper_changes.get(kind),
    )


def draw_changes(found: VariantComparison) -> Drawing | str:
    """Return one panel per measure, or why there is none; a line over a bar spans the seeds."""
    if not found.rows:
        return "no seed is measured with every variant yet; circuitproof variants goes on"
    panels = changes_of(found)
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
