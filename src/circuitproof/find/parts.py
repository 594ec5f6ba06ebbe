"""The parts of a graph that extraction removes at once: single edges, or all edges between two blocks."""

from collections.abc import Sequence
from typing import TypeAlias, assert_never

from circuitproof.circuits.circuit import Circuit, circuit_of
from circuitproof.circuits.graph import Edge, Graph
from circuitproof.find.choices import RemovalUnit
from circuitproof.tasks.domain import places_of

EdgeGroup: TypeAlias = tuple[Edge, ...]
"""Edges that are removed together; the parts of a graph share no edge and leave none out."""


def parts_of(graph: Graph, removal: RemovalUnit) -> tuple[EdgeGroup, ...]:
    """Return every part of a graph of some granularity, in the order of its edges.

    >>> [len(parts_of(Graph(2, 2, removal.granularity), removal)) for removal in RemovalUnit]
    [26, 15, 46]
    """
    match removal:
        case RemovalUnit.HEAD | RemovalUnit.PORT:
            return tuple((edge,) for edge in graph.edges())
        case RemovalUnit.BLOCK:
            edges = tuple(graph.edges())
            blocks = places_of((edge.source.place[:2], edge.target.place[:2]) for edge in edges)
            return tuple(tuple(edges[place] for place in places) for places in blocks.values())
        case _:
            assert_never(removal)


def topological(parts: Sequence[EdgeGroup]) -> tuple[EdgeGroup, ...]:
    """Return the parts from the logits backwards: the latest reader first, and its latest source first."""
    return tuple(sorted(parts, key=lambda part: (part[0].target.place, part[0].source.place), reverse=True))


def nested(graph: Graph, order: Sequence[EdgeGroup]) -> tuple[Circuit, ...]:
    """Return circuits of the last parts of an order: one, then about a third more each time, then all.

    >>> [len(circuit) for circuit in nested(Graph(2, 2), parts_of(Graph(2, 2), RemovalUnit.HEAD))]
    [1, 2, 3, 4, 5, 7, 9, 12, 16, 21, 26]
    """
    sizes = [1]
    while sizes[-1] < len(order):
        sizes.append(min(len(order), max(sizes[-1] + 1, round(sizes[-1] * 4 / 3))))
    return tuple(circuit_of(graph, [edge for part in order[-size:] for edge in part]) for size in sizes)
