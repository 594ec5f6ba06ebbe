"""The nodes of a transformer and the edges that carry one node's output into another's input."""

import sys
from dataclasses import dataclass
from functools import cache
from itertools import chain, product
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

    @cache  # noqa: B019  # equal graphs share what is kept, and there are few
    def nodes(self) -> tuple[Node, ...]:
        """Return every node in the order of computation."""
        layers = ((*self.heads_of(layer), Mlp(layer)) for layer in range(self.layers))
        return (EMBED, *chain.from_iterable(layers), LOGITS)

    @cache  # noqa: B019  # the same
    def edges(self) -> tuple[Edge, ...]:
        """Return every edge, sorted by source and then by target."""
        pairs = product(self.nodes(), repeat=2)
        return tuple(Edge(source, target) for source, target in pairs if source.place[:2] < target.place[:2])

    def heads_of(self, layer: int) -> tuple[Head, ...]:
        return tuple(Head(layer, index) for index in range(self.heads))
