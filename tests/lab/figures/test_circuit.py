"""Circuits as figures: from one path to hundreds of edges."""

import re

import pytest
from matplotlib.figure import Figure

from circuitproof.circuits.circuit import circuit_of, whole
from circuitproof.circuits.graph import EMBED, LOGITS, Edge, Granularity, Graph, Head, Mlp, Port, Use
from circuitproof.reports.drawings.circuit import draw_sideways
from circuitproof.reports.elements import render
from circuitproof_lab.figures.circuit import Sketch, _lines_of, draw_circuit
from circuitproof_lab.figures.style import write_drawing

PATH = circuit_of(Graph(1, 1), [Edge(EMBED, Head(0, 0)), Edge(Head(0, 0), Mlp(0)), Edge(Mlp(0), LOGITS)])
PORTS = circuit_of(
    Graph(1, 1, Granularity.PORT),
    [*(Edge(EMBED, Port(Head(0, 0), use)) for use in Use), Edge(Head(0, 0), LOGITS)],
)
TANGLE = circuit_of(Graph(2, 2), list(Graph(2, 2).edges())[:14])


@pytest.mark.parametrize("circuit", [PATH, TANGLE, whole(Graph(4, 4))], ids=["path", "tangle", "many"])
def test_a_circuit_of_any_size_can_be_drawn(circuit, tmp_path):
    """With a program, and with counts on its edges where they have room."""
    sketch = Sketch(
        "quotes", circuit, {Head(0, 0): "default 0; " * 30}, dict.fromkeys(circuit, 64), ("proved",)
    )
    write_drawing(draw_circuit(sketch), tmp_path / "one.svg", tmp_path / "one.png")
    assert (tmp_path / "one.png").stat().st_size > 1000


@pytest.mark.parametrize("circuit", [PATH, TANGLE, PORTS, whole(Graph(4, 4))])
def test_a_figure_has_every_shape_and_text_of_the_pages_drawing(circuit):
    """There is one drawing of a circuit, its ports among it; a figure paints it below a title of its own."""
    page = render(draw_sideways(circuit, frozenset({Head(0, 0)}), dict.fromkeys(circuit, "64")))
    drawing = draw_circuit(Sketch("quotes", circuit, {Head(0, 0): "self"}, dict.fromkeys(circuit, 64), ()))
    figure = Figure(figsize=(drawing.width, drawing.height))
    drawing.paint(figure)
    (axes,) = figure.axes
    assert len(axes.patches) == page.count("<path") + page.count("<rect")
    title, program, *texts = (text.get_text() for text in axes.texts)
    assert (title, program) == ("quotes", "head 0.0: self")
    assert texts == re.findall(r"<text[^>]*>([^<]*)", page)


def test_an_answer_is_never_broken_between_lines():
    """Each stands with its verdict, as words that can be read."""
    answers = [f"robustness at 1/{place}: proved (unreached prompts: {place})" for place in range(10, 20)]
    lines = _lines_of(answers)
    assert len(lines) > 1
    assert "   ".join(lines) == "   ".join(answers)
