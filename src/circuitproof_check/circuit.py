"""The nodes of a transformer and the edges that a circuit keeps."""

import re
from dataclasses import dataclass
from itertools import pairwise

from circuitproof_check.architecture import Architecture
from circuitproof_check.reading import ForgedError, fields, integer, items, show, text

_NODE = re.compile(r"embed|logits|head (0|[1-9][0-9]*)\.(0|[1-9][0-9]*)|mlp (0|[1-9][0-9]*)")


@dataclass(frozen=True, slots=True, order=True)
class Node:
    """`embed` at stage 0, the heads of layer L at 2L + 1, `mlp L` at 2L + 2, `logits` at the stage after all.

    Sorting nodes gives the order of computation.
    """

    stage: int
    index: int = 0

    @property
    def layer(self) -> int:
        """The layer of a head or an MLP."""
        return (self.stage - 1) // 2

    @property
    def is_head(self) -> bool:
        """Whether the node is a head."""
        return self.stage % 2 == 1


EMBED = Node(0)


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """What carries the output of `source` into the input of `target`; sorting gives the order of a claim."""

    source: Node
    target: Node


def logits_node(size: Architecture) -> Node:
    """Return the node that nothing reads.

    Its stage is even, past every MLP, so that it is not taken for a head.
    """
    return Node(2 * size.layers + 2)


def all_edges(size: Architecture) -> tuple[Edge, ...]:
    """Return every edge of the model."""
    heads = [Node(2 * layer + 1, index) for layer in range(size.layers) for index in range(size.heads)]
    mlps = [Node(2 * layer + 2) for layer in range(size.layers)]
    nodes = sorted([EMBED, *heads, *mlps, logits_node(size)])
    return tuple(Edge(source, target) for source in nodes for target in nodes if source.stage < target.stage)


def read_circuit(value: object, where: str, size: Architecture) -> tuple[Edge, ...]:
    """Read the kept edges."""
    layers, heads, ablation, listed = fields(value, where, "layers", "heads", "ablation", "edges")
    rule_circuit_has_the_sizes(integer(layers, f"{where}.layers"), integer(heads, f"{where}.heads"), size)
    rule_ablation_is_zero(ablation)
    names = [text(name, f"{where}.edges[{i}]") for i, name in enumerate(items(listed, f"{where}.edges"))]
    edges = tuple(_read_edge(name, size) for name in names)
    rule_edges_stand_in_order(edges, names)
    rule_embed_reaches_logits(edges, logits_node(size))
    return edges


def _read_edge(name: str, size: Architecture) -> Edge:
    source, _, target = name.partition(" -> ")
    edge = Edge(_read_node(source, name, size), _read_node(target, name, size))
    rule_edge_leads_to_a_later_stage(edge, name)
    return edge


def _read_node(name: str, edge: str, size: Architecture) -> Node:
    match = _NODE.fullmatch(name)
    if match is None:
        raise ForgedError(f"edge {show(edge)}: {show(name)} is not a node")
    if name in ("embed", "logits"):
        return EMBED if name == "embed" else logits_node(size)
    layer, index = int(match[1] or match[3] or 0), int(match[2] or 0)
    if layer >= size.layers or index >= size.heads:
        raise ForgedError(f"edge {show(edge)}: {name} is outside {size.layers} layers of {size.heads} heads")
    return Node(2 * layer + (2 if match[3] else 1), index)


def rule_circuit_has_the_sizes(layers: int, heads: int, size: Architecture) -> None:
    """The circuit's sizes are the architecture's."""
    if (layers, heads) != (size.layers, size.heads):
        raise ForgedError(f"circuit: {layers} layers of {heads} heads, want {size.layers} of {size.heads}")


def rule_ablation_is_zero(ablation: object) -> None:
    """The ablation is `zero`."""
    if ablation != "zero":
        raise ForgedError(f"circuit.ablation is {show(ablation)}, want 'zero'")


def rule_edge_leads_to_a_later_stage(edge: Edge, name: str) -> None:
    """An edge leads to a later stage."""
    if edge.source.stage >= edge.target.stage:
        raise ForgedError(f"edge {show(name)} does not lead to a later stage")


def rule_edges_stand_in_order(edges: tuple[Edge, ...], names: list[str]) -> None:
    """Edges are distinct and stand in the order of their sources, then targets."""
    for index, (edge, following) in enumerate(pairwise(edges), start=1):
        if not edge < following:
            raise ForgedError(f"edge {show(names[index])} is repeated or out of order")


def rule_embed_reaches_logits(edges: tuple[Edge, ...], logits: Node) -> None:
    """`embed` reaches `logits` along kept edges."""
    reached = {EMBED}
    for edge in sorted(edges):
        if edge.source in reached:
            reached.add(edge.target)
    if logits not in reached:
        raise ForgedError("circuit: embed does not reach logits along kept edges")
