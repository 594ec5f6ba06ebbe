"""The protocol as a figure: what had been looked at, which gate was then opened, and what it said."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from circuitproof.files.printing import plural
from circuitproof_lab.figures.style import COLOURS, PALE, WIDTH, Drawing, legend_below, legible
from circuitproof_lab.records.gate import GateOutcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_THIN = 0.012
"""A miss is drawn at least as wide as this share of the axis: one of 512 must be seen."""


def draw_timeline(trials: Sequence[GateOutcome]) -> Drawing:
    """Return a row per generation and task, in the order in which gates were burned."""
    return Drawing(WIDTH, 1.1 + 0.3 * len(trials), lambda figure: _paint(figure, trials))


def _paint(figure: "Figure", trials: Sequence[GateOutcome]) -> None:
    axes = figure.subplots()
    whole = max(trial.seen + trial.trial.gate.prompts for trial in trials)
    for row, trial in enumerate(trials):
        chosen, edges = trial.trial.gate, len(trial.trial.circuit)
        missed = chosen.prompts - chosen.agreed
        wide = max(missed, _THIN * whole) if missed else 0
        axes.barh(row, trial.seen, color=PALE, label="looked at before: development data")
        right, end = chosen.prompts - wide, trial.seen + chosen.prompts
        axes.barh(row, right, left=trial.seen, color=COLOURS[0], label="the gate: decided as wanted")
        look: dict[str, Any] = {"color": COLOURS[1], "hatch": "////", "edgecolor": "white"}
        label = "the gate: missed" if missed else "_"
        axes.barh(row, wide, left=end - wide, label=label, **look)
        said = f"{chosen.agreed}/{chosen.prompts}, {plural(edges, 'edge')}"
        axes.text(end + 0.01 * whole, row, said, va="center", fontsize=7)
    labels = [f"{legible(trial.generation)}  {legible(trial.task)}" for trial in trials]
    axes.set_yticks(range(len(trials)), labels)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.22 * whole)
    axes.set_xlabel("prompts; a gate that was opened is development data from then on")
    axes.tick_params(axis="y", length=0)
    legend_below(figure, axes, 3)
