"""The nodes of a transformer and the edges that carry one node's output into another's input."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from circuitproof.errors import DeclarationError

Place: TypeAlias = tuple[int, int, int]
"""Layer, then attention before MLP, then head: the order in which nodes are computed."""


@dataclass(frozen=True, slots=True)
class Embed:
    """Outputs token plus position embedding."""

    @property
    def place(self) -> Place:
        return (-1, 0, 0)

    def __str__(self) -> str:
        return "embed"


@dataclass(frozen=True, slots=True)
class Head:
    """One attention head."""

    layer: int
    index: int

    @property
    def place(self) -> Place:
        return (self.layer, 0, self.index)

    def __str__(self) -> str:
        return f"head {self.layer}.{self.index}"


@dataclass(frozen=True, slots=True)
class Mlp:
    """The feed-forward block of one layer; it reads after the heads of its layer."""

    layer: int

    @property
    def place(self) -> Place:
        return (self.layer, 1, 0)

    def __str__(self) -> str:
        return f"mlp {self.layer}"


@dataclass(frozen=True, slots=True)
class Logits:
    """The output; nothing reads it."""

    @property
    def place(self) -> Place:
        return (sys.maxsize, 0, 0)

    def __str__(self) -> str:
        return "logits"


Node: TypeAlias = Embed | Head | Mlp | Logits

EMBED = Embed()
LOGITS = Logits()


@dataclass(frozen=True, slots=True)
class Edge:
    """What carries the output of `source` into the input of `target`."""

    source: Node
    target: Node

    def __post_init__(self) -> None:
        if not self.source.place[:2] < self.target.place[:2]:
            raise DeclarationError(
                f"there is no edge {self}: {self.target} is not computed after {self.source}"
            )

    @property
    def place(self) -> tuple[Place, Place]:
        """Return the key that sorts edges by source, then by target."""
        return (self.source.place, self.target.place)

    def __str__(self) -> str:
        return f"{self.source} -> {self.target}"


_MOST_NODES = 20_000
"""More nodes than any model has that was ever trained; the edges are about half their square."""


@dataclass(frozen=True, slots=True)
class Graph:
    """All nodes and edges of a transformer with so many layers of so many heads.

    >>> len(Graph(2, 2).edges())
    26
    """

    layers: int
    heads: int

    def __post_init__(self) -> None:
        if self.layers < 1 or self.heads < 1:
            raise DeclarationError(
                f"graph: {self.layers} layers of {self.heads} heads, want at least one of each"
            )
        if self.layers * (self.heads + 1) > _MOST_NODES:
            raise DeclarationError(
                f"graph: {self.layers} layers of {self.heads} heads, want at most {_MOST_NODES} nodes"
            )

    def __contains__(self, node: Node) -> bool:
        match node:
            case Head(layer, index):
                return 0 <= layer < self.layers and 0 <= index < self.heads
            case Mlp(layer):
                return 0 <= layer < self.layers
            case _:
                return True

    def nodes(self) -> tuple[Node, ...]:
        """Return every node in the order of computation."""
        return _nodes(self)

    def edges(self) -> tuple[Edge, ...]:
        """Return every edge, sorted by source and then by target."""
        return _edges(self)

    def heads_of(self, layer: int) -> tuple[Head, ...]:
        return tuple(Head(layer, index) for index in range(self.heads))


@cache
def _nodes(graph: Graph) -> tuple[Node, ...]:
    return tuple(_walk(graph))


def _walk(graph: Graph) -> Iterator[Node]:
    yield EMBED
    for layer in range(graph.layers):
        yield from graph.heads_of(layer)
        yield Mlp(layer)
    yield LOGITS


@cache
def _edges(graph: Graph) -> tuple[Edge, ...]:
    nodes = graph.nodes()
    return tuple(
        Edge(source, target) for source in nodes for target in nodes if source.place[:2] < target.place[:2]
    )
