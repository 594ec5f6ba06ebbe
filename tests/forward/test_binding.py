from fractions import Fraction

import pytest

from circuitproof.arithmetic.exact import Exact
from circuitproof.circuits.circuit import whole
from circuitproof.circuits.graph import Head
from circuitproof.forward.binding import PositionBinding, PrefixBinding
from circuitproof.forward.cells import Cells
from circuitproof.forward.forward import Forward, Trace
from circuitproof.programs.text import parse
from hand_models import PLAIN, build, circuit_of, freeze
from models import PROGRAMS, random_model, tiny_architecture


def test_no_two_positions_share_a_row():
    """A program head that always looks at the first token computes the same everywhere, in separate rows."""
    first = {Head(0, 0): parse("default 0\nadd 1 when key_position == 0\notherwise self")}
    frozen = freeze(build({}, PLAIN, first))
    cells = Cells(PositionBinding(frozen.programs), biases=False)
    stage = cells.logits_stage(circuit_of(["embed -> head 0.0", "head 0.0 -> mlp 0", "mlp 0 -> logits"]))
    for length in (1, 2, 3):
        cells.cell(stage, (1, 2, 1)[:length])
    assert cells.stages[0].outputs.marks() == [0, 1, 2]
    assert cells.stages[1].inputs.marks() == [0, 1, 2]


NEURAL = ["embed -> logits", "head 0.0 -> head 1.0", "head 1.0 -> logits"]
"""Head 0.0 reads nothing: its output is the same constant at every position."""


@pytest.mark.parametrize("programs", [PROGRAMS, {}])
@pytest.mark.parametrize("edges", [None, NEURAL])
def test_keeping_positions_apart_changes_no_logit(programs, edges):
    """The same text computes the same numbers, only in more rows."""
    frozen = freeze(random_model(tiny_architecture(), 1, programs))
    circuit = whole(frozen.graph) if edges is None else circuit_of(edges, layers=2, heads=2)
    found: list[tuple[Fraction, ...]] = []
    for binding in (PrefixBinding, PositionBinding):
        cells = Cells(binding(frozen.programs), biases=True)
        stage = cells.logits_stage(circuit)
        row = cells.cell(stage, (0, 3, 3, 1))
        found.append(Trace(Forward(frozen, cells, Exact(), (0, 1))).output(stage).fractions()[row])
    assert found[0] == found[1]
