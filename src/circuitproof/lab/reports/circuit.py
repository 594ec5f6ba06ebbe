"""A verified circuit as a figure: nodes in the order of computation, what edges are needed for, programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING, Any, assert_never

from circuitproof.bundle.opening import Answered
from circuitproof.declare.circuits.circuit import Circuit
from circuitproof.declare.circuits.graph import Edge, Embed, Head, Logits, Mlp, Node
from circuitproof.lab.reports.style import COLOURS, GREY, INK, WIDTH, Drawing, canvas, centred, legible
from circuitproof.prove.properties.robustness import Robustness
from circuitproof.text.printing import plural
from circuitproof.view.drawings.layout import Layout, Sizes, lay_out
from circuitproof.view.numbers import Numbers
from circuitproof.view.story import Story
from circuitproof.view.words import program_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FEW = 16
"""Up to so many edges, each has a label."""
_NUMBER = (0.34, 0.13)
"""How large a number on an edge is at most, in inches."""
_SIDE = 0.15
"""The room at either side of the circuit, in inches."""
_LARGE = Sizes(along=0.62, across=0.26, step=1.0, lane=0.17, apart=0.12)
_SMALL = Sizes(along=0.32, across=0.17, step=0.5, lane=0.05, apart=0.05, tick=0.1, is_shared=True)
_TIED = "\N{NO-BREAK SPACE}"
_LINE = 0.15
_SIGNS = 110
"""How many signs of small print fit in a line."""


@dataclass(frozen=True, slots=True)
class Sketch:
    """What is drawn of a bundle."""

    title: str
    circuit: Circuit
    programs: Mapping[Head, str]
    needed: Mapping[Edge, int]
    """How many prompts are decided otherwise, or tie, without an edge; empty where that was not computed."""
    lines: tuple[str, ...]
    """What was proved of it, in small print."""


def sketch_of(story: Story) -> Sketch:
    """Return what is drawn of a bundle that the checker has judged."""
    bundle, circuit = story.bundle, story.bundle.circuit
    needs = story.numbers.needs if isinstance(story.numbers, Numbers) else {}
    lines = _lines_of([_answer_line(one) for one in bundle.answers])
    if needs and len(circuit) <= _FEW:
        lines.append("on an edge: prompts decided otherwise, or tied, without it")
    programs = {head: one for head, one in bundle.frozen.programs.items() if head in circuit.nodes()}
    domain = "a pattern" if bundle.pattern is not None else plural(len(bundle.domain.prompts), "prompt")
    whole, outcome = len(circuit.graph.edges()), story.judgement.outcome.name.lower()
    return Sketch(
        f"{bundle.task.name}: {len(circuit):,} of {whole:,} edges on {domain}; checker: {outcome}",
        circuit,
        {head: program_line(bundle.task.names, one) for head, one in programs.items()},
        {edge: len(one.flips) + len(one.ties) for edge, one in needs.items()},
        tuple(lines),
    )


def _answer_line(answer: Answered) -> str:
    size = f" at {answer.prop.epsilon}" if isinstance(answer.prop, Robustness) else ""
    remark = f" ({answer.remarks[0]})" if answer.remarks else ""
    return f"{answer.prop.kind}{size}: {answer.verdict}{remark}"


def _lines_of(answers: Sequence[str]) -> list[str]:
    """Return answers in lines, none of them broken."""
    tied = "   ".join(one.replace(" ", _TIED) for one in answers)
    return [line.replace(_TIED, " ") for line in wrap(tied, _SIGNS)]


def draw_circuit(sketch: Sketch) -> Drawing:
    """Return the circuit from left to right."""
    layout = _layout(sketch.circuit)
    height = 0.75 + _LINE * len(_printed(sketch)) + max(0.4, layout.breadth)
    return Drawing(
        max(WIDTH, layout.length + 2 * _SIDE), height, lambda figure: _paint(figure, sketch, layout)
    )


def _layout(circuit: Circuit) -> Layout:
    """Return where the circuit stands, in inches: as wide as the text of a page, or wider if it must."""
    sizes = _LARGE if len(circuit) <= _FEW else _SMALL
    columns = len({node.place[:2] for node in circuit.nodes()})
    step = max(sizes.step, (WIDTH - 2 * _SIDE - sizes.along) / max(1, columns - 1))
    return lay_out(circuit, replace(sizes, step=step))


def _paint(figure: "Figure", sketch: Sketch, layout: Layout) -> None:
    axes = canvas(figure)
    height = axes.get_ylim()[1]
    axes.text(0.12, height - 0.2, legible(sketch.title, 100), va="center", fontsize=9)
    for place, line in enumerate(reversed(_printed(sketch))):
        axes.text(0.12, 0.15 + _LINE * place, line, va="center", fontsize=6.5, color=INK)
    _graph(axes, sketch, layout, height - 0.4)


def _printed(sketch: Sketch) -> list[str]:
    """Return the lines of small print: what was proved, and the programs."""
    programs = [line for head, text in sketch.programs.items() for line in _program_lines(head, text)]
    return [legible(line, 200) for line in sketch.lines] + programs


def _program_lines(head: Head, text: str) -> list[str]:
    return wrap(legible(f"{head}: {text}", 1000), _SIGNS, subsequent_indent="    ")


def _graph(axes: "Axes", sketch: Sketch, layout: Layout, top: float) -> None:
    """Draw edges, what they are needed for, and nodes, below `top`."""
    from matplotlib.patches import FancyBboxPatch

    sizes, is_few = layout.sizes, len(sketch.circuit) <= _FEW
    for route in layout.routes.values():
        _arrow(axes, [(_SIDE + along, top - across) for along, across in route.points], is_few=is_few)
    if is_few and sketch.needed:
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
        for edge, (along, across) in layout.labels(*_NUMBER).items():
            number = f"{sketch.needed[edge]:,}"
            centred(axes, _SIDE + along, top - across, number, fontsize=6.5, color=COLOURS[1], bbox=box)
    for node, (along, across) in layout.nodes.items():
        colour = COLOURS[0] if node in sketch.programs else GREY
        face, ink = (colour, "white") if node in sketch.programs else ("white", INK)
        corner = (_SIDE + along - sizes.along / 2, top - across - sizes.across / 2)
        shape = FancyBboxPatch(
            corner,
            sizes.along,
            sizes.across,
            boxstyle="round,pad=0,rounding_size=0.05",
            fc=face,
            ec=colour,
            zorder=3,
        )
        axes.add_patch(shape)
        name, size = (str(node), 7) if is_few else (_short(node), 5.5)
        centred(axes, _SIDE + along, top - across, name, fontsize=size, zorder=4, color=ink)


def _arrow(axes: "Axes", points: list[tuple[float, float]], *, is_few: bool) -> None:
    """Draw an edge through points, from each of which it leaves to the right; thin where there are many."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    corners, codes = [points[0]], [Path.MOVETO]
    for (a, c), (b, d) in pairwise(points):
        corners += [((a + b) / 2, c), ((a + b) / 2, d), (b, d)]
        codes += [Path.CURVE4] * 3
    look: dict[str, Any] = {"linewidth": 0.4, "alpha": 0.5, "mutation_scale": 4}
    if is_few:
        look = {"linewidth": 1.1, "mutation_scale": 8}
    path = Path(corners, codes)
    axes.add_patch(FancyArrowPatch(path=path, arrowstyle="-|>", shrinkA=0, shrinkB=0, color=INK, **look))


def _short(node: Node) -> str:
    """Return a short name, for where there are many."""
    match node:
        case Head(layer, index):
            return f"{layer}.{index}"
        case Mlp(layer):
            return f"m{layer}"
        case Embed():
            return "in"
        case Logits():
            return "out"
        case _:
            assert_never(node)
