"""What variants cost, as a figure: how far each is from the first, beside what the paper reports."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from circuitproof.lab.reports.figures import new_figure, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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


def draw_changes(panels: Sequence[Changes], path: Path) -> None:
    """Write a PNG with one panel per measure; a line over a bar spans the seeds."""
    figure = new_figure(6.2 * len(panels), 3.8)
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        _draw(axes, panel)
    save_figure(figure, path)


def _draw(axes: "Axes", panel: Changes) -> None:
    places = range(len(panel.bars))
    means = [bar.mean for bar in panel.bars]
    spread = [[bar.mean - bar.least for bar in panel.bars], [bar.most - bar.mean for bar in panel.bars]]
    axes.barh([place - _HEIGHT / 2 for place in places], means, _HEIGHT, xerr=spread, capsize=3, label="here")
    told = [(place + _HEIGHT / 2, bar.paper) for place, bar in enumerate(panel.bars) if bar.paper is not None]
    if told:
        axes.barh([place for place, _ in told], [paper for _, paper in told], _HEIGHT, label="paper, GPT-2")
    axes.set_yticks(places, [bar.label for bar in panel.bars], fontsize=8)
    axes.invert_yaxis()
    axes.axvline(0, color="grey", linewidth=0.8)
    axes.set_title(panel.title, fontsize=10)
    axes.legend(frameon=False, fontsize=8)
