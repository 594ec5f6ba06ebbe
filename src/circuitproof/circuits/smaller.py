"""All circuits of a size without a dead edge: one with dead edges computes what its live part computes."""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import combinations, islice

from circuitproof.circuits.circuit import Circuit, circuit_of
from circuitproof.circuits.graph import LOGITS, Edge, Graph, Node, Target, reader


def circuits_of_size(
    graph: Graph,
    edges: Iterable[Edge],
    size: int,
    fed_by: AbstractSet[Node] | None = None,
    most: int | None = None,
) -> tuple[Circuit, ...]:
    """Return the live circuits of exactly `size` of the given edges, or those that one of some nodes feeds.

    They are in the order of their edges, as sequences of edges sorted by source and then by target. Where
    there are more than `most`, any `most` of them are returned.

    >>> graph = Graph(1, 1)
    >>> [" & ".join(map(str, circuit)) for circuit in circuits_of_size(graph, graph.edges(), 1)]
    ['embed -> logits', 'head 0.0 -> logits', 'mlp 0 -> logits']
    """
    into: dict[Target, list[Edge]] = {}
    for edge in sorted(edges, key=lambda edge: edge.place):
        into.setdefault(edge.target, []).append(edge)
    targets = sorted(into, key=lambda node: node.place, reverse=True)
    grown = (
        chosen
        for chosen in _grow(into, targets, frozenset({LOGITS}), size)
        if fed_by is None or any(edge.source in fed_by for edge in chosen)
    )
    found = [circuit_of(graph, chosen) for chosen in islice(grown, most)]
    return tuple(sorted(found, key=lambda circuit: [edge.place for edge in circuit]))


def _grow(
    into: dict[Target, list[Edge]], targets: Sequence[Target], reached: frozenset[Node], size: int
) -> Iterator[tuple[Edge, ...]]:
    """Choose edges target by target, from the logits back, so that each set is met once and none is dead."""
    if not size:
        yield ()
        return
    for place, target in enumerate(targets):
        if reader(target) not in reached:
            continue
        for count in range(1, size + 1):
            for chosen in combinations(into[target], count):
                sources = reached | {edge.source for edge in chosen}
                for rest in _grow(into, targets[place + 1 :], sources, size - count):
                    yield (*chosen, *rest)
