import json
from dataclasses import replace

import pytest
from hypothesis import given

from circuitproof.circuits.circuit import Circuit, circuit_of, empty
from circuitproof.circuits.graph import (
    EMBED,
    LOGITS,
    Edge,
    Embed,
    Granularity,
    Graph,
    Head,
    LogitsNode,
    Mlp,
    Node,
    Port,
    Use,
)
from circuitproof.circuits.spelling import load_circuit, parse_circuit, parse_nodes
from circuitproof.errors import InputError
from circuitproof.files.canonical import readable_json
from strategies import circuits

GRAPH = Graph(2, 2)
NAMES = {
    EMBED: ("embed", "emb", "input"),
    LOGITS: ("logits",),
    Head(0, 1): ("head 0.1", "attn_0_h_1", "a0.h1"),
    Mlp(1): ("mlp 1", "mlp_1", "m1"),
}


def release_name(node: Node) -> str:
    """Return a node's name in the paper's release."""
    match node:
        case Embed():
            return "emb"
        case Head(layer, index):
            return f"attn_{layer}_h_{index}"
        case Mlp(layer):
            return f"mlp_{layer}"
        case LogitsNode():
            return "logits"


def eap_ig_name(node: Node) -> str:
    """Return a node's name in EAP-IG."""
    match node:
        case Embed():
            return "input"
        case Head(layer, index):
            return f"a{layer}.h{index}"
        case Mlp(layer):
            return f"m{layer}"
        case LogitsNode():
            return "logits"


def eap_ig_edges(edge: Edge) -> tuple[str, ...]:
    """Return the names of an edge in EAP-IG: three where it ends in a head."""
    text = f"{eap_ig_name(edge.source)}->{eap_ig_name(edge.target)}"
    return tuple(f"{text}<{letter}>" for letter in "qkv") if isinstance(edge.target, Head) else (text,)


def to_release(circuit: Circuit) -> dict[str, object]:
    """Write a circuit as the paper's release does."""
    return {
        "task": "quote_close",
        "n_layers": circuit.graph.layers,
        "n_heads": circuit.graph.heads,
        "granularity": "head",
        "edges": [
            {"source": release_name(edge.source), "target": release_name(edge.target)} for edge in circuit
        ],
        "num_edges": len(circuit),
        "ablation": "zero",
        "threshold": 0.01,
    }


def to_eap_ig(circuit: Circuit) -> dict[str, object]:
    """Write a circuit as EAP-IG does: every node and edge of the graph, each with `in_graph`."""
    graph = circuit.graph
    return {
        "cfg": {
            "n_layers": graph.layers,
            "n_heads": graph.heads,
            "parallel_attn_mlp": graph.is_parallel,
            "d_model": 16,
        },
        "nodes": {eap_ig_name(node): {"in_graph": node in circuit.nodes()} for node in graph.nodes()},
        "edges": {
            name: {"score": 0.1, "in_graph": edge in circuit}
            for edge in graph.edges()
            for name in eap_ig_edges(edge)
        },
    }


def ours(*edges: str, **keys: object) -> dict[str, object]:
    """Return a circuit file in our spelling."""
    return {"layers": 2, "heads": 2, "ablation": "zero", "edges": list(edges)} | keys


def release(*edges: tuple[str, str], **keys: object) -> dict[str, object]:
    """Return a circuit file in the spelling of the paper's release."""
    listed = [{"source": source, "target": target} for source, target in edges]
    return {"n_layers": 2, "n_heads": 2, "ablation": "zero", "edges": listed} | keys


def eap_ig(*edges: str, **keys: object) -> dict[str, object]:
    """Return a circuit file of EAP-IG that keeps `edges`."""
    cfg = {"n_layers": 2, "n_heads": 2, "parallel_attn_mlp": False}
    return {"cfg": cfg, "edges": {edge: {"in_graph": True} for edge in edges}} | keys


@given(circuits)
def test_the_three_spellings_say_the_same(circuit):
    """A circuit found by any of the tools is one value here, with one digest."""
    model = circuit.graph
    read = [parse_circuit(spell(circuit), "c", model) for spell in (Circuit.to_json, to_release, to_eap_ig)]
    assert read == [circuit] * 3
    assert [parse_circuit(spell(circuit), "c") for spell in (Circuit.to_json, to_eap_ig)] == [circuit] * 2


