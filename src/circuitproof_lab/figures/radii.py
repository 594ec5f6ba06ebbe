"""How far prompts are from another decision, as a figure: every exact radius, and what was claimed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from circuitproof.proof.properties.robustness import Robustness
from circuitproof.reports.bundle_view import BundleView
from circuitproof.reports.numbers import Numbers
from circuitproof.reports.words import answer_name
from circuitproof_lab.figures.style import COLOURS, INK, WIDTH, Drawing, legend_below, legible, orders_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BINS = 40
_WIDE = 30
"""Where the largest is so many times the smallest, sizes are drawn by their order."""


@dataclass(frozen=True, slots=True)
class RadiiByAnswer:
    """The radii of the prompts of each right answer, and the radii at which robustness was claimed."""

    title: str
    radii: Mapping[str, tuple[float, ...]]
    claimed: tuple[float, ...]


def spread_of(view: BundleView) -> RadiiByAnswer | str:
    """Return the radii of a bundle's prompts, or in a sentence why there are none."""
    bundle, numbers = view.bundle, view.numbers
    if bundle.pattern is not None:
        return "its domain is a pattern, whose prompts are too many for a radius each"
    if not isinstance(numbers, Numbers):
        return numbers.reason
    if bundle.frozen.architecture.has_norm:
        return "a norm reads the final residual, so radii have no closed form; circuitproof radius finds them"
    radii: dict[str, list[float]] = {}
    for answer, place in zip(view.answers, numbers.cell_of, strict=True):
        if (flip := numbers.cells[place].flip) is not None:
            radii.setdefault(answer_name(bundle.task, answer), []).append(float(flip.radius))
    if not radii:
        return "no decision is clear and can be changed, so there are no radii"
    asked = [answer.prop for answer in bundle.answers if isinstance(answer.prop, Robustness)]
    claimed = tuple(float(prop.epsilon) for prop in asked if prop.at.is_final_residual)
    return RadiiByAnswer(bundle.task.name, {name: tuple(found) for name, found in radii.items()}, claimed)


def draw_radii(spread: RadiiByAnswer) -> Drawing:
    """Return a histogram, the prompts of each answer on those of the one before."""
    return Drawing(WIDTH * 0.75, 2.8, lambda figure: _paint(figure, spread))


def _paint(figure: "Figure", spread: RadiiByAnswer) -> None:
    from matplotlib.ticker import LogLocator, MaxNLocator

    axes = figure.subplots()
    values = sorted(one for found in spread.radii.values() for one in found)
    is_wide = 0 < _WIDE * values[0] < values[-1]
    axes.hist(
        [list(found) for found in spread.radii.values()],
        bins=_bins(values, is_wide=is_wide),
        stacked=True,
        color=[COLOURS[place % len(COLOURS)] for place in range(len(spread.radii))],
        label=[f"right answer {legible(name)}" for name in spread.radii],
        edgecolor="white",
        linewidth=0.4,
    )
    if is_wide:
        orders_axis(axes, LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    for claimed in spread.claimed:
        _mark_claim(axes, claimed)
    axes.set(xlabel="radius: how far the final residual must move, in each coordinate", ylabel="prompts")
    sizes = f"least {values[0]:.4g}, median {median(values):.4g}, most {values[-1]:.4g}"
    axes.set_title(f"{legible(spread.title)}: {len(values):,} prompts, {sizes}", fontsize=8)
    legend_below(figure, axes, 3)


def _mark_claim(axes: "Axes", claimed: float) -> None:
    """Draw the claimed radius, or where it is far from all radii say on which side."""
    low, high = axes.get_xlim()
    label = f"robustness claimed at {claimed:g}"
    if low - (high - low) / 2 <= claimed <= high:
        axes.axvline(claimed, color=INK, linestyle="--", linewidth=1, label=label)
    else:
        side = "left" if claimed < low else "right"
        axes.plot([], [], " ", label=f"{label}, far {side}")


def _bins(values: Sequence[float], *, is_wide: bool) -> list[float]:
    low, high = values[0], values[-1]
    if high - low <= abs(high) * 1e-6:
        return [low - 0.01 * (abs(low) or 1), high + 0.01 * (abs(high) or 1)]
    steps = [place / _BINS for place in range(_BINS + 1)]
    return [low * (high / low) ** step if is_wide else low + (high - low) * step for step in steps]
