"""The localisation frontier as a figure: edges kept against the share of a gate that is missed."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from circuitproof.lab.reports.figures import new_figure, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CROWD = 8
"""With more different counts than this, their labels are turned."""
_SHAPES = ("o", "s", "^", "D", "v", "P")


@dataclass(frozen=True, slots=True)
class Mark:
    """One circuit in the figure."""

    edges: int
    missed: int
    prompts: int

    @property
    def percent(self) -> float:
        """Return the share of the gate that was decided otherwise than wanted."""
        return 100 * self.missed / self.prompts


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One generation of one task: the candidates of its sweep, and nested circuits for comparison."""

    generation: str
    task: str
    candidates: tuple[Mark, ...]
    nested: tuple[Mark, ...]
    selected: Mark


def draw_frontier(series: Sequence[Series], path: Path) -> None:
    """Write a PNG with one panel per task; a ring marks the circuit that the rule selected."""
    tasks = tuple(dict.fromkeys(one.task for one in series))
    figure = new_figure(5 * len(tasks), 3.8)
    for axes, task in zip(figure.subplots(1, len(tasks), squeeze=False)[0], tasks, strict=True):
        _draw_task(axes, [one for one in series if one.task == task])
        axes.set_title(task)
    save_figure(figure, path)


def _draw_task(axes: "Axes", series: Sequence[Series]) -> None:
    for place, one in enumerate(series):
        colour, shape = f"C{place}", _SHAPES[place % len(_SHAPES)]
        axes.plot(*_places(one.nested), ":", color=colour, alpha=0.7)
        axes.plot(*_places(one.candidates), shape, color=colour, label=_label(one), alpha=0.8)
        axes.scatter(*_places([one.selected]), s=140, facecolors="none", edgecolors=colour, zorder=3)
    axes.set(xlabel="edges kept", ylabel="gate prompts missed (%)", xscale="log")
    counts = sorted({mark.edges for one in series for mark in (*one.candidates, *one.nested)})
    axes.set_xticks(counts, [str(count) for count in counts], rotation=45 * (len(counts) > _CROWD))
    axes.minorticks_off()
    axes.set_ylim(-2, max(5, 1.1 * axes.get_ylim()[1]))
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, title="ring: selected; dotted: most important edges", title_fontsize="small")


def _places(marks: Sequence[Mark]) -> tuple[list[int], list[float]]:
    return [mark.edges for mark in marks], [mark.percent for mark in marks]


def _label(series: Series) -> str:
    return f"{series.generation} ({series.selected.prompts} fresh prompts)"