def test_a_circuit_says_that_blocks_are_parallel_or_is_read_beside_its_model():
    """A claim's circuit leaves it to the architecture; a file can be read alone."""
    graph = Graph(2, 2, is_parallel=True)
    circuit = circuit_of(graph, [Edge(EMBED, Mlp(0)), Edge(Head(0, 0), Mlp(1)), Edge(Mlp(1), LOGITS)])
    assert set(circuit.to_json()) - set(circuit.in_claim()) == {"parallel"}
    assert parse_circuit(circuit.to_json(), "c") == circuit
    assert parse_circuit(circuit.in_claim(), "c", graph) == circuit
    assert parse_circuit(circuit.in_claim(), "c").graph == Graph(2, 2)


@pytest.mark.parametrize("spell", [Circuit.to_json, to_release, to_eap_ig])
def test_a_circuit_file_is_loaded_whatever_its_spelling(tmp_path, spell):
    """Scores with a point do not disturb the reading."""
    circuit = circuit_of(GRAPH, [Edge(EMBED, Head(0, 1)), Edge(Head(0, 1), LOGITS)])
    path = tmp_path / "circuit.json"
    path.write_bytes(readable_json(spell(circuit)))
    assert load_circuit(path) == circuit


@pytest.mark.parametrize(
    ("model", "edges"),
    [
        ("norm_free", "embed -> head 0.0, head 0.0 -> mlp 0, mlp 0 -> mlp 1, mlp 1 -> logits"),
        ("band_norm_matched", "embed -> head 0.0, head 0.0 -> logits"),
        (
            "program_healed",
            "embed -> head 0.0, embed -> mlp 0, head 0.0 -> mlp 0, mlp 0 -> head 1.1, head 1.1 -> logits",
        ),
    ],
)
def test_the_circuits_of_the_paper_load(reference, model, edges):
    """Anyone can check the authors' own artifacts."""
    path = reference / model / "quote_close" / "circuit.json"
    circuit = load_circuit(path)
    assert ", ".join(map(str, circuit)) == edges
    assert circuit.graph == GRAPH
    assert len(circuit) == json.loads(path.read_text())["num_edges"]
    assert circuit.live() == circuit


@pytest.mark.parametrize(("name", "node"), [(name, node) for node, names in NAMES.items() for name in names])
def test_a_node_has_a_name_in_each_spelling(name, node):
    """The table at the top of the module, tested."""
    assert parse_nodes(name, GRAPH, "here") == (node,)


@pytest.mark.parametrize("name", ["attn 1", "attn_1"])
def test_a_block_of_attention_is_the_union_of_its_heads(name):
    """Block-level circuits become head-level ones with the same meaning."""
    assert parse_nodes(name, Graph(2, 3), "here") == (Head(1, 0), Head(1, 1), Head(1, 2))


def test_an_edge_between_blocks_is_all_edges_between_their_heads():
    """Four edges between two blocks of two heads, in either spelling that has blocks."""
    heads = [Edge(Head(0, i), Head(1, j)) for i in range(2) for j in range(2)]
    assert parse_circuit(ours("attn 0 -> attn 1"), "c") == circuit_of(GRAPH, heads)
    assert parse_circuit(release(("attn_0", "attn_1"), num_edges=1), "c") == circuit_of(GRAPH, heads)


@pytest.mark.parametrize(
    "name",
    ["", "head", "head 0", "head 0.1 ", "head -1.0", "a0h1", "attn_0_h_", "mlp", "m", "unembed", "EMBED",
     "head \N{ARABIC-INDIC DIGIT ZERO}.\N{ARABIC-INDIC DIGIT ONE}", "mlp " + "9" * 5000],
)  # fmt: skip
def test_what_is_not_a_node_is_refused(name):
    """Near misses are not guessed at."""
    with pytest.raises(
        InputError, match=r"^here: .* is not a node; want embed, head L.H, attn L, mlp L or logits"
    ):
        parse_nodes(name, GRAPH, "here")


