"""Block regression: a circuit of heads beside the circuit of their attention blocks."""

from dataclasses import replace

from circuitproof.circuits.circuit import circuit_of, whole
from circuitproof.circuits.graph import EMBED, LOGITS, Edge, Head
from circuitproof.files.run import Run
from circuitproof.tasks.quotes import toy_quotes
from circuitproof_lab.distill.lesion import Behaviour
from circuitproof_lab.pipeline.stages.blocks import block_circuit, regress
from hand_models import QUOTE_SIZES, quote_model

TWO_HEADS = replace(QUOTE_SIZES, heads=2)
LOUD = {"head.0.1.value.weight": [[0, 0], [0, 0]], "head.0.1.output.weight": [[0, 0], [0, 0]]}


def behaviour(model) -> Behaviour:
    """Return quotes along the one head of two that does them."""
    head = Head(0, 0)
    return Behaviour(toy_quotes(), circuit_of(model.graph, [Edge(EMBED, head), Edge(head, LOGITS)]))


def test_a_block_circuit_has_all_heads_of_a_layer():
    """Every edge between two blocks of which the circuit has one, and no other."""
    model = quote_model(None, TWO_HEADS)
    found = block_circuit(behaviour(model).circuit)
    assert found.heads() == (Head(0, 0), Head(0, 1))
    assert len(found) == 4
    everything = whole(model.graph)
    assert block_circuit(everything) == everything


def test_heads_that_do_all_reproduce_their_block(tmp_path):
    """The other head of the layer is silent, so that nothing differs; asked again, the record is read."""
    model = quote_model(None, TWO_HEADS)
    found = regress(Run(tmp_path), model, behaviour(model))
    assert found.is_reproduced
    assert (found.heads, found.block_heads, found.right, found.block_right) == (1, 2, 128, 128)
    assert found.largest_difference == 0
    assert regress(Run(tmp_path), None, behaviour(model)) == found


def test_a_head_that_was_left_out_and_matters_is_seen(tmp_path):
    """The block decides otherwise than the union of the heads that are kept."""
    loud = {"head.0.1.value.weight": [[-9, 0], [0, -9]], "head.0.1.output.weight": [[9, 0], [0, 9]]}
    model = quote_model(loud, TWO_HEADS)
    found = regress(Run(tmp_path), model, behaviour(model))
    assert not found.is_reproduced
    assert found.right == 128
    assert found.block_right < 128
    assert found.largest_difference > 0
