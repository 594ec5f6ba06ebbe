"""Three settings of verification as a figure: what is proved in each, and what given runs proved there."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from circuitproof.declare.circuits.graph import Head
from circuitproof.lab.reports.style import COLOURS, GREY, INK, WIDTH, Drawing, canvas, legible
from circuitproof.text.reading import Fields
from circuitproof.view.story import Story
from circuitproof.view.words import plural

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


@dataclass(frozen=True, slots=True)
class Settings:
    """What was proved or refuted in each setting, a line each."""

    direct: tuple[str, ...] = ()
    surrogate: tuple[str, ...] = ()
    distilled: tuple[str, ...] = ()


def settings_of(stories: Sequence[Story], lessons: Sequence[Fields]) -> Settings:
    """Sort bundles by whether their circuits read program heads, and studies beside them."""
    direct = [story for story in stories if not _has_program(story)]
    distilled = [story for story in stories if _has_program(story)]
    return Settings(
        tuple(map(_result, direct)),
        tuple(f"{one.text('name')}: {one.text('verdict')}, {one.integer('words')} words" for one in lessons),
        tuple(map(_result, distilled)),
    )


def _has_program(story: Story) -> bool:
    nodes = story.bundle.circuit.live().nodes()
    return any(isinstance(node, Head) and node in story.bundle.frozen.programs for node in nodes)


def _result(story: Story) -> str:
    bundle = story.bundle
    domain = "a pattern" if bundle.pattern is not None else plural(len(bundle.domain.prompts), "prompt")
    outcome = story.judgement.outcome.name.lower()
    return f"{legible(bundle.task.name, 20)}: {outcome}, {plural(len(bundle.circuit), 'edge')}, {domain}"


def draw_modes(settings: Settings) -> Drawing:
    """Return a column per setting, from what is looked at down to what was found."""
    found = (settings.direct, settings.surrogate, settings.distilled)
    lines = max(1, *(min(len(one), _MOST + 1) for one in found))
    return Drawing(WIDTH, 2.75 + 0.15 * lines, lambda figure: _paint(canvas(figure), found))


def _paint(axes: "Axes", found: Sequence[Sequence[str]]) -> None:
    width, height = axes.get_xlim()[1], axes.get_ylim()[1]
    for place, ((title, steps), results) in enumerate(zip(_STEPS.items(), found, strict=True)):
        x, colour = width * (place + 0.5) / 3, COLOURS[place]
        axes.text(x, height - 0.2, title, ha="center", va="center", fontsize=10, color=colour)
        for number, step in enumerate(steps):
            y = height - 0.65 - 0.75 * number
            is_last = number == len(steps) - 1
            box = {
                "boxstyle": "round,pad=0.5",
                "facecolor": colour if is_last else "white",
                "edgecolor": colour,
            }
            ink = "white" if is_last else INK
            axes.text(x, y, step, ha="center", va="center", fontsize=7, color=ink, bbox=box)
            if number:
                axes.annotate(
                    "", (x, y + 0.22), (x, y + 0.53), arrowprops={"arrowstyle": "-|>", "color": GREY}
                )
        for number, line in enumerate(_shown(results)):
            axes.text(
                x,
                height - 2.6 - 0.15 * number,
                line,
                ha="center",
                va="center",
                fontsize=5.8,
                color=INK if results else GREY,
            )


def _shown(results: Sequence[str]) -> list[str]:
    if not results:
        return ["no run of this setting was given"]
    further = len(results) - _MOST
    return [*results[:_MOST], *([f"and {further} more"] if further > 0 else [])]
