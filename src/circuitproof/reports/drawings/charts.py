"""Charts: how often sizes occur, edges against margins, and when something went on."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from circuitproof.files.reading import shown
from circuitproof.reports.elements import Element, el

_BINS = 24
_WIDE, _HIGH = 400, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 384, 16, 150
"""Where the axes of a chart stand."""


def draw_histogram(values: Sequence[Fraction], what: str, mark: Fraction | None = None) -> Element:
    """Return how often values of each size occur, and where `mark` stands among them."""
    marked = [*values, *([] if mark is None else [mark])]
    low, high = min(marked), max(marked)
    counts = [0] * _BINS
    for value in values:
        place = int((value - low) / (high - low) * _BINS) if high > low else _BINS // 2
        counts[min(place, _BINS - 1)] += 1
    step, top = (_RIGHT - _LEFT) / _BINS, max(counts)
    bars = [
        _bar(_LEFT + place * step, step, count / top, _from(low, high, place, count))
        for place, count in enumerate(counts)
    ]
    return _chart(
        f"histogram of {len(values)} {what}",
        *(bar for bar, count in zip(bars, counts, strict=True) if count),
        *(() if mark is None else _mark(_place(mark, low, high), f"ε {shown(mark)}")),
        *_axes((shown(low), shown(high) if high > low else ""), ("0", f"{top:,}"), (what, "prompts")),
    )


def _from(low: Fraction, high: Fraction, place: int, count: int) -> str:
    size = (high - low) / _BINS
    return f"{count:,} from {shown(low + size * place)} to {shown(low + size * (place + 1))}"


def _place(value: Fraction, low: Fraction, high: Fraction) -> float:
    return _LEFT + (_RIGHT - _LEFT) * float((value - low) / (high - low)) if high > low else _LEFT


def _bar(x: float, width: float, share: float, title: str) -> Element:
    height = (_BOTTOM - _TOP) * share
    return el("rect", el("title", title), x=x, y=_BOTTOM - height, width=width - 1.5, height=height)


def _mark(x: float, words: str) -> tuple[Element, ...]:
    anchor, aside = ("start", 4) if x < (_LEFT + _RIGHT) / 2 else ("end", -4)
    return (
        el("line", x1=x, x2=x, y1=_TOP - 6, y2=_BOTTOM, class_="mark"),
        el("text", words, x=x + aside, y=_TOP - 4, text_anchor=anchor, class_="mark"),
    )


def _axes(across: tuple[str, str], up: tuple[str, str], names: tuple[str, str]) -> tuple[Element, ...]:
    """Return two axes with the numbers at their ends and what they count."""
    turned = f"translate(12 {(_TOP + _BOTTOM) // 2}) rotate(-90)"
    return (
        el("path", d=f"M{_LEFT} {_TOP}V{_BOTTOM}H{_RIGHT}", class_="axis"),
        el("text", across[0], x=_LEFT, y=_BOTTOM + 16),
        el("text", across[1], x=_RIGHT, y=_BOTTOM + 16, text_anchor="end"),
        el("text", names[0], x=(_LEFT + _RIGHT) // 2, y=_BOTTOM + 32, text_anchor="middle", class_="name"),
        el("text", up[0], x=_LEFT - 6, y=_BOTTOM, text_anchor="end"),
        el("text", up[1], x=_LEFT - 6, y=_TOP + 8, text_anchor="end"),
        el("text", names[1], x=0, y=0, text_anchor="middle", transform=turned, class_="name"),
    )


def _chart(title: str, *children: Element, high: int = _HIGH) -> Element:
    return el("svg", *children, viewBox=f"0 0 {_WIDE} {high}", role="img", aria_label=title, class_="chart")


@dataclass(frozen=True, slots=True)
class Dot:
    """A point of a chart: where it stands, what it is, and of which kind."""

    x: float
    y: float
    title: str
    kind: str


def draw_dots(dots: Sequence[Dot], title: str, names: tuple[str, str]) -> Element:
    """Return points over two axes; the horizontal one begins at 0, and height 0 has a line."""
    most = max(*(dot.x for dot in dots), 1)
    low, high = min(0.0, *(dot.y for dot in dots)), max(0.0, *(dot.y for dot in dots))
    span = (high - low) or 1.0

    def height(y: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * (y - low) / span

    def mark(dot: Dot) -> Element:
        across = _LEFT + (_RIGHT - _LEFT) * dot.x / most
        return el("circle", el("title", dot.title), cx=across, cy=height(dot.y), r=5, class_=dot.kind)

    zero = el("line", x1=_LEFT, x2=_RIGHT, y1=height(0.0), y2=height(0.0), class_="zero")
    axes = _axes(("0", f"{most:g}"), (f"{low:.3g}", f"{high:.3g}"), names)
    return _chart(title, zero, *axes, *map(mark, dots))


def draw_spans(spans: Sequence[tuple[str, int, int]], title: str) -> Element:
    """Return what went on from which step to which, a line each."""
    most, rise, left = max(last for _, _, last in spans), 24, 150
    lines: list[Element] = []
    for place, (name, first, last) in enumerate(spans):
        x, wide = left + (_RIGHT - left) * first / most, (_RIGHT - left) * (last - first) / most
        steps = el("title", f"steps {first} to {last}")
        lines += (
            el("text", name, x=left - 8, y=20 + place * rise, text_anchor="end"),
            el("rect", steps, x=x, y=8 + place * rise, width=max(wide, 2), height=16),
        )
    bottom = 14 + len(spans) * rise
    ends = (
        el("path", d=f"M{left} {bottom}H{_RIGHT}", class_="axis"),
        el("text", "step 0", x=left, y=bottom + 16),
        el("text", f"{most:,}", x=_RIGHT, y=bottom + 16, text_anchor="end"),
    )
    return _chart(title, *lines, *ends, high=bottom + 24)