@pytest.mark.parametrize(
    ("name", "node"),
    [("head 2.0", "head 2.0"), ("a0.h2", "head 0.2"), ("m2", "mlp 2"), ("attn_2", "head 2.0")],
)
def test_a_node_outside_the_graph_is_refused(name, node):
    """The file's own sizes are what its edges are held against."""
    with pytest.raises(InputError, match=f"^here: {node} is outside 2 layers of 2 heads$"):
        parse_nodes(name, GRAPH, "here")


KEPT_QK = ("input->a0.h0<q>", "input->a0.h0<k>")
REFUSED = {
    "not an object": ([], "c is a list, want an object with keys"),
    "no edges": ({"layers": 2}, r"c\.edges is missing"),
    "edges of no shape": (ours(edges=3), r"c\.edges is the number 3, want a list"),
    "ours: no arrow": (
        ours("embed -> mlp 0", "embed->mlp 0"),
        r"c\.edges\[1\] is 'embed->mlp 0', want 'source",
    ),
    "ours: two arrows": (ours("embed -> mlp 0 -> logits"), "'mlp 0 -> logits' is not a node"),
    "ours: backwards": (
        ours("mlp 1 -> mlp 0"),
        "c: there is no edge mlp 1 -> mlp 0: mlp 0 is not computed after",
    ),
    "ours: block into itself": (ours("attn 0 -> attn 0"), "there is no edge head 0.0 -> head 0.0"),
    "ours: outside": (ours("embed -> mlp 2"), "c: mlp 2 is outside 2 layers of 2 heads"),
    "ours: no layers": ({"heads": 2, "ablation": "zero", "edges": []}, r"c\.layers is missing"),
    "ours: zero heads": (ours(heads=0), r"c\.heads is 0, want at least 1"),
    "ours: negative layers": (ours(layers=-2), r"c\.layers is -2, want at least 1"),
    "ours: unknown key": (ours(num_edges=0), r"c\.num_edges is not a known key"),
    "ours: unknown ablation": (
        ours(ablation="resample"),
        r"c\.ablation is 'resample', want one of zero, mean, counterfactual",
    ),
    "ours: ablation of no prompts": (
        ours(ablation="mean"),
        r"c\.ablation is 'mean' and names no prompts; want an object with them",
    ),
    "ours: unknown kind": (
        ours(ablation={"kind": "box"}),
        r"c\.ablation\.kind is 'box', want one of 'mean', 'counterfactual'",
    ),
    "ours: mean over nothing": (
        ours(ablation={"kind": "mean", "over": "all", "prompts": []}),
        "a mean is taken over one or more prompts, none of them empty",
    ),
    "ours: mean over a prompt twice": (
        ours(ablation={"kind": "mean", "over": "all", "prompts": [[1], [1]]}),
        "a mean is taken over distinct prompts; one is listed twice",
    ),
    "ours: mean over tokens": (
        ours(ablation={"kind": "mean", "over": "token", "prompts": [[1]]}),
        r"c\.ablation\.over is 'token', want one of 'position', 'all'",
    ),
    "ours: half a pair": (
        ours(ablation={"kind": "counterfactual", "pairs": [[[1]]]}),
        r"c\.ablation\.pairs\[0\] is 1 prompts, want a prompt and its partner",
    ),
    "ours: no pairs": (
        ours(ablation={"kind": "counterfactual", "pairs": []}),
        "counterfactual ablation wants prompts with partners; there are none",
    ),
    "ours: two partners": (
        ours(ablation={"kind": "counterfactual", "pairs": [[[1], [2]], [[1], [3]]]}),
        "a prompt has one partner; one is listed twice",
    ),
    "ours: longer partner": (
        ours(ablation={"kind": "counterfactual", "pairs": [[[1], [2, 3]]]}),
        r"prompt \[1\] has 1 tokens and its partner 2; want the same number, at least one",
    ),
    "ours: unknown granularity": (
        ours(granularity="neuron"),
        r"c\.granularity is 'neuron', want one of 'head', 'port'",
    ),
    "ours: a port among heads": (
        ours("embed -> head 0.0 query", "head 0.0 -> logits"),
        "edge embed -> head 0.0 query feeds a port, but the granularity of the circuit is head, want port",
    ),
    "ours: a head among ports": (
        ours("embed -> head 0.0", "embed -> head 0.1 key", granularity="port"),
        "edge embed -> head 0.0 feeds a whole head, but the circuit tells query, key and value apart",
    ),
    "ours: a port of an MLP": (
        ours("embed -> mlp 0 value", granularity="port"),
        "c: mlp 0 has no value; only heads have ports",
    ),
    "ours: an MLP that is not there": (
        ours("embed -> mlp 0", mlps=False),
        "mlp 0 is outside 2 layers of 2 heads",
    ),
    "ours: no ablation": ({"layers": 2, "heads": 2, "edges": []}, r"c\.ablation is missing"),
    "ours: edges as objects": (ours(edges=[{}]), r"c\.edges\[0\] is an object, want a string"),
    "release: edge count": (release(("emb", "mlp_0"), num_edges=2), r"c\.num_edges is 2, but 1 are listed"),
    "release: negative count": (release(num_edges=-1), r"c\.num_edges is -1, want at least 0"),
    "release: no heads": ({"n_layers": 2, "edges": []}, r"c\.n_heads is missing"),
    "release: zero layers": (release(n_layers=0), r"c\.n_layers is 0, want at least 1"),
    "release: ablation": (release(ablation="box"), r"c\.ablation is 'box', want one of zero, mean"),
    "release: edges as texts": (release(edges=["embed -> mlp 0"]), r"c\.edges\[0\] is the string"),
    "release: half an edge": (release(edges=[{"source": "emb"}]), r"c\.edges\[0\]\.target is missing"),
    "release: weighted edge": (
        release(edges=[{"source": "emb", "target": "mlp_0", "weight": 1}]),
        r"c\.edges\[0\]\.weight is not a known key",
    ),
    "release: backwards": (release(("logits", "emb")), "c: there is no edge logits -> embed"),
    "release: unknown node": (release(("emb", "mlp_a")), "c: 'mlp_a' is not a node"),
    "eap-ig: no cfg": ({"edges": {}}, r"c\.cfg is missing"),
    "eap-ig: no layers": (eap_ig(cfg={"n_heads": 2}), r"c\.cfg\.n_layers is missing"),
    "eap-ig: negative heads": (eap_ig(cfg={"n_layers": 2, "n_heads": -1}), r"c\.cfg\.n_heads is -1, want at"),
    "eap-ig: parallel": (
        eap_ig("a0.h0->m0", cfg={"n_layers": 2, "n_heads": 2, "parallel_attn_mlp": True}),
        "c: there is no edge head 0.0 -> mlp 0: mlp 0 reads beside the heads of its layer",
    ),
    "ours: parallel": (
        ours("head 1.0 -> mlp 1", parallel=True),
        "c: there is no edge head 1.0 -> mlp 1: mlp 1 reads beside the heads of its layer",
    ),
    "ours: not parallel": (ours(parallel=False), "c.parallel is false, want true, or the key left out"),
    "eap-ig: a query of an MLP": (eap_ig("input->m0<q>"), "c: mlp 0 has no query; only heads have ports"),
    "eap-ig: no arrow": (eap_ig("input-m0"), r"c\.edges\.input-m0 is not an edge; want 'source->target'"),
    "eap-ig: fourth input": (eap_ig("input->a0.h0<w>"), "is not an edge; want 'source->target' or"),
    "eap-ig: no flag": (
        eap_ig(edges={"input->m0": {"score": 1}}),
        r"c\.edges\.input->m0\.in_graph is missing",
    ),
    "eap-ig: flag as number": (
        eap_ig(edges={"input->m0": {"in_graph": 1}}),
        "in_graph is the number 1, want true",
    ),
    "eap-ig: flag alone": (eap_ig(edges={"input->m0": True}), "input->m0 is true, want an object"),
    "eap-ig: backwards": (eap_ig("m1->m0"), "c: there is no edge mlp 1 -> mlp 0"),
    "eap-ig: outside": (eap_ig("m2->logits"), "c: mlp 2 is outside"),
    "eap-ig: neurons of a node": (
        eap_ig(nodes={"input": True, "m0": {"in_graph": True, "neurons": [True, False]}}),
        r"c\.nodes\.m0 keeps single neurons; only whole nodes are supported",
    ),
    "eap-ig: table of neurons": (
        eap_ig(neurons={"m0": [True, False]}),
        r"c\.neurons keeps single neurons; only whole nodes are supported",
    ),
    "eap-ig: dropped source": (
        eap_ig("m0->logits", nodes={"m0": {"in_graph": False}}),
        "c: m0 -> logits is kept, but the node m0 is not",
    ),
    "eap-ig: dropped target": (
        eap_ig("input->m0", nodes={"input": True, "m0": False}),
        "c: input -> m0 is kept, but the node m0 is not",
    ),
}


