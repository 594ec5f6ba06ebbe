"""A verified circuit as a figure: nodes in the order of computation, what edges are needed for, programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import dist, hypot
from textwrap import wrap
from typing import TYPE_CHECKING, Any, assert_never

from circuitproof.bundle.opening import Answered
from circuitproof.declare.circuits.circuit import Circuit
from circuitproof.declare.circuits.graph import Edge, Embed, Head, Logits, Mlp, Node
from circuitproof.declare.programs.text import to_text
from circuitproof.lab.reports.style import COLOURS, GREY, INK, WIDTH, Drawing, canvas, centred, legible
from circuitproof.prove.properties import Robustness
from circuitproof.view.numbers import Numbers
from circuitproof.view.story import Story
from circuitproof.view.words import plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FEW = 16
"""Up to so many edges, each has a label."""
_APART = 0.3
"""How far apart, in inches, two numbers on edges are sure not to touch."""
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
        {head: "; ".join(to_text(one).splitlines()) for head, one in programs.items()},
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
    columns = _columns(sketch.circuit)
    tallest = max(map(len, columns))
    lines = len(sketch.lines) + sum(len(_program_lines(head, text)) for head, text in sketch.programs.items())
    height = 0.75 + _LINE * lines + max(0.7, (0.45 if len(sketch.circuit) <= _FEW else 0.3) * (tallest + 1))
    width = max(WIDTH, (1.15 if len(sketch.circuit) <= _FEW else 0.55) * len(columns))
    return Drawing(width, height, lambda figure: _paint(figure, sketch))


def _columns(circuit: Circuit) -> list[tuple[Node, ...]]:
    return [tuple(group) for _, group in groupby(circuit.nodes(), key=lambda node: node.place[:2])]


def _paint(figure: "Figure", sketch: Sketch) -> None:
    axes = canvas(figure)
    height = axes.get_ylim()[1]
    axes.text(0.12, height - 0.2, legible(sketch.title, 100), va="center", fontsize=9)
    printed = [legible(line, 200) for line in sketch.lines]
    for head, text in sketch.programs.items():
        printed += _program_lines(head, text)
    for place, line in enumerate(reversed(printed)):
        axes.text(0.12, 0.15 + _LINE * place, line, va="center", fontsize=6.5, color=INK)
    _graph(axes, sketch, low=0.2 + _LINE * len(printed), high=height - 0.35)


def _program_lines(head: Head, text: str) -> list[str]:
    return wrap(legible(f"{head}: {text}", 1000), _SIGNS, subsequent_indent="    ")


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where nodes stand, in inches, in which column, and between which heights there is room."""

    spots: Mapping[Node, tuple[float, float]]
    column: Mapping[Node, int]
    low: float
    high: float

    def bend(self, edge: Edge) -> float:
        """Return how far an edge bows, as a share of its chord.

        To the next column not at all; longer ones go round what stands between, as far as there is room.
        """
        (x0, y0), (x1, y1) = self.spots[edge.source], self.spots[edge.target]
        span = self.column[edge.target] - self.column[edge.source]
        if span == 1:
            return 0.0
        above = y0 + y1 >= self.low + self.high
        room = self.high - max(y0, y1) if above else min(y0, y1) - self.low
        return (-1 if above else 1) * min(0.32, 0.14 + 0.05 * span, 2 * room / hypot(x1 - x0, y1 - y0))

    def along(self, edge: Edge, share: float) -> tuple[float, float]:
        """Return a point of an edge, which is a quadratic curve, from its source at 0 to its target at 1."""
        (x0, y0), (x1, y1), bend = self.spots[edge.source], self.spots[edge.target], self.bend(edge)
        x, y = (x0 + x1) / 2 + bend * (y1 - y0), (y0 + y1) / 2 - bend * (x1 - x0)
        first, middle, last = (1 - share) ** 2, 2 * share * (1 - share), share**2
        return first * x0 + middle * x + last * x1, first * y0 + middle * y + last * y1


def _layout(circuit: Circuit, width: float, low: float, high: float) -> _Layout:
    columns = _columns(circuit)
    step = (width - 1.1) / max(1, len(columns) - 1)
    spots = {
        node: (0.55 + step * place, low + (high - low) * (row + 1) / (len(column) + 1))
        for place, column in enumerate(columns)
        for row, node in enumerate(reversed(column))
    }
    return _Layout(spots, {node: place for place, column in enumerate(columns) for node in column}, low, high)


def _label_spots(layout: _Layout, circuit: Circuit) -> Mapping[Edge, tuple[float, float]]:
    """Return where numbers stand on edges: near the middle, and off nodes and other numbers."""
    taken = list(layout.spots.values())
    found: dict[Edge, tuple[float, float]] = {}
    for edge in circuit:
        spots = [layout.along(edge, share) for share in (0.5, 0.4, 0.6, 0.3, 0.7, 0.25, 0.75)]
        found[edge] = max(spots, key=lambda spot: min(_APART, *(dist(spot, other) for other in taken)))
        taken.append(found[edge])
    return found


def _graph(axes: "Axes", sketch: Sketch, *, low: float, high: float) -> None:
    layout, is_few = _layout(sketch.circuit, axes.get_xlim()[1], low, high), len(sketch.circuit) <= _FEW
    for edge in sketch.circuit:
        _arrow(axes, layout, edge, is_few=is_few)
    if is_few and sketch.needed:
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
        for edge, (x, y) in _label_spots(layout, sketch.circuit).items():
            centred(axes, x, y, f"{sketch.needed[edge]:,}", fontsize=6.5, color=COLOURS[1], bbox=box)
    for node, (x, y) in layout.spots.items():
        colour = COLOURS[0] if node in sketch.programs else GREY
        face, ink = (colour, "white") if node in sketch.programs else ("white", INK)
        box = {"boxstyle": "round,pad=0.35", "facecolor": face, "edgecolor": colour}
        name, size = (str(node), 7) if is_few else (_short(node), 5.5)
        centred(axes, x, y, name, fontsize=size, zorder=3, color=ink, bbox=box)


def _arrow(axes: "Axes", layout: _Layout, edge: Edge, *, is_few: bool) -> None:
    """Draw an edge between the boxes of its nodes, or as a hair behind all of them where there are many."""
    from matplotlib.patches import FancyArrowPatch

    ends, bend = (layout.spots[edge.source], layout.spots[edge.target]), layout.bend(edge)
    look: dict[str, Any] = {"arrowstyle": "-", "linewidth": 0.4, "alpha": 0.35}
    if is_few:
        shrink = {"shrinkA": 72 * _half_width(edge.source), "shrinkB": 72 * _half_width(edge.target) + 2}
        look = {"arrowstyle": "-|>", "linewidth": 1.2, "mutation_scale": 8, **shrink}
    bow = f"arc3,rad={bend if is_few else bend / 2}"
    axes.add_patch(FancyArrowPatch(*ends, connectionstyle=bow, color=INK, **look))


def _half_width(node: Node) -> float:
    """Return about how far the box of a node's name reaches to the sides, in inches."""
    return 0.1 + 0.027 * len(str(node))


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
