"""The frontier and the timeline of a protocol: drawn for any trials, also where nothing is missed."""

import pytest

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Graph
from circuitproof.find.measure import Measure
from circuitproof_lab.figures.frontier import draw_frontier
from circuitproof_lab.figures.style import write_drawing
from circuitproof_lab.figures.timeline import draw_timeline
from circuitproof_lab.records.gate import FrontierPoint, GateOutcome

GRAPH = Graph(layers=12, heads=12)


def trial(generation, edges, agreed, margin, task="quotes"):
    """Return a gate of eight prompts, opened for the first of two circuits, one of them nested."""
    gate, seen = Measure(0.0, agreed, 8, margin), Measure(0.0, 16, 16, 1.0)
    kept = [Circuit(GRAPH, frozenset(GRAPH.edges()[:count])) for count in (edges, edges + 1)]
    one, other = (FrontierPoint("threshold", circuit, seen, gate, {}) for circuit in kept)
    return GateOutcome(generation, task, (one,), (other,), one.circuit, (), None)


EXACT = [trial("A", 3, 8, 0.5), trial("B", 3, 8, 0.5, "brackets")]
TRIALS = {
    "all exact": EXACT,
    "one margin, one size": [trial("A", 1, 8, 0.0)],
    "some missed": [*EXACT, trial("C", 340, 2, -4.0)],
    "names of any kind": [trial("$a$ \u4e2d", 3, 8, 0.5, "<b>\u202e")],
}


@pytest.mark.parametrize("name", TRIALS)
@pytest.mark.parametrize("draw", [draw_frontier, draw_timeline])
def test_every_protocol_can_be_drawn_and_to_the_same_bytes(draw, name, tmp_path):
    """Warnings are errors, so a sign that the font lacks or an axis without room would fail."""
    files = [tmp_path / f"{place}.{kind}" for place in range(2) for kind in ("png", "svg")]
    for first in (0, 2):
        write_drawing(draw(TRIALS[name]), *files[first : first + 2])
    contents = [file.read_bytes() for file in files]
    assert contents[:2] == contents[2:]
    assert contents[0].startswith(b"\x89PNG")
    assert b"<svg" in contents[1]


def test_what_a_gate_says_changes_both_figures(tmp_path):
    """One missed prompt is seen."""
    for draw in (draw_frontier, draw_timeline):
        for name, agreed in (("exact", 8), ("missed", 7)):
            write_drawing(draw([trial("A", 3, agreed, 0.5)]), tmp_path / f"{name}.png")
        assert (tmp_path / "exact.png").read_bytes() != (tmp_path / "missed.png").read_bytes()
