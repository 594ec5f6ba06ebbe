from dataclasses import replace
from fractions import Fraction

import pytest

from circuitproof.circuits.graph import Head, Mlp
from circuitproof.circuits.spelling import parse_circuit
from circuitproof.models.operators import Attention, LayerNorm
from circuitproof.proof.patterns.regions import UnsettledError
from circuitproof.proof.summed.outline import outline
from hand_models import freeze
from models import random_model
from summed_claims import SOFT


def circuit(*edges):
    return parse_circuit({"layers": 2, "heads": 2, "ablation": "zero", "edges": list(edges)}, "test")


def of(*edges, sizes=SOFT):
    return outline(freeze(random_model(sizes, 0, {})), circuit(*edges))


def test_heads_of_any_layer_that_read_local_nodes_are_summed():
    """What an MLP makes of embeddings is as local as they are."""
    found = of(
        "embed -> mlp 0",
        "mlp 0 -> head 1.0",
        "embed -> head 0.1",
        "head 0.1 -> logits",
        "head 1.0 -> logits",
        "mlp 0 -> logits",
    )
    assert found.heads == (Head(0, 1), Head(1, 0))
    assert found.local == (Mlp(0),)
    assert found.layers == (0, 1)


def test_dead_edges_do_not_count():
    """A head in series that reaches no logits changes nothing."""
    assert of("embed -> head 0.0", "head 0.0 -> mlp 0", "embed -> logits").heads == ()


@pytest.mark.parametrize(
    ("edges", "named"),
    [
        (("embed -> head 0.0", "head 0.0 -> mlp 0", "mlp 0 -> logits"), "head 0.0 -> mlp 0"),
        (("embed -> head 0.0", "head 0.0 -> head 1.1", "head 1.1 -> logits"), "head 0.0 -> head 1.1"),
    ],
)
def test_a_head_that_is_read_by_anything_but_the_logits_is_refused_by_its_edge(edges, named):
    """The reader learns which edge to cut."""
    with pytest.raises(UnsettledError, match=named):
        of(*edges)


def test_norms_and_sparsemax_are_refused():
    """A norm before the logits divides by all that heads bring; sparsemax is no sum of exponentials."""
    normed = replace(SOFT, norm=LayerNorm(Fraction(1, 100)))
    with pytest.raises(UnsettledError, match="norm"):
        of("embed -> head 0.0", "head 0.0 -> logits", sizes=normed)
    with pytest.raises(UnsettledError, match="sparsemax"):
        of("embed -> head 0.0", "head 0.0 -> logits", sizes=replace(SOFT, attention=Attention.SPARSEMAX))
