"""Three settings of verification as a figure: what is proved in each, and what given runs proved there."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from circuitproof.files.printing import plural
from circuitproof.reports.bundle_view import BundleView
from circuitproof_lab.figures.circuit import domain_of
from circuitproof_lab.figures.style import COLOURS, GREY, INK, WIDTH, Drawing, canvas, centred, legible
from circuitproof_lab.records.surrogate import SurrogateReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST = 4
"""How many results of a setting are listed."""
_STEPS = {
    "direct": (
        "a circuit of the model,\nas it was trained",
        "every prompt computed\nin exact numbers",
        "proof or counterexample\nabout the circuit",
    ),
    "through a surrogate": (
        "a circuit that is\nhard to encode",
        "a small network that answers\nas it does on every word",
        "program equal to it,\nor a word that refutes it",
    ),
    "distilled": (
        "a head's attention\nreplaced by a program",
        "only its readout trained:\nno new bypass",
        "proof or counterexample\nabout the changed model",
    ),
}
"""What happens in each setting, from top to bottom."""


def draw_modes(views: Sequence[BundleView], reports: Sequence[SurrogateReport]) -> Drawing:
    """Return a column per setting, from what is looked at down to what was found.

    Bundles are of one setting or another by whether their circuits read program heads.
    """
    direct = [_result(view) for view in views if not _has_program(view)]
    taught = [f"{one.name}: {one.verdict}, {one.words} words" for one in reports]
    distilled = [_result(view) for view in views if _has_program(view)]
    found = (direct, taught, distilled)
    lines = max(1, *(min(len(one), _MOST + 1) for one in found))
    return Drawing(WIDTH, 2.75 + 0.15 * lines, lambda figure: _paint(canvas(figure), found))


def _has_program(view: BundleView) -> bool:
    return any(node in view.bundle.frozen.programs for node in view.bundle.circuit.live().nodes())


def _result(view: BundleView) -> str:
    bundle = view.bundle
    domain = domain_of(bundle)
    outcome = view.judgement.outcome.name.lower()
    return f"{legible(bundle.task.name, 20)}: {outcome}, {plural(len(bundle.circuit), 'edge')}, {domain}"


def _paint(axes: "Axes", found: Sequence[Sequence[str]]) -> None:
    width, height = axes.get_xlim()[1], axes.get_ylim()[1]
    for place, ((title, steps), results) in enumerate(zip(_STEPS.items(), found, strict=True)):
        x, colour = width * (place + 0.5) / 3, COLOURS[place]
        centred(axes, x, height - 0.2, title, fontsize=10, color=colour)
        for number, step in enumerate(steps):
            y = height - 0.65 - 0.75 * number
            face, ink = (colour, "white") if number == len(steps) - 1 else ("white", INK)
            box = {"boxstyle": "round,pad=0.5", "facecolor": face, "edgecolor": colour}
            centred(axes, x, y, step, fontsize=7, color=ink, bbox=box)
            if number:
                arrow = {"arrowstyle": "-|>", "color": GREY}
                axes.annotate("", (x, y + 0.22), (x, y + 0.53), arrowprops=arrow)
        ink = INK if results else GREY
        for number, line in enumerate(_shown(results)):
            centred(axes, x, height - 2.6 - 0.15 * number, line, fontsize=5.8, color=ink)


def _shown(results: Sequence[str]) -> list[str]:
    if not results:
        return ["no run of this setting was given"]
    further = len(results) - _MOST
    return [*results[:_MOST], *([f"and {further} more"] if further > 0 else [])]
