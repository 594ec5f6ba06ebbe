"""The localisation frontier: edges kept against what a fresh gate says, its mistakes and its worst margin."""

from collections.abc import Collection, Sequence
from math import ceil, floor, log10
from typing import TYPE_CHECKING

from circuitproof_lab.figures.style import COLOURS, GREY, WIDTH, Drawing, legend_below, legible, orders_axis
from circuitproof_lab.records.gate import FrontierPoint, GateOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SHAPES = ("o", "s", "^", "D", "v", "P")
_APART = 0.026
"""By which share of the axis the marks of generations stand apart: equal ones must not hide each other."""
_LABEL = 0.09
"""The share of an axis that the label of a count takes."""
_KEY = (
    "ring: selected before its gate was opened; dotted: the most important edges alone; "
    "equal counts stand side by side"
)


def draw_frontier(trials: Sequence[GateOutcome]) -> Drawing:
    """Return a column per task; where nothing is missed, the margins below still tell circuits apart."""
    tasks = tuple(dict.fromkeys(trial.task for trial in trials))
    width = max(WIDTH * 0.6, 3.3 * len(tasks))
    return Drawing(width, 4.2, lambda figure: _paint(figure, tasks, trials))


def _paint(figure: "Figure", tasks: tuple[str, ...], trials: Sequence[GateOutcome]) -> None:
    from matplotlib.ticker import FixedLocator

    panels = figure.subplots(2, len(tasks), squeeze=False, sharex="col", sharey="row")
    generations = tuple(dict.fromkeys(trial.generation for trial in trials))
    counts = {
        len(one.circuit) for trial in trials for one in (*trial.points, *trial.nested) if len(one.circuit)
    }
    reach = max(counts) / min(counts)
    for (missed, margin), task in zip(panels.T, tasks, strict=True):
        for trial in trials:
            if trial.task == task:
                place = generations.index(trial.generation)
                aside = reach ** (_APART * (place - (len(generations) - 1) / 2))
                _series(missed, trial, place, aside, is_missed=True)
                _series(margin, trial, place, aside, is_missed=False)
        margin.axhline(0, color=GREY, linewidth=0.8)
        missed.set_title(legible(task))
        margin.set_xlabel("edges kept")
    _scale(panels[0][0], panels[1][0], trials)
    for axes in panels.flat:
        orders_axis(axes, FixedLocator(apart(counts)))
        axes.grid(visible=True)
    legend_below(figure, panels[0][0], min(len(generations), 4))
    figure.suptitle(_KEY, fontsize=7, color=GREY)


def _series(axes: "Axes", trial: GateOutcome, place: int, aside: float, *, is_missed: bool) -> None:
    def spots(points: Sequence[FrontierPoint]) -> tuple[list[float], list[float]]:
        ranked = sorted(points, key=lambda point: len(point.circuit))
        gates = [point.gate for point in ranked]
        heights = [gate.prompts - gate.agreed if is_missed else gate.worst_margin for gate in gates]
        return [len(point.circuit) * aside for point in ranked], heights

    colour, shape = COLOURS[place % len(COLOURS)], _SHAPES[place % len(_SHAPES)]
    label = f"{legible(trial.generation)}: {trial.trial.gate.prompts} fresh prompts"
    axes.plot(*spots(trial.nested), ":", color=colour, marker=".", markersize=3, linewidth=0.9)
    parted = {"markeredgecolor": "white", "markeredgewidth": 0.5}
    axes.plot(*spots(trial.points), shape, color=colour, markersize=5.2, label=label, **parted)
    chosen = spots([trial.trial])
    axes.scatter(*chosen, s=60, facecolors="none", edgecolors=colour, zorder=3)


def _scale(missed: "Axes", margin: "Axes", trials: Sequence[GateOutcome]) -> None:
    """Give both rows an axis that shows zero and sizes of all orders."""
    gates = [point.gate for trial in trials for point in (*trial.points, *trial.nested)]
    most = max(1, *(gate.prompts - gate.agreed for gate in gates))
    _orders_axis(missed, 0, most, 1)
    missed.set_ylabel("gate prompts missed")
    sizes = sorted(abs(gate.worst_margin) for gate in gates if gate.worst_margin) or [1.0]
    least = 10.0 ** floor(log10(sizes[len(sizes) // 2] / 2))
    margins = [gate.worst_margin for gate in gates]
    _orders_axis(margin, min(0, *margins), max(0, *margins), least)
    margin.set_ylabel("worst margin on the gate")


def _orders_axis(axes: "Axes", low: float, high: float, least: float) -> None:
    """Show zero, and on both sides every order of magnitude from a least size on, as far as is needed."""
    from matplotlib.ticker import FixedLocator, StrMethodFormatter

    axes.set_yscale("symlog", linthresh=least)
    axes.set_ylim(2 * low if low < -least else low - least / 2, 2 * high if high > least else 2 * least)
    orders = [least * 10**place for place in range(1 + max(0, ceil(log10(max(high, -low, least) / least))))]
    axes.yaxis.set_major_locator(FixedLocator([*(-one for one in orders), 0, *orders]))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.minorticks_off()


def apart(counts: Collection[int]) -> list[int]:
    """Return those of some counts whose labels do not touch on an axis of orders of magnitude.

    >>> apart({1, 2, 24, 25, 26})
    [1, 2, 24]
    """
    ranked = sorted(counts)
    gap = (ranked[-1] / ranked[0]) ** _LABEL
    kept = ranked[:1]
    for count in ranked:
        if count > kept[-1] * gap:
            kept.append(count)
    return kept
