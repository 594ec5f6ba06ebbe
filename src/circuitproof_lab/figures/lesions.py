"""The causal audit as a figure: how many prompts are still decided right when something is taken away."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from circuitproof_lab.figures.style import INK, PALE, WIDTH, Drawing, centred, legible
from circuitproof_lab.records.audit import LADDER, MeasuredState
from circuitproof_lab.records.migration import PlacedLesion

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DARK = 0.65
"""From this share on a tile is so dark that its number is written in white."""
_ROUNDS = ("unhealed", "plain", "ablation_aware", "core_aware", "chase")
_CONDITIONS = (
    "model",
    "model without\nprograms",
    "model without\nleast missed",
    "circuit",
    "circuit without\nprograms",
    "circuit without\nleast missed",
)
"""What is right without the program that is least missed shows whether it is used."""


@dataclass(frozen=True, slots=True)
class Panel:
    """Rows of counts under named conditions, each of so many prompts; none where nothing was measured."""

    task: str
    conditions: tuple[str, ...]
    states: tuple[str, ...]
    right: tuple[tuple[int | None, ...], ...]
    prompts: int


def ladder_panels(states: Sequence[MeasuredState]) -> tuple[Panel, ...]:
    """Return a panel per artifact: each step of its construction, from the base on."""
    conditions = ("model", "circuit", "program heads\nsilenced", "circuit's\nedges gone")
    panels: list[Panel] = []
    ranked = sorted(states, key=lambda one: (one.task, _rank(one.name, LADDER)))
    for task, group in groupby(ranked, key=lambda one: one.task):
        names, audits = zip(*((one.name, one.audit) for one in group), strict=True)
        right = tuple((one.model, one.circuit, one.without_heads, one.without_circuit) for one in audits)
        panels.append(Panel(task, conditions, names, right, audits[0].prompts))
    return tuple(panels)


def _rank(name: str, order: Sequence[str]) -> int:
    """Return the place of a name in an order, or one behind all if it is not there."""
    return order.index(name) if name in order else len(order)


def migration_panels(lesions: Sequence[PlacedLesion]) -> tuple[Panel, ...]:
    """Return a panel per task: each round of healing, with all programs and with fewer."""
    panels: list[Panel] = []
    for task, group in groupby(sorted(lesions, key=_round), key=lambda one: one.task):
        rounds: dict[str, list[PlacedLesion]] = {}
        for one in group:
            rounds.setdefault(f"{one.place} ({one.fate})", []).append(one)
        prompts = next(iter(rounds.values()))[0].lesion.prompts
        panels.append(Panel(task, _CONDITIONS, tuple(rounds), tuple(map(_counts, rounds.values())), prompts))
    return tuple(panels)


def _round(lesion: PlacedLesion) -> tuple[str, str, int]:
    """Rank by task, by seed, and by the order in which rounds follow each other."""
    seed, _, name = lesion.place.rpartition("/")
    return lesion.task, seed, _rank(name, _ROUNDS)


def _counts(lesions: Sequence[PlacedLesion]) -> tuple[int | None, ...]:
    """Return what is right in model and circuit: with all programs, without any, without the least missed.

    Only programs that the circuit reads count: each of them was silenced alone in the circuit too.
    """
    found = [one.lesion for one in lesions]
    core = {one.silenced for one in found if one.where == "circuit" and len(one.silenced) == 1}
    counts: list[int | None] = []
    for where in ("model", "circuit"):
        here = {one.silenced: one.right for one in found if one.where == where}
        alone = [here[head] for head in core if head in here]
        counts += [here.get(()), here[max(here, key=len)], max(alone, default=None)]
    return tuple(counts)


def draw_lesions(panels: Sequence[Panel]) -> Drawing:
    """Return tiles: a row per state, a column per condition, the darker the more is right."""
    width = max(WIDTH * 0.7, 1.9 + 0.82 * len(panels[0].conditions))
    height = 0.3 + 0.75 * len(panels) + 0.24 * sum(len(panel.states) for panel in panels)
    return Drawing(width, height, lambda figure: _paint(figure, panels))


def _paint(figure: "Figure", panels: Sequence[Panel]) -> None:
    heights = [len(panel.states) for panel in panels]
    rows = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)
    for (axes,), panel in zip(rows, panels, strict=True):
        _tiles(axes, panel)


def _tiles(axes: "Axes", panel: Panel) -> None:
    rows, columns = len(panel.states), len(panel.conditions)
    shares = [[(count or 0) / panel.prompts for count in row] for row in panel.right]
    axes.imshow(shares, cmap="Blues", vmin=-0.08, vmax=1.25, aspect="auto")
    for place, row in enumerate(panel.right):
        for column, count in enumerate(row):
            ink = "white" if shares[place][column] > _DARK else INK
            centred(axes, column, place, "" if count is None else f"{count:,}", fontsize=7, color=ink)
    axes.set_xticks(range(columns), panel.conditions, fontsize=6.5)
    axes.set_yticks(range(rows), [legible(state) for state in panel.states])
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.hlines([place - 0.5 for place in range(1, rows)], -0.5, columns - 0.5, color=PALE, linewidth=1)
    axes.vlines([place - 0.5 for place in range(1, columns)], -0.5, rows - 0.5, color="white", linewidth=2)
    title = legible(f"{panel.task}: right of {panel.prompts:,} prompts", 80)
    axes.set_title(title, loc="left", pad=8)