@pytest.mark.parametrize(("content", "sentence"), REFUSED.values(), ids=REFUSED)
def test_a_file_that_does_not_say_which_circuit_is_meant_is_refused(content, sentence):
    """Each row breaks one rule of one spelling."""
    with pytest.raises(InputError, match=sentence):
        parse_circuit(content, "c")


@pytest.mark.parametrize("content", [ours(), release(), release(num_edges=0), eap_ig()])
def test_the_empty_circuit_can_be_said_in_every_spelling(content):
    """To keep nothing is a circuit; whether it is a good one is for a proof to say."""
    assert parse_circuit(content, "c") == empty(GRAPH)


def test_an_edge_listed_twice_is_kept_once():
    """A circuit is a set; a block and one of its heads may overlap."""
    twice = parse_circuit(ours("attn 0 -> mlp 0", "head 0.1 -> mlp 0"), "c")
    assert len(twice) == 2


def test_an_eap_ig_edge_that_is_not_in_the_graph_is_not_kept():
    """EAP-IG lists every edge, with a score, kept or not."""
    content = eap_ig(edges={"input->m0": {"in_graph": False}, "m0->logits": {"score": -1, "in_graph": True}})
    assert [str(edge) for edge in parse_circuit(content, "c")] == ["mlp 0 -> logits"]


