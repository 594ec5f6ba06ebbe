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
    tokens: int
    """How many there are in all cells."""
    moves: int
    """How many cells there are on all edges, with one for each edge."""

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
    tokens = 0
    for position, layer in enumerate(paid(graph.layers, OBJECT)):
        found = [(node, to, one) for node, edges in paid(layer).items() for to, one in paid(edges).items()]
        alike, own = _alike([one for _, _, one in paid(found, OBJECT)]), list[list[int]]()
        for numbers, listed in paid(alike, OBJECT).items():
            own = own or [[] for _ in found]
            for number in paid(numbers):
                own[number].append(len(cells))
            cells.append((position, listed))
            tokens += len(listed)
        pairs = zip(found, own, strict=True)
        layers.append(tuple((node, to, tuple(paid(places))) for (node, to, _), places in pairs))
    spend(NUMBER * len(layers))
    moves = sum(1 + len(places) for layer in layers for _, _, places in paid(layer))
    return CellGraph(tuple(cells), graph.starts, tuple(layers), tokens, moves)


def _alike(edges: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], tuple[int, ...]]:
    """Return the tokens of edges in parts, by the edges that have all of a part."""
    having: dict[int, tuple[int, ...]] = {}
    for number, tokens in enumerate(paid(edges, NUMBER)):
        for token in paid(tokens, NUMBER):
            having[token] = (*having.get(token, ()), number)
    parts: dict[tuple[int, ...], list[int]] = {}
    for token in sorted(paid(having, NUMBER)):
        parts.setdefault(having[token], []).append(token)
    return {numbers: tuple(paid(tokens)) for numbers, tokens in paid(parts, NUMBER).items()}
