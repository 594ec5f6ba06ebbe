"""The coarse structure of a circuit, and when it is that of the motif."""

from fractions import Fraction

import pytest
from matplotlib.figure import Figure

import viewed
from circuitproof.circuits.circuit import circuit_of, whole
from circuitproof.circuits.graph import EMBED, LOGITS, Edge, Graph, Head, Mlp
from circuitproof_lab.figures.structure import MOTIF, coarse_structure, draw_structure, is_comparable
from circuitproof_lab.figures.style import write_drawing

GRAPH = Graph(3, 2)
PATH = [Edge(EMBED, Mlp(0)), Edge(Mlp(0), Head(2, 0)), Edge(Head(2, 0), LOGITS)]


def test_an_early_mlp_and_one_later_head_are_the_motif():
    """As the paper says of its own circuit."""
    found = coarse_structure(
        circuit_of(GRAPH, PATH), {Head(2, 0): viewed.closing_model().programs[Head(0, 0)]}
    )
    assert found.is_motif
    assert [step.name for step in found.steps] == ["embedding", "mlp 0", "head 2.0", "logits"]
    assert [step.is_program for step in found.steps] == [False, False, True, False]


@pytest.mark.parametrize(
    ("edges", "kinds"),
    [
        ([Edge(EMBED, Head(0, 0)), Edge(Head(0, 0), Mlp(1)), Edge(Mlp(1), LOGITS)], ["head", "MLP"]),
        ([*PATH, Edge(EMBED, LOGITS)], ["MLP", "head"]),
        ([*PATH, Edge(Mlp(0), Head(2, 1)), Edge(Head(2, 1), LOGITS)], ["MLP", "heads"]),
        ([*PATH, Edge(EMBED, Mlp(1)), Edge(Mlp(1), Head(2, 0))], ["MLPs", "head"]),
    ],
    ids=["the head first", "a way past", "two heads", "two MLPs"],
)
def test_whatever_the_motif_has_not_is_another_structure(edges, kinds):
    """One edge more, one node more, another order."""
    found = coarse_structure(circuit_of(GRAPH, edges), {})
    assert [step.kind for step in found.steps] == ["embedding", *kinds, "logits"]
    assert not found.is_motif


def test_what_does_not_reach_the_logits_is_no_part_of_the_structure():
    """A dead edge changes nothing, so it is not compared."""
    assert coarse_structure(circuit_of(GRAPH, [*PATH, Edge(EMBED, Head(0, 0))]), {}).is_motif


def test_more_nodes_than_have_room_are_counted():
    """The whole graph too can be drawn."""
    found = coarse_structure(whole(Graph(1, 8)), {})
    assert found.steps[1].name == "8 heads"


def test_both_rows_and_the_sentence_are_drawn(tmp_path):
    """The bundle's own circuit above; a circuit of one head is another structure, and the figure says so."""
    view = viewed.quotes_view(Fraction(1, 100))
    assert is_comparable(view)
    drawing = draw_structure(view)
    figure = Figure(figsize=(drawing.width, drawing.height))
    drawing.paint(figure)
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert "one later head\ncopies the type" in texts
    assert any(text.startswith("another coarse structure; a structural comparison") for text in texts)
    boxes = len(coarse_structure(view.bundle.circuit, view.bundle.frozen.programs).steps) + len(MOTIF)
    assert len(figure.axes[0].patches) == boxes
    write_drawing(drawing, tmp_path / "one.svg", tmp_path / "one.png")
    assert (tmp_path / "one.png").stat().st_size > 1000


def test_bundles_about_other_things_are_not_compared():
    """The motif closes strings."""
    view = viewed.quotes_view(Fraction(1, 100))
    assert not is_comparable(viewed.hostile(view, "brackets"))
