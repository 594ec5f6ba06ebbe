"""Which outputs each node reads, for many circuits at once, as one tensor of zeros and ones."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Embed, Graph, Head, Logits, Mlp, Node
from circuitproof.errors import DeclarationError


@dataclass(frozen=True, slots=True)
class Gates:
    """What is read by whom. Rows are targets, columns are sources, in the order of computation.

    Behind the heads of a layer stands one more column, for the output bias that they share: a reader takes
    it once if it reads at least one of those heads.
    """

    graph: Graph
    values: Float[Tensor, "circuit target source"]
    heads: tuple[tuple[int, ...], ...]
    """The heads of each layer that some circuit has a use for; the others are never computed."""
    mlps: tuple[bool, ...]
    """Whether some circuit has a use for the MLP of each layer."""

    def head_rows(self, layer: int) -> list[int]:
        """Return the rows of the used heads of a layer."""
        return [target_row(self.graph, Head(layer, index)) for index in self.heads[layer]]

    def head_columns(self, layer: int) -> list[int]:
        """Return the columns of the used heads of a layer and of the bias they share."""
        columns = [source_column(self.graph, Head(layer, index)) for index in self.heads[layer]]
        return [*columns, _bias_column(self.graph, layer)]


def gates_of(circuits: Sequence[Circuit]) -> Gates:
    """Return the gates of circuits of one graph, dead edges left out."""
    if not circuits:
        raise DeclarationError("no circuits to run; give at least one")
    graph = circuits[0].graph
    if any(circuit.graph != graph for circuit in circuits):
        raise DeclarationError("circuits of different graphs cannot be run together")
    live = [circuit.live() for circuit in circuits]
    values = torch.zeros(
        len(live), target_row(graph, Logits()) + 1, _bias_column(graph, graph.layers - 1) + 2
    )
    for index, circuit in enumerate(live):
        places = [
            _place(graph, source, edge.target)
            for edge in circuit
            for source in _with_bias(graph, edge.source)
        ]
        if places:
            rows, columns = zip(*places, strict=True)
            values[index, list(rows), list(columns)] = 1
    used = {edge.source for circuit in live for edge in circuit.edges}
    heads = tuple(
        tuple(head.index for head in graph.heads_of(layer) if head in used) for layer in range(graph.layers)
    )
    return Gates(graph, values, heads, tuple(Mlp(layer) in used for layer in range(graph.layers)))


def target_row(graph: Graph, node: Node) -> int:
    """Return the row of a node that reads."""
    match node:
        case Head(layer, index):
            return layer * (graph.heads + 1) + index
        case Mlp(layer):
            return layer * (graph.heads + 1) + graph.heads
        case Logits():
            return graph.layers * (graph.heads + 1)
        case Embed():
            raise DeclarationError("embed reads no node")


def source_column(graph: Graph, node: Node) -> int:
    """Return the column of a node that is read."""
    match node:
        case Embed():
            return 0
        case Head(layer, index):
            return 1 + layer * (graph.heads + 2) + index
        case Mlp(layer):
            return 1 + layer * (graph.heads + 2) + graph.heads + 1
        case Logits():
            raise DeclarationError("nothing reads logits")


def _bias_column(graph: Graph, layer: int) -> int:
    return 1 + layer * (graph.heads + 2) + graph.heads


def _with_bias(graph: Graph, source: Node) -> tuple[int, ...]:
    column = source_column(graph, source)
    return (column, _bias_column(graph, source.layer)) if isinstance(source, Head) else (column,)


def _place(graph: Graph, column: int, target: Node) -> tuple[int, int]:
    return (target_row(graph, target), column)
