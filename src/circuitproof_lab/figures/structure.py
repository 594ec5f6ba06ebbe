"""A verified circuit beside the string-closing motif of weight-sparse models: their coarse structure."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Embed, Head, Mlp, Node
from circuitproof.files.printing import plural
from circuitproof.models.declaration import ProgramHeads
from circuitproof.reports.bundle_view import BundleView
from circuitproof_lab.figures.style import COLOURS, GREY, INK, WIDTH, Drawing, canvas, centred, legible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TASK = "quotes"
_MOST = 2
"""How many nodes of a box are named; more are counted."""
_HEIGHT, _OURS, _MOTIF = 2.5, 1.6, 0.6
"""How high the figure is and where its two rows stand, in inches."""
_BOX = 0.2
"""Half of how high a box is."""


@dataclass(frozen=True, slots=True)
class CoarseStep:
    """Neighbours of one kind in the order of computation, as one box."""

    kind: str
    name: str
    does: str = ""
    is_program: bool = False


MOTIF = (
    CoarseStep("embedding", "embedding"),
    CoarseStep("MLP", "an early MLP", "builds quote features"),
    CoarseStep("head", "one later head", "copies the type"),
    CoarseStep("logits", "logits"),
)
"""What the paper says of the circuits of Gao et al., and no more."""


@dataclass(frozen=True, slots=True)
class CoarseStructure:
    """A circuit with neighbours of one kind put together."""

    steps: tuple[CoarseStep, ...]
    arrows: frozenset[tuple[int, int]]
    """Which step is read by which, by their places."""

    @property
    def is_motif(self) -> bool:
        """Say whether it has the kinds of the motif, one head, and its arrows alone."""
        kinds = [step.kind for step in self.steps]
        chain = frozenset(pairwise(range(len(MOTIF))))
        return kinds == [step.kind for step in MOTIF] and self.arrows == chain


def coarse_structure(circuit: Circuit, programs: ProgramHeads) -> CoarseStructure:
    """Return the structure of what of a circuit reaches the logits; several heads are not one."""
    live = circuit.live()
    groups = [tuple(group) for _, group in groupby(live.nodes(), _kind)]
    place = {node: number for number, group in enumerate(groups) for node in group}
    arrows = {(place[edge.source], place[edge.reader]) for edge in live}
    steps = tuple(_step(group, programs) for group in groups)
    return CoarseStructure(steps, frozenset(pair for pair in arrows if pair[0] != pair[1]))


def _kind(node: Node) -> str:
    return {Embed: "embedding", Head: "head", Mlp: "MLP"}.get(type(node), "logits")


def _step(nodes: Sequence[Node], programs: ProgramHeads) -> CoarseStep:
    kind, is_program = _kind(nodes[0]), any(node in programs for node in nodes)
    names = ", ".join(map(str, nodes)) if len(nodes) <= _MOST else f"{len(nodes)} {kind}s"
    told = {"embedding": "embedding", "logits": "logits"}.get(kind, names)
    several = kind if len(nodes) == 1 else f"{kind}s"
    return CoarseStep(several, told, "a program" if is_program else "", is_program)


def is_comparable(view: BundleView) -> bool:
    """Say whether a bundle is about closing strings, which is what the motif does."""
    return view.bundle.task.name == _TASK


def draw_structure(view: BundleView) -> Drawing:
    """Return the two rows, the bundle's circuit above."""
    bundle, outcome = view.bundle, view.judgement.outcome.name.lower()
    found = coarse_structure(bundle.circuit, bundle.frozen.programs)
    edges = plural(len(bundle.circuit), "edge")
    said = f"{bundle.task.name}: the circuit of the bundle, {edges}; checker: {outcome}"
    return Drawing(WIDTH, _HEIGHT, lambda figure: _paint(figure, said, found))


def _paint(figure: "Figure", said: str, found: CoarseStructure) -> None:
    axes = canvas(figure)
    motif = "closing a string in weight-sparse models (Gao et al.), redrawn"
    for y, title in ((_HEIGHT - 0.18, legible(said, 100)), (_MOTIF + 0.42, motif)):
        axes.text(0.12, y, title, va="center", fontsize=9)
    _draw_row(axes, found, _OURS)
    _draw_row(axes, CoarseStructure(MOTIF, frozenset(pairwise(range(len(MOTIF))))), _MOTIF)
    verdict = "the same coarse structure" if found.is_motif else "another coarse structure"
    note = f"{verdict}; a structural comparison, no claim that the two circuits are one"
    axes.text(0.12, 0.15, note, va="center", fontsize=6.5, color=INK)


def _draw_row(axes: "Axes", row: CoarseStructure, y: float) -> None:
    """Draw boxes from left to right; an arrow that passes boxes by goes over them in a flat arc."""
    places = [WIDTH * (number + 0.5) / len(row.steps) for number in range(len(row.steps))]
    half = min(0.62, 0.38 * WIDTH / len(row.steps))
    for source, target in sorted(row.arrows):
        is_next = target == source + 1
        lift, rise = (0.0, 0.0) if is_next else (_BOX, 0.5 / (places[target] - places[source]))
        start, end = (places[source] + half, y + lift), (places[target] - half, y + lift)
        arrow = {"arrowstyle": "-|>", "color": GREY, "connectionstyle": f"arc3,rad={-rise}"}
        axes.annotate("", end, start, arrowprops=arrow)
    for x, step in zip(places, row.steps, strict=True):
        _draw_box(axes, (x, y), half, step)


def _draw_box(axes: "Axes", spot: tuple[float, float], half: float, step: CoarseStep) -> None:
    from matplotlib.patches import FancyBboxPatch

    x, y = spot
    colour = {"MLP": COLOURS[4], "head": COLOURS[0]}.get(step.kind.removesuffix("s"), GREY)
    box = FancyBboxPatch(
        (x - half, y - _BOX),
        2 * half,
        2 * _BOX,
        boxstyle="round,pad=0,rounding_size=0.05",
        facecolor=colour if step.is_program else "white",
        edgecolor=colour,
        linewidth=1.4,
        zorder=3,
    )
    axes.add_patch(box)
    ink = "white" if step.is_program else INK
    text = step.name if not step.does else f"{step.name}\n{step.does}"
    centred(axes, x, y, text, fontsize=min(7, 15 * half), color=ink, zorder=4)