def test_an_eap_ig_edge_into_a_whole_head_keeps_all_its_inputs():
    """Written without a letter, or with a letter beside it, the edge is the same."""
    wanted = circuit_of(GRAPH, [Edge(EMBED, Head(0, 0))])
    assert parse_circuit(eap_ig("input->a0.h0"), "c") == wanted
    assert parse_circuit(eap_ig("input->a0.h0", "input->a0.h0<q>"), "c") == wanted


def test_eap_ig_files_that_keep_some_inputs_of_a_head_tell_ports_apart():
    """Whatever feeds a whole head beside them feeds its three ports then."""
    head, ported = Head(0, 0), replace(GRAPH, granularity=Granularity.PORT)
    query_and_key = [Edge(EMBED, Port(head, use)) for use in (Use.QUERY, Use.KEY)]
    assert parse_circuit(eap_ig(*KEPT_QK), "c") == circuit_of(ported, query_and_key)
    dropped = {name: {"in_graph": True} for name in KEPT_QK} | {"input->a0.h0<v>": {"in_graph": False}}
    assert parse_circuit(eap_ig(edges=dropped), "c") == circuit_of(ported, query_and_key)
    whole = [Edge(EMBED, Port(Head(0, 1), use)) for use in Use]
    found = parse_circuit(eap_ig(*KEPT_QK, "input->a0.h1", "a0.h0->m0", "m0->logits"), "c")
    further = [Edge(head, Mlp(0)), Edge(Mlp(0), LOGITS)]
    assert found == circuit_of(ported, [*query_and_key, *whole, *further])


def test_eap_ig_need_not_say_that_it_is_sequential():
    """Files without the flag come from models without the choice."""
    assert parse_circuit(eap_ig("input->m0", cfg={"n_layers": 2, "n_heads": 2}), "c").graph == GRAPH


def test_what_eap_ig_says_about_the_output_node_is_not_held_against_an_edge():
    """EAP-IG always keeps the output and does not care what the flag says."""
    content = eap_ig("m0->logits", nodes={"m0": True, "logits": {"in_graph": False}})
    assert len(parse_circuit(content, "c")) == 1
