import pytest

from circuitproof.circuits.graph import Head
from circuitproof.programs.text import parse
from circuitproof.proof.patterns.outline import HERE, outline
from circuitproof.proof.patterns.regions import UnsettledError
from hand_models import circuit_of

PROGRAMS = {Head(0, 0): parse("default 1\notherwise self"), Head(1, 0): parse("default 1\notherwise self")}


def found(*edges, has_norm=False, programs=PROGRAMS):
    """Return the groups of a circuit of two layers of one head."""
    made = outline(circuit_of(edges, layers=2), programs, has_norm=has_norm)
    return {group.coordinates: [str(node) for node in group.sources] for group in made.groups}


def test_sources_of_the_logits_are_grouped_by_what_they_depend_on():
    """The last position, the keys of a head, both, or nothing."""
    edges = (
        "embed -> head 0.0",
        "embed -> mlp 0",
        "embed -> logits",
        "head 0.0 -> logits",
        "mlp 0 -> logits",
    )
    assert found(*edges) == {frozenset({HERE}): ["embed", "mlp 0"], frozenset({Head(0, 0)}): ["head 0.0"]}
    bent = ("embed -> head 0.0", "embed -> mlp 0", "head 0.0 -> mlp 0", "mlp 0 -> logits")
    assert found(*bent) == {frozenset({HERE, Head(0, 0)}): ["mlp 0"]}
    assert found("embed -> logits", "mlp 1 -> logits")[frozenset()] == ["mlp 1"]


def test_a_function_is_separable_where_nothing_bends():
    """Then tokens and positions are minimised apart."""
    edges = (
        "embed -> head 0.0",
        "embed -> mlp 0",
        "head 0.0 -> logits",
        "mlp 0 -> head 1.0",
        "head 1.0 -> logits",
    )
    made = outline(circuit_of(edges, layers=2), PROGRAMS, has_norm=False)
    assert [made.is_separable(group) for group in made.groups] == [True, False]
    assert made.heads == (Head(0, 0), Head(1, 0))


@pytest.mark.parametrize(
    ("edges", "options", "sentence"),
    [
        (("embed -> head 0.0", "head 0.0 -> logits"), {"programs": {}}, r"head 0\.0 is neural"),
        (("embed -> logits",), {"has_norm": True}, "the model has norms"),
        (
            ("embed -> head 0.0", "head 0.0 -> head 1.0", "head 1.0 -> logits"),
            {},
            r"head 1\.0 reads what head 0\.0 gathers at each of its keys: two rows in series",
        ),
    ],
)
def test_the_node_that_breaks_the_argument_is_named(edges, options, sentence):
    """Nothing is assumed about it."""
    with pytest.raises(UnsettledError, match=sentence):
        found(*edges, **options)
