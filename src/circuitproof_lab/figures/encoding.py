"""The cost of an encoding as a figure: assertions per kept edge by what they are about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from circuitproof.files.codec import Codec, Key
from circuitproof.files.reading import Fields, read_fields
from circuitproof_lab.figures.style import COLOURS, GREY, WIDTH, Drawing, legend_below, legible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HATCHES = ("", "////", "", "....", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodingRow:
    """One circuit: its name, its edges, the assertions per edge from each source, and the paper's."""

    name: str
    variant: str
    verdict: str
    edges: int
    per_edge: Mapping[str, float]
    paper: Annotated[int, Key("paper_per_edge")]


def read_encodings(path: Path) -> tuple[EncodingRow, ...]:
    """Read what `circuitproof cost --json` printed."""
    accounts = read_fields(path).items("accounts")
    return tuple(_encoding(Fields(one, f"{path}.accounts[{place}]")) for place, one in enumerate(accounts))


def _encoding(fields: Fields) -> EncodingRow:
    edges, sources = fields.integer("edges", least=1), fields.fields("total").fields("assertions")
    names, name = sources.keys(), "/".join(Path(fields.text("model")).parts[-2:])
    per_edge = {source: sources.integer(source) / edges for source in names}
    return Codec().record(EncodingRow, fields, name=name, edges=edges, per_edge=per_edge)


def draw_encodings(encodings: Sequence[EncodingRow]) -> Drawing:
    """Return our bars, and the paper's beside them on an axis of their own: another thing is counted."""
    return Drawing(WIDTH, 1.4 + 0.5 * len(encodings), lambda figure: _paint(figure, encodings))


def _paint(figure: "Figure", encodings: Sequence[EncodingRow]) -> None:
    ours, papers = figure.subplots(1, 2, sharey=True, width_ratios=[2, 1])
    _ours(ours, encodings)
    papers.barh(range(len(encodings)), [one.paper / 1000 for one in encodings], 0.6, color=GREY)
    papers.set(title="the paper's count", xlabel="thousand per edge")
    for axes in (ours, papers):
        axes.grid(visible=True, axis="x")
        axes.tick_params(axis="y", length=0)
    legend_below(figure, ours, 5)


def _ours(axes: "Axes", encodings: Sequence[EncodingRow]) -> None:
    starts = [0.0] * len(encodings)
    for place, source in enumerate(dict.fromkeys(name for one in encodings for name in one.per_edge)):
        sizes = [one.per_edge.get(source, 0.0) for one in encodings]
        colour, hatch = COLOURS[place % len(COLOURS)], _HATCHES[place % len(_HATCHES)]
        look = {"color": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0.3}
        axes.barh(range(len(encodings)), sizes, 0.6, left=starts, label=legible(source), **look)
        starts = [start + size for start, size in zip(starts, sizes, strict=True)]
    for row, end in enumerate(starts):
        axes.text(end, row, f" {end:,.0f}", va="center", fontsize=7)
    axes.set_yticks(range(len(encodings)), [_label(one) for one in encodings])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.15 * max(starts))
    axes.set(title="counted here", xlabel="assertions per kept edge")


def _label(one: EncodingRow) -> str:
    unproved = "" if one.verdict == "proved" else f"\n{one.verdict}: compare with nothing"
    return f"{legible(one.name)}\n{legible(one.variant)}, {one.edges} edges{unproved}"
