"""Reading circuits in the common spellings: ours, the paper's release, and EAP-IG; ACDC's is in graphviz.py.

| ours             | release      | EAP-IG     |
|------------------|--------------|------------|
| `embed`          | `emb`        | `input`    |
| `head 0.1`       | `attn_0_h_1` | `a0.h1`    |
| `head 0.1 query` |              | `a0.h1<q>` |
| `attn 0`         | `attn_0`     |            |
| `mlp 0`          | `mlp_0`      | `m0`       |
| `logits`         | `logits`     | `logits`   |

`attn L` is a block: the union of the heads of layer L. An EAP-IG file names no ablation, is read as `zero`;
it tells ports apart, and where it keeps query, key and value of every edge together, heads are not divided.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from circuitproof.circuits.ablation import KINDS, ZERO, Ablation, Counterfactual, Mean, Pooling, Zero
from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import (
    EMBED,
    LOGITS,
    Edge,
    Granularity,
    Graph,
    Head,
    Mlp,
    Node,
    Port,
    Target,
    Use,
)
from circuitproof.circuits.graphviz import SUFFIXES, parse_graphviz
from circuitproof.errors import InputError
from circuitproof.files.kinds import FileKind, of_kind
from circuitproof.files.reading import Fields, about, alone, read_json, read_text, reading, reading_part

_NAMES = re.compile(
    r"(?P<embed>embed|emb|input)|(?P<logits>logits)"
    r"|(?:head (?P<l1>N)\.(?P<h1>N)|attn_(?P<l2>N)_h_(?P<h2>N)|a(?P<l3>N)\.h(?P<h3>N))"
    r"|attn[ _](?P<block>N)|(?:mlp[ _]|m)(?P<mlp>N)".replace("N", "[0-9]{1,9}")
)
_EAP_IG_EDGE = re.compile(r"(?P<source>.+)->(?P<target>[^<]+)(?:<(?P<input>[qkv])>)?")
_USES = {"q": Use.QUERY, "k": Use.KEY, "v": Use.VALUE}
_SHOWN = 40
"""How much of a name is enough to recognise it."""


def load_circuit(path: Path, sizes: Graph | None = None) -> Circuit:
    """Read a circuit file in any spelling.

    What a file does not tell is taken from the `sizes` of its model, if they are given: whether there are
    MLPs and whether they read beside the heads, and of a drawing of ACDC's how many layers and heads.
    """
    if path.suffix in SUFFIXES:
        return parse_graphviz(read_text(path), str(path), sizes)
    content = of_kind(read_json(path), str(path), FileKind.CIRCUIT)
    return parse_circuit(content, str(path), sizes)


def parse_circuit(content: object, where: str, model: Graph | None = None) -> Circuit:
    """Read a circuit in any of the three spellings; the shape of `edges` and the key `n_layers` tell.

    `model` is the graph of its model: what MLPs there are, where the circuit does not say so.
    """
    beside = Graph(1, 1) if model is None else model
    fields = Fields(content, where)
    with about(where):
        if isinstance(fields.value("edges"), dict):
            return _parse_eap_ig(fields, beside)
        if fields.has("n_layers"):
            return _parse_release(fields, beside)
        return _parse_ours(content, where, beside)


def parse_nodes(name: str, graph: Graph, where: str) -> tuple[Node, ...]:
    """Return the node that a name in any spelling stands for, or the heads of a block."""
    match = _NAMES.fullmatch(name)
    if match is None:
        raise InputError(
            f"{where}: {name[:_SHOWN]!r} is not a node; want embed, head L.H, attn L, mlp L or logits"
        )
    nodes = _nodes_of(match, graph)
    if outside := [node for node in nodes if node not in graph]:
        raise InputError(f"{where}: {outside[0]} is outside {graph.layers} layers of {graph.heads} heads")
    return nodes


def parse_targets(name: str, graph: Graph, where: str) -> tuple[Target, ...]:
    """Return where edges end that a name stands for: a node, the heads of a block, or a port of a head."""
    node, _, use = name.rpartition(" ")
    if node and use in list(Use):
        return tuple(_port(one, Use(use), where) for one in parse_nodes(node, graph, where))
    return parse_nodes(name, graph, where)


def _port(node: Node, use: Use, where: str) -> Port:
    if not isinstance(node, Head):
        raise InputError(f"{where}: {node} has no {use}; only heads have ports")
    return Port(node, use)


def parse_head(text: str, graph: Graph, where: str) -> Head:
    """Return the head that `1.0` or `head 1.0` names."""
    name = text if text.startswith("head ") else f"head {text}"
    match parse_nodes(name, graph, where):
        case (Head() as head,):
            return head
        case _:
            raise InputError(f"{where} is {text!r}, want layer and index of one head, such as 1.0")


def _nodes_of(match: re.Match[str], graph: Graph) -> tuple[Node, ...]:
    group = match.groupdict()
    if group["embed"]:
        return (EMBED,)
    if group["logits"]:
        return (LOGITS,)
    if group["block"]:
        return tuple(Head(int(group["block"]), index) for index in range(graph.heads))
    if group["mlp"]:
        return (Mlp(int(group["mlp"])),)
    layer, index = next((group[f"l{k}"], group[f"h{k}"]) for k in "123" if group[f"l{k}"])
    return (Head(int(layer), int(index)),)


def _parse_ours(content: object, where: str, model: Graph) -> Circuit:
    with reading(content, where) as fields:
        told = Granularity.HEAD
        if fields.has("granularity"):
            told = fields.choice("granularity", Granularity)
        mlps = fields.boolean("mlps") if fields.has("mlps") else model.has_mlps
        beside = fields.only_true("parallel") or model.is_parallel
        graph = Graph(fields.integer("layers", least=1), fields.integer("heads", least=1), told, mlps, beside)
        ablation = read_ablation(fields, "ablation")
        edges = fields.texts("edges")
    return parse_edges(graph, edges, where, ablation)


def parse_edges(graph: Graph, edges: Iterable[str], where: str, ablation: Ablation = ZERO) -> Circuit:
    """Return the circuit of edges as we spell them, each listed once."""
    names: dict[tuple[str, str], None] = {}
    for index, text in enumerate(edges):
        source, arrow, target = text.partition(" -> ")
        if not arrow:
            raise InputError(f"{where}.edges[{index}] is {text!r}, want 'source -> target'")
        if (source, target) in names:
            raise InputError(f"{where}.edges[{index}] is {text!r} once more, want each edge once")
        names[source, target] = None
    return _kept(graph, ablation, names, where)


def read_ablation(fields: Fields, key: str) -> Ablation:
    """Read what a cut edge carries, as it is written in a circuit or a claim."""
    if isinstance(fields.value(key), str):
        kind = fields.text(key)
        if kind == Zero.kind:
            return ZERO
        if kind in KINDS:
            raise InputError(f"{fields.path(key)} is {kind!r} and names no prompts; want an object with them")
        raise InputError(f"{fields.path(key)} is {kind!r}, want one of {', '.join(KINDS)}")
    with reading_part(fields, key) as part:
        if part.one_of("kind", (Mean.kind, Counterfactual.kind)) == Mean.kind:
            return Mean(part.integer_rows("prompts"), part.choice("over", Pooling))
        return Counterfactual(tuple(_pair(one, where) for one, where in part.entries("pairs")))


def _pair(value: object, where: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    pair = alone(value, where).integer_rows("")
    if len(pair) != len(("prompt", "partner")):
        raise InputError(f"{where} is {len(pair)} prompts, want a prompt and its partner")
    return pair[0], pair[1]


def _sized(sizes: Fields, model: Graph) -> Graph:
    layers, heads = sizes.integer("n_layers", least=1), sizes.integer("n_heads", least=1)
    return Graph(layers, heads, has_mlps=model.has_mlps, is_parallel=model.is_parallel)


def _parse_release(fields: Fields, model: Graph) -> Circuit:
    graph = _sized(fields, model)
    ablation = read_ablation(fields, "ablation")
    names = fields.each("edges", lambda edge: (edge.text("source"), edge.text("target")))
    count = fields.integer("num_edges") if fields.has("num_edges") else len(names)
    if count != len(names):
        raise InputError(f"{fields.path('num_edges')} is {count}, but {len(names)} are listed")
    return _kept(graph, ablation, names, fields.where)


def _parse_eap_ig(fields: Fields, model: Graph) -> Circuit:
    sizes = fields.fields("cfg")
    graph = _sized(sizes, model)
    if sizes.has("parallel_attn_mlp"):
        graph = replace(graph, is_parallel=sizes.boolean("parallel_attn_mlp"))
    inputs = _kept_inputs(fields.fields("edges"))
    nodes = fields.fields("nodes") if fields.has("nodes") else Fields({}, fields.path("nodes"))
    _refuse_partial_nodes(fields, nodes)
    _refuse_dropped_nodes(nodes, inputs, fields.where)
    if all(len(uses) == len(Use) for uses in inputs.values()):
        return _kept(graph, ZERO, inputs, fields.where)
    names = [(source, name) for (source, target), uses in inputs.items() for name in _ported(target, uses)]
    return _kept(replace(graph, granularity=Granularity.PORT), ZERO, names, fields.where)


def _ported(target: str, uses: set[Use]) -> list[str]:
    """Return the names of what an edge feeds; what is no head has no ports to tell apart."""
    match = _NAMES.fullmatch(target)
    is_head = match is not None and any(match[name] for name in ("l1", "l2", "l3", "block"))
    is_whole = len(uses) == len(Use) and not is_head
    return [target] if is_whole else [f"{target} {use}" for use in Use if use in uses]


def _kept_inputs(edges: Fields) -> dict[tuple[str, str], set[Use]]:
    """Return the kept edges with the ports that each feeds: all, where none is named."""
    inputs: dict[tuple[str, str], set[Use]] = defaultdict(set)
    for name in edges.keys():  # noqa: SIM118  # Fields is not a mapping
        match = _EAP_IG_EDGE.fullmatch(name)
        if match is None:
            raise InputError(
                f"{edges.path(name)} is not an edge; want 'source->target' or 'source->target<q>'"
            )
        if edges.fields(name).boolean("in_graph"):
            told = [_USES[match["input"]]] if match["input"] else list(Use)
            inputs[match["source"], match["target"]].update(told)
    return inputs


def _refuse_partial_nodes(fields: Fields, nodes: Fields) -> None:
    if fields.has("neurons"):
        raise InputError(f"{fields.path('neurons')} keeps single neurons; only whole nodes are supported")
    for name in nodes.keys():  # noqa: SIM118  # Fields is not a mapping
        if isinstance(nodes.value(name), dict) and nodes.fields(name).has("neurons"):
            raise InputError(f"{nodes.path(name)} keeps single neurons; only whole nodes are supported")


def _refuse_dropped_nodes(nodes: Fields, edges: Iterable[tuple[str, str]], where: str) -> None:
    """Refuse a kept edge at a node that is not kept: EAP-IG drops such an edge before it runs."""
    for source, target in edges:
        for name in (source, target):
            if name != str(LOGITS) and nodes.has(name) and not _is_kept(nodes, name):
                raise InputError(f"{where}: {source} -> {target} is kept, but the node {name} is not")


def _is_kept(nodes: Fields, name: str) -> bool:
    if isinstance(nodes.value(name), dict):
        return nodes.fields(name).boolean("in_graph")
    return nodes.boolean(name)


def _kept(graph: Graph, ablation: Ablation, names: Iterable[tuple[str, str]], where: str) -> Circuit:
    edges = frozenset(
        Edge(one, other)
        for source, target in names
        for one in parse_nodes(source, graph, where)
        for other in parse_targets(target, graph, where)
    )
    return Circuit(graph, edges, ablation)
