"""Which outputs each port reads, for many circuits at once, as one tensor of zeros and ones."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from circuitproof.circuits.ablation import ZERO, Ablation, Zero
from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import (
    EMBED,
    LOGITS,
    Embed,
    Graph,
    Head,
    LogitsNode,
    Mlp,
    Node,
    Port,
    Target,
    Use,
)
from circuitproof.errors import DeclarationError
from circuitproof.files.devices import CPU

_LARGE = 1000
"""A graph of as many edges is large."""


@dataclass(frozen=True, slots=True)
class EdgeMasks:
    """What is read by whom: 1 keeps an edge, 0 cuts it.

    Rows are targets, columns are sources, in the order of computation. Behind the heads of a layer stands
    one more column, for the output bias that they share: a reader takes it once if it reads at least one of
    those heads.
    """

    graph: Graph
    values: Float[Tensor, "circuit target source"]
    """In main memory, wherever the model is: what is computed at all is read from them."""
    heads: tuple[tuple[int, ...], ...]
    """The heads of each layer that some circuit has a use for; the others are never computed."""
    mlps: tuple[bool, ...]
    """Whether some circuit has a use for the MLP of each layer."""
    ablation: Ablation = ZERO
    """What cut edges carry."""

    @property
    def is_nearly_whole(self) -> bool:
        """Say whether these are constant masks of one circuit of a large graph, few of them 0.

        In a small graph summing up every edge costs no more, and rounds less than subtracting.
        """
        if len(self.graph.edges()) < _LARGE or not isinstance(self.ablation, Zero):
            return False
        is_constant = len(self.values) == 1 and not self.values.requires_grad
        is_plain = is_constant and bool(((self.values == 0) | (self.values == 1)).all())
        return is_plain and sum(map(len, self.gaps().values())) <= self.values.shape[1]

    def gaps(self) -> Mapping[int, list[int]]:
        """Return for each used row of a single circuit the earlier used columns that it leaves out."""
        kept = self.values[0].bool().tolist()
        gaps: dict[int, list[int]] = {}
        earlier = [source_column(self.graph, EMBED)]
        for rows, columns in self._used():
            gaps |= {row: [column for column in earlier if not kept[row][column]] for row in rows}
            earlier += columns
        return gaps

    def _used(self) -> Iterator[tuple[list[int], list[int]]]:
        """Walk the rows of used nodes that read at once, and the columns that they write."""
        for layer, heads in enumerate(self.heads):
            ports = [port for index in heads for port in self.graph.ports(Head(layer, index))]
            mlps: list[Target] = [Mlp(layer)] if self.mlps[layer] else []
            of_heads = ports, self.head_columns(layer) if heads else []
            of_mlp = mlps, [source_column(self.graph, Mlp(layer))] if mlps else []
            both = ports + mlps, of_heads[1] + of_mlp[1]
            for targets, columns in [both] if self.graph.is_parallel else [of_heads, of_mlp]:
                yield [target_row(self.graph, target) for target in targets], columns
        yield [target_row(self.graph, LOGITS)], []

    def head_columns(self, layer: int) -> list[int]:
        """Return the columns of the used heads of a layer and of the bias they share."""
        columns = [source_column(self.graph, Head(layer, index)) for index in self.heads[layer]]
        return [*columns, _bias_column(self.graph, layer)]


def edge_masks_of(circuits: Sequence[Circuit]) -> EdgeMasks:
    """Return the masks of circuits of one graph, dead edges left out."""
    if not circuits:
        raise DeclarationError("no circuits to run; give at least one")
    graph = circuits[0].graph
    if any(circuit.graph != graph for circuit in circuits):
        raise DeclarationError("circuits of different graphs cannot be run together")
    ablations = {circuit.ablation for circuit in circuits}
    if len(ablations) > 1:
        raise DeclarationError("circuits of different ablations cannot be run together")
    live = [circuit.live() for circuit in circuits]
    places = [
        (index, target_row(graph, edge.target), column)
        for index, circuit in enumerate(live)
        for edge in circuit
        for column in _with_bias(graph, edge.source)
    ]
    rows, columns = target_row(graph, LOGITS) + 1, columns_below(graph, graph.layers)
    values = torch.zeros(len(live), rows, columns, device=CPU)
    kept = torch.tensor(places, dtype=torch.long, device=CPU).reshape(-1, 3)  # there may be none
    values[tuple(kept.T)] = 1
    used = {edge.source for circuit in live for edge in circuit.edges}
    heads = tuple(
        tuple(head.index for head in graph.heads_of(layer) if head in used) for layer in range(graph.layers)
    )
    mlps = tuple(Mlp(layer) in used for layer in range(graph.layers))
    return EdgeMasks(graph, values, heads, mlps, ablations.pop())


def target_row(graph: Graph, target: Target) -> int:
    """Return the row of a node or a port that reads."""
    match target:
        case Head(layer, index):
            return rows_below(graph, layer) + index * _ports(graph)
        case Port(head, use):
            return target_row(graph, head) + list(Use).index(use)
        case Mlp(layer):
            return rows_below(graph, layer + 1) - 1
        case LogitsNode():
            return rows_below(graph, graph.layers)
        case Embed():
            raise DeclarationError("embed reads no node")


def rows_below(graph: Graph, layer: int) -> int:
    """Return how many rows there are for what reads below a layer."""
    return layer * (graph.heads * _ports(graph) + 1)


def _ports(graph: Graph) -> int:
    return len(graph.ports(Head(0, 0)))


def columns_before(graph: Graph, target: Target) -> int:
    """Return how many columns are written where a node or a port reads."""
    match target:
        case Head(layer) | Port(Head(layer)):
            return columns_below(graph, layer)
        case Mlp(layer):
            return columns_below(graph, layer) if graph.is_parallel else source_column(graph, target)
        case _:
            return columns_below(graph, graph.layers)


def columns_below(graph: Graph, layer: int) -> int:
    """Return how many columns are written where a layer begins."""
    return 1 + layer * (graph.heads + 2)


def source_column(graph: Graph, node: Node) -> int:
    """Return the column of a node that is read."""
    match node:
        case Embed():
            return 0
        case Head(layer, index):
            return columns_below(graph, layer) + index
        case Mlp(layer):
            return columns_below(graph, layer) + graph.heads + 1
        case LogitsNode():
            raise DeclarationError("nothing reads logits")


def _bias_column(graph: Graph, layer: int) -> int:
    return columns_below(graph, layer) + graph.heads


def _with_bias(graph: Graph, source: Node) -> tuple[int, ...]:
    column = source_column(graph, source)
    return (column, _bias_column(graph, source.layer)) if isinstance(source, Head) else (column,)
