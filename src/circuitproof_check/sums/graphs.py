"""Prompts with so many tokens as the paths of a graph: how many there are, and parts by a token.

Nodes from which the same tokens lead to the same nodes are one: of "the largest token is y" two are left,
y was there or it was not.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass

from circuitproof_check.work import NUMBER, paid

Edges = dict[int, tuple[int, ...]]
"""By the node that they lead to, the tokens that do."""
Layer = dict[int, Edges]
"""The edges at a position, by the node that they come from."""


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """At least one prompt, with as many tokens as there are layers; each is one path from a start."""

    starts: tuple[int, ...]
    layers: tuple[Layer, ...]

    def count(self) -> int:
        """Return how many prompts there are."""
        ways = dict.fromkeys(paid(self.starts, NUMBER), 1)
        for layer in self.layers:
            after: dict[int, int] = {}
            for node, edges in paid(layer, NUMBER).items():
                number = ways.get(node, 0)
                for target, tokens in paid(edges, NUMBER + number.bit_length() // 50).items():
                    after[target] = after.get(target, 0) + number * len(tokens)
            ways = after
        return sum(paid(ways, NUMBER).values())

    def standing(self, position: int) -> list[int]:
        """Return the tokens that prompts have at a position, increasing."""
        found: set[int] = set()
        for edges in paid(self.layers[position], NUMBER).values():
            for tokens in paid(edges, NUMBER).values():
                found.update(paid(tokens))
        return sorted(paid(found))

    def within(self, position: int, tokens: Container[int]) -> "Graph | None":
        """Return the prompts that have one of some tokens at a position, if there are any."""
        kept: Layer = {}
        for node, edges in paid(self.layers[position], NUMBER).items():
            left: Edges = {}
            for target, listed in paid(edges, NUMBER).items():
                chosen = tuple(token for token in paid(listed) if token in tokens)
                if chosen:
                    left[target] = chosen
            if left:
                kept[node] = left
        layers = [*paid(self.layers), kept]
        layers[position] = layers.pop()
        return _pruned(self.starts, layers)


def _pruned(starts: Sequence[int], layers: list[Layer]) -> Graph | None:
    """Return the graph without edges on which there is no prompt."""
    alive: set[int] | None = None
    for place in range(len(layers) - 1, -1, -1):
        layer, kept = paid(layers[place], NUMBER), dict[int, Edges]()
        for node, edges in layer.items():
            is_whole = alive is None or all(target in alive for target in paid(edges))
            left = edges if is_whole else {to: one for to, one in edges.items() if alive and to in alive}
            if left:
                kept[node] = left
        layers[place], alive = kept, set(kept)
    begun = tuple(start for start in paid(starts, NUMBER) if alive and start in alive)
    reached = set(begun)
    for place, layer in enumerate(paid(layers, NUMBER)):
        kept = {node: edges for node, edges in paid(layer, NUMBER).items() if node in reached}
        layers[place], reached = kept, {target for edges in kept.values() for target in paid(edges)}
    return Graph(begun, tuple(layers)) if begun else None
