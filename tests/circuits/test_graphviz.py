"""Drawings of ACDC's: what is an edge of the circuit, what only lays nodes out, and what is refused."""

import re

import pytest

from circuitproof.circuits.graph import Granularity, Graph
from circuitproof.circuits.graphviz import parse_graphviz
from circuitproof.circuits.spelling import load_circuit
from circuitproof.errors import InputError
from places import REFERENCE

DRAWN = """
digraph "out"
{

bgcolor = "#ffffff"

node [
class = "node"
,fillcolor = "#ff00ff",style = "filled"
,width = "0.152778",height = "0.152778"
];

"<a0.1_q>" [
pos = "2.79667,-12.6942!"
,fillcolor = "#ffffff",style = "filled"
,xlabel = "<a0.1_q>"
]

"<embeds>" -> "<a0.1_q>" [id = "<embeds>-<a0.1_q>"
,"color" = "black"
,"style" = "bold, rounded"
];
"<tok_embeds>" -> "<a0.1_v>" [penwidth = 0.3]; // both halves of the embedding
"<pos_embeds>" -> "<a0.1_v>";
"<a0.1_q>" -> "<a0.1>"; "<a0.1_v>" -> "<a0.1>";
"<a0.1>" -> "<m0>" -> "<resid_post>"
"<a0.1>" -> "<m1>" [id = "x"
,"color" = "black"
,"style" = "invis"
];
}
"""


def test_visible_edges_are_kept_and_a_heads_own_wiring_is_none():
    """Seven visible edges of the drawing: two of the head's own, and two halves of one embedding."""
    circuit = parse_graphviz(DRAWN, "c.gv")
    assert [str(edge) for edge in circuit] == [
        "embed -> head 0.1 query",
        "embed -> head 0.1 value",
        "head 0.1 -> mlp 0",
        "mlp 0 -> logits",
    ]
    assert circuit.graph == Graph(2, 2, Granularity.PORT)


def test_sizes_are_those_of_the_model_where_there_is_one():
    """A drawing does not tell how many layers and heads there are."""
    assert parse_graphviz(DRAWN, "c.gv", Graph(12, 12)).graph == Graph(12, 12, Granularity.PORT)
    with pytest.raises(
        InputError, match=re.escape("c.gv: edge embed -> head 0.1 query is outside 1 layers of 1 heads")
    ):
        parse_graphviz(DRAWN, "c.gv", Graph(1, 1))


def test_without_ports_heads_are_whole():
    """ACDC can leave them out."""
    circuit = parse_graphviz("digraph g { <embeds> -> <a1.0>; <a1.0> -> <resid_post> }", "c.gv")
    assert [str(edge) for edge in circuit] == ["embed -> head 1.0", "head 1.0 -> logits"]
    assert circuit.graph == Graph(2, 1)


def test_a_style_for_all_edges_holds_for_those_that_follow():
    """Graphviz's own rule: a default, unless an edge says otherwise."""
    shown, hidden = '"<embeds>" -> "<m0>"', '"<m0>" -> "<m1>"'
    text = f'digraph {{ {shown}; edge [style=invis]; {hidden}; "<m0>" -> "<resid_post>" [style=solid] }}'
    assert [str(edge) for edge in parse_graphviz(text, "c.gv")] == ["embed -> mlp 0", "mlp 0 -> logits"]


@pytest.mark.parametrize(("name", "nodes", "edges"), [("ioi", 108, 926), ("greaterthan", 50, 328)])
def test_the_published_drawings_lay_out_nodes_and_keep_no_edge(name, nodes, edges):
    """They are pictures of the canonical circuits: every edge in them is invisible."""
    path = REFERENCE / "circuits" / f"acdc-{name}-canonical.gv"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    with pytest.raises(
        InputError, match=f"lays out {nodes} nodes and keeps no edge: {edges} edges are drawn"
    ):
        load_circuit(path)


def test_the_published_circuit_of_eap_ig_is_read():
    """756 edges into ports of GPT-2 small, none of them dead."""
    path = REFERENCE / "circuits" / "mib-gpt2-ioi-eap-ig.json"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    circuit = load_circuit(path)
    assert (len(circuit), len(circuit.live())) == (756, 756)
    assert circuit.graph == Graph(12, 12, Granularity.PORT)
