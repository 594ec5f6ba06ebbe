"""A graph of prompts with its tokens in cells: those of one position on which every edge says the same."""

from collections.abc import Sequence
from dataclasses import dataclass

from circuitproof_check.work import NUMBER, OBJECT, paid, spend

from .graphs import Graph

Cell = tuple[int, tuple[int, ...]]
"""A position and tokens that may stand there."""
Move = tuple[int, int, tuple[int, ...]]
"""From which node to which an edge leads, and the places of its cells."""


@dataclass(frozen=True, slots=True, eq=False)
class CellGraph:
    """The cells, and the edges of each position."""

    cells: tuple[Cell, ...]
    starts: tuple[int, ...]
    layers: tuple[tuple[Move, ...], ...]

    @property
    def size(self) -> int:
        """Return how many tokens there are in cells, and how many edges count as much as those."""
        spend(NUMBER * (len(self.cells) + len(self.layers)))
        return sum(len(tokens) for _, tokens in self.cells) + 3 * sum(map(len, self.layers))

    def least(self, costs: Sequence[int]) -> int:
        """Return the cost of the cheapest path, where a cell costs what is said; who asks has paid."""
        best = dict.fromkeys(self.starts, 0)
        for layer in self.layers:
            after: dict[int, int] = {}
            for source, target, cells in layer:
                cost = best[source] + (costs[cells[0]] if len(cells) == 1 else min([costs[c] for c in cells]))
                if target not in after or cost < after[target]:
                    after[target] = cost
            best = after
        return min(best.values())


def in_cells(graph: Graph) -> CellGraph:
    """Return a graph with its tokens in cells."""
    cells: list[Cell] = []
    layers: list[tuple[Move, ...]] = []
    for position, layer in enumerate(paid(graph.layers, OBJECT)):
        edges = [(node, to, one) for node, found in paid(layer, NUMBER).items() for to, one in paid(found).items()]
        having: dict[int, list[int]] = {}
        for number, (_, _, tokens) in enumerate(paid(edges, OBJECT)):
            for token in paid(tokens, NUMBER):
                having.setdefault(token, []).append(number)
        alike: dict[tuple[int, ...], list[int]] = {}
        for token in sorted(paid(having, NUMBER)):
            alike.setdefault(tuple(paid(having[token])), []).append(token)
        held: list[list[int]] = [[] for _ in edges]
        for numbers, tokens in paid(alike, OBJECT).items():
            for number in numbers:
                held[number].append(len(cells))
            cells.append((position, tuple(tokens)))
        moves = zip(paid(edges, OBJECT), held, strict=True)
        layers.append(tuple((node, to, tuple(places)) for (node, to, _), places in moves))
    return CellGraph(tuple(cells), graph.starts, tuple(layers))
