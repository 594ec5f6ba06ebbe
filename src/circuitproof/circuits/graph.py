"""The nodes of a transformer, and the edges that carry one node's output into a port of another.

A head reads three times: for its query, its keys and its values. A circuit either tells these *ports* apart
or lets an edge feed all three; which of the two is its granularity.
"""

import sys
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import chain, product
from typing import TypeAlias

from circuitproof.errors import DeclarationError

ComputationOrder: TypeAlias = tuple[int, ...]
"""Layer, then attention before MLP, then head, then port: the order in which nodes are computed."""


@dataclass(frozen=True, slots=True)
class Embed:
    """Outputs the token embedding, plus that of the position where positions are learned."""

    @property
    def place(self) -> ComputationOrder:
        return (-1, 0, 0)

    def __str__(self) -> str:
        return "embed"


@dataclass(frozen=True, slots=True)
class Head:
    """One attention head."""

    layer: int
    index: int

    @property
    def place(self) -> ComputationOrder:
        return (self.layer, 0, self.index)

    def __str__(self) -> str:
        return f"head {self.layer}.{self.index}"


@dataclass(frozen=True, slots=True)
class Mlp:
    """The feed-forward block of one layer; it reads after the heads of its layer, or beside them."""

    layer: int

    @property
    def place(self) -> ComputationOrder:
        return (self.layer, 1, 0)

    def __str__(self) -> str:
        return f"mlp {self.layer}"


@dataclass(frozen=True, slots=True)
class LogitsNode:
    """The output; nothing reads it."""

    @property
    def place(self) -> ComputationOrder:
        return (sys.maxsize, 0, 0)

    def __str__(self) -> str:
        return "logits"


Node: TypeAlias = Embed | Head | Mlp | LogitsNode

EMBED = Embed()
LOGITS = LogitsNode()


class Use(StrEnum):
    """What a head makes of what it reads."""

    QUERY = "query"
    KEY = "key"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class Port:
    """One of the three inputs of a head."""

    head: Head
    use: Use

    @property
    def place(self) -> ComputationOrder:
        return (*self.head.place, list(Use).index(self.use))

    def __str__(self) -> str:
        return f"{self.head} {self.use}"


Target: TypeAlias = Node | Port
"""Where an edge ends: at a node, all of whose inputs it feeds, or at a port of a head."""


def reader(target: Target) -> Node:
    """Return the node that reads at the end of an edge."""
    return target.head if isinstance(target, Port) else target


class Granularity(StrEnum):
    """What edges into heads a circuit tells apart."""

    HEAD = "head"
    """An edge into a head feeds its query, its keys and its values."""
    PORT = "port"
    """They are three edges."""


@dataclass(frozen=True, slots=True)
class Edge:
    """What carries the output of `source` into the input of `target`."""

    source: Node
    target: Target

    def __post_init__(self) -> None:
        if not self.source.place[:2] < self.target.place[:2]:
            raise DeclarationError(
                f"there is no edge {self}: {self.target} is not computed after {self.source}"
            )

    @property
    def reader(self) -> Node:
        """Return the node that reads what it carries."""
        return reader(self.target)

    @property
    def place(self) -> tuple[ComputationOrder, ComputationOrder]:
        """Return the key that sorts edges by source, then by target."""
        return (self.source.place, self.target.place)

    def __str__(self) -> str:
        return f"{self.source} -> {self.target}"


_MOST_NODES = 20_000
"""More nodes than any model has that was ever trained; the edges are about half their square."""


@dataclass(frozen=True, slots=True)
class Graph:
    """All nodes and edges of a transformer with so many layers of so many heads.

    >>> len(Graph(2, 2).edges()), len(Graph(2, 2, Granularity.PORT).edges())
    (26, 46)
    >>> len(Graph(2, 2, is_parallel=True).edges())
    22
    """

    layers: int
    heads: int
    granularity: Granularity = Granularity.HEAD
    has_mlps: bool = True
    is_parallel: bool = False
    """Whether the MLP of a layer reads what its heads read, and so not what they put out."""

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
                return self.has_mlps and 0 <= layer < self.layers
            case _:
                return True

    def has_edge(self, edge: Edge) -> bool:
        """Say whether an edge joins nodes of this graph, and tells ports apart as it does."""
        is_told = isinstance(edge.target, Port) or not isinstance(edge.target, Head)
        is_fine = is_told if self.granularity is Granularity.PORT else not isinstance(edge.target, Port)
        return (
            edge.source in self and edge.reader in self and is_fine and self.orders(edge.source, edge.target)
        )

    def orders(self, source: Node, target: Target) -> bool:
        """Say whether a node is computed before a port reads."""
        depth = 1 if self.is_parallel else 2
        return source.place[:depth] < target.place[:depth]

    def ports(self, node: Node) -> tuple[Target, ...]:
        """Return where edges into a node end."""
        if isinstance(node, Head) and self.granularity is Granularity.PORT:
            return tuple(Port(node, use) for use in Use)
        return (node,)

    @cache  # noqa: B019  # equal graphs share what is kept, and there are few
    def nodes(self) -> tuple[Node, ...]:
        """Return every node in the order of computation."""
        layers = ((*self.heads_of(layer), *self.mlps_of(layer)) for layer in range(self.layers))
        return (EMBED, *chain.from_iterable(layers), LOGITS)

    @cache  # noqa: B019  # the same
    def edges(self) -> tuple[Edge, ...]:
        """Return every edge, sorted by source and then by target."""
        pairs = product(self.nodes(), self.targets())
        return tuple(Edge(source, target) for source, target in pairs if self.orders(source, target))

    def targets(self) -> tuple[Target, ...]:
        """Return where edges end, in the order of computation."""
        return tuple(port for node in self.nodes() if node != EMBED for port in self.ports(node))

    def sources(self, target: Target) -> tuple[Node, ...]:
        """Return the nodes that are computed before a port."""
        return tuple(node for node in self.nodes() if self.orders(node, target))

    def heads_of(self, layer: int) -> tuple[Head, ...]:
        return tuple(Head(layer, index) for index in range(self.heads))

    def mlps_of(self, layer: int) -> tuple[Mlp, ...]:
        """Return the MLP of a layer, if the model has MLPs."""
        return (Mlp(layer),) if self.has_mlps else ()
