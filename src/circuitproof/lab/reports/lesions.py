"""The causal audit as a figure: what is still decided right when something is taken away."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from circuitproof.lab.reports.figures import new_figure, save_figure

_WIDTH = 0.27


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One artifact: for each state, how many prompts are right in three conditions."""

    title: str
    prompts: int
    states: tuple[str, ...]
    model: tuple[int, ...]
    silenced: tuple[int, ...]
    without_circuit: tuple[int, ...]


def draw_lesions(panels: Sequence[Panel], path: Path) -> None:
    """Write a PNG with one panel per artifact."""
    figure = new_figure(6 * len(panels), 3.8)
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        bars = (
            ("nothing lesioned", panel.model),
            ("program heads silenced", panel.silenced),
            ("circuit's edges gone", panel.without_circuit),
        )
        for place, (label, counts) in enumerate(bars):
            places = [state + (place - 1) * _WIDTH for state in range(len(counts))]
            drawn = axes.bar(places, counts, _WIDTH, label=label)
            axes.bar_label(drawn, fontsize=7)
        axes.set_xticks(range(len(panel.states)), panel.states)
        axes.set(title=panel.title, ylabel="prompts decided right", ylim=(0, 1.35 * panel.prompts))
        axes.axhline(panel.prompts, color="grey", linewidth=0.8, linestyle=":")
        axes.legend(frameon=False, fontsize=8, loc="upper left")
    save_figure(figure, path)
