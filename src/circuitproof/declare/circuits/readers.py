"""Which nodes read tokens by themselves, and what follows for the nodes and circuits that they do not reach.

`embed` reads them, and so does every program head, whatever it keeps: where it looks depends on the tokens.
The premises about circuits in docs/certificate.md are these functions in words.
"""

from collections.abc import Iterable

from circuitproof.declare.circuits.circuit import Circuit
from circuitproof.declare.circuits.graph import EMBED, LOGITS, Edge, Head, Node


def readers(programs: Iterable[Head]) -> frozenset[Node]:
    """Return the nodes that read tokens by themselves."""
    return frozenset({EMBED, *programs})


def reads_prompt(circuit: Circuit, programs: Iterable[Head]) -> bool:
    """Say whether a node that reads tokens leads to `logits`; otherwise all prompts have the same logits."""
    return not readers(programs).isdisjoint(circuit.upstream([LOGITS]))


def constant_edges(circuit: Circuit, programs: Iterable[Head]) -> tuple[Edge, ...]:
    """Return the edges whose source puts out the same at every position of every prompt, in order.

    >>> from circuitproof.declare.circuits.circuit import circuit_of
    >>> from circuitproof.declare.circuits.graph import Graph, Mlp
    >>> kept = circuit_of(Graph(1, 1), [Edge(Head(0, 0), Mlp(0)), Edge(Mlp(0), LOGITS)])
    >>> list(map(str, constant_edges(kept, []))), constant_edges(kept, [Head(0, 0)])
    (['head 0.0 -> mlp 0', 'mlp 0 -> logits'], ())
    """
    reached = set(readers(programs))
    for edge in circuit:
        reached |= {edge.reader} if edge.source in reached else set()
    return tuple(edge for edge in circuit if edge.source not in reached)
