"""A verified circuit as a figure: nodes in the order of computation, what edges are needed for, programs."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from circuitproof.bundle.opening import Answered, OpenedBundle
from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Edge, Head
from circuitproof.files.printing import plural
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.reports.bundle_view import BundleView
from circuitproof.reports.drawings.circuit import FEW, PAGE_WIDTH, draw_sideways
from circuitproof.reports.elements import Element
from circuitproof.reports.numbers import Numbers
from circuitproof.reports.words import program_line
from circuitproof_lab.figures.style import COLOURS, GREY, INK, WIDTH, Drawing, canvas, centred, legible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIDE = 0.06
"""The room at either side of the circuit, in inches."""
_PIXEL = (WIDTH - 2 * _SIDE) / PAGE_WIDTH
"""How many inches one of the page's pixels is: a drawing as wide as a page's text is so on paper too."""
_POINTS = 72 * _PIXEL
_FONTS = {"port": 9.0, "brings": 12.5, "many": 9.5, "": 14.0}
"""How high letters are, in pixels: those of ports, numbers, small nodes and other nodes, as on the page."""
_PIECE = re.compile(r"[MC]([^MCZ]+)")
"""The points of a piece of a path: where it starts, a curve, or the corners of an arrow's head."""
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


def domain_of(bundle: OpenedBundle) -> str:
    """Return what a bundle is about, in small print."""
    return "a pattern" if bundle.pattern is not None else plural(len(bundle.domain.prompts), "prompt")


def sketch_of(view: BundleView) -> Sketch:
    """Return what is drawn of a bundle that the checker has judged."""
    bundle, circuit = view.bundle, view.bundle.circuit
    needs = view.numbers.needs if isinstance(view.numbers, Numbers) else {}
    lines = _lines_of([_answer_line(one) for one in bundle.answers])
    if needs and len(circuit) <= FEW:
        lines.append("on an edge: prompts decided otherwise, or tied, without it")
    programs = {head: one for head, one in bundle.frozen.programs.items() if head in circuit.nodes()}
    whole, outcome = len(circuit.graph.edges()), view.judgement.outcome.name.lower()
    return Sketch(
        f"{bundle.task.name}: {len(circuit):,} of {whole:,} edges on {domain_of(bundle)}; checker: {outcome}",
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
    """Return the circuit from left to right, as the page draws it."""
    numbers = {edge: f"{count:,}" for edge, count in sketch.needed.items()}
    drawn = draw_sideways(sketch.circuit, frozenset(sketch.programs), numbers)
    _, _, wide, high = map(float, drawn.attribute("viewBox").split())
    height = 0.6 + _LINE * len(_printed(sketch)) + high * _PIXEL
    width = max(WIDTH, wide * _PIXEL + 2 * _SIDE)
    return Drawing(width, height, lambda figure: _paint(figure, sketch, drawn))


def _paint(figure: "Figure", sketch: Sketch, drawn: Element) -> None:
    axes = canvas(figure)
    height = axes.get_ylim()[1]
    axes.text(0.12, height - 0.2, legible(sketch.title, 100), va="center", fontsize=9)
    for place, line in enumerate(reversed(_printed(sketch))):
        axes.text(0.12, 0.15 + _LINE * place, line, va="center", fontsize=6.5, color=INK)
    _Painter(axes, height - 0.35, is_small="many" in drawn.attribute("class")).paint(drawn)


def _printed(sketch: Sketch) -> list[str]:
    """Return the lines of small print: what was proved, and the programs."""
    programs = [line for head, text in sketch.programs.items() for line in _program_lines(head, text)]
    return [legible(line, 200) for line in sketch.lines] + programs


def _program_lines(head: Head, text: str) -> list[str]:
    return wrap(legible(f"{head}: {text}", 1000), _SIGNS, subsequent_indent="    ")


@dataclass(frozen=True, slots=True)
class _Painter:
    """Paints the elements of the page's drawing on a figure, below `top`."""

    axes: "Axes"
    top: float
    is_small: bool

    def paint(self, element: Element, inside: str = "") -> None:
        """Paint an element and what stands in it; what has no shape, such as a title, is passed over."""
        kind = element.attribute("class") or inside
        match element.tag:
            case "path":
                self._path(element.attribute("d"), is_head=kind == "head")
            case "rect":
                self._box(element, is_program="program" in kind)
            case "text":
                self._text(element, kind)
            case _:
                for child in element.children:
                    if isinstance(child, Element):
                        self.paint(child, kind)

    def _spot(self, x: float, y: float) -> tuple[float, float]:
        return _SIDE + x * _PIXEL, self.top - y * _PIXEL

    def _path(self, way: str, *, is_head: bool) -> None:
        """Paint a curve, or the filled head of an arrow."""
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        start, *rest = (self._points(piece) for piece in _PIECE.findall(way))
        step = Path.CURVE4 if "C" in way else Path.LINETO
        corners = [*start, *(point for points in rest for point in points)]
        kinds = [Path.MOVETO, *[step] * (len(corners) - 1)]
        look: dict[str, Any] = {"fc": INK, "lw": 0} if is_head else {"fc": "none", "lw": self._line_width}
        alpha = 0.5 if self.is_small else 1.0
        self.axes.add_patch(PathPatch(Path(corners, kinds), ec=INK, alpha=alpha, **look))

    def _points(self, piece: str) -> list[tuple[float, float]]:
        numbers = [float(number) for number in piece.split()]
        return [self._spot(x, y) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]

    @property
    def _line_width(self) -> float:
        return (1.0 if self.is_small else 2.0) * _POINTS

    def _box(self, element: Element, *, is_program: bool) -> None:
        from matplotlib.patches import FancyBboxPatch

        x, y, wide, high = (float(element.attribute(name)) for name in ("x", "y", "width", "height"))
        colour = COLOURS[0] if is_program else GREY
        shape = FancyBboxPatch(
            self._spot(x, y + high),
            wide * _PIXEL,
            high * _PIXEL,
            boxstyle="round,pad=0,rounding_size=0.04",
            fc=colour if is_program else "white",
            ec=colour,
            zorder=3,
        )
        self.axes.add_patch(shape)

    def _text(self, element: Element, kind: str) -> None:
        """Write a text of the page, whose height is that of its letters' feet."""
        size = _FONTS.get(kind, _FONTS["many" if self.is_small else ""])
        x, y = self._spot(float(element.attribute("x")), float(element.attribute("y")) - 0.36 * size)
        look: dict[str, Any] = {"color": "white" if "program" in kind else INK}
        if kind == "brings":
            look = {"color": COLOURS[1], "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 0.8}}
        text = "".join(child for child in element.children if isinstance(child, str))
        centred(self.axes, x, y, text, fontsize=size * _POINTS, zorder=4, **look)
