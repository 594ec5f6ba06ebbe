"""Which nodes tell prompts apart by themselves, and what follows for the nodes that they do not reach.

`embed` does, and so may a head with a program, whatever it keeps: whether it attends at all can depend on the
tokens. A program that always attends passes a constant on as a neural head does, and one that never attends
puts out zero. The premises about circuits in docs/certificate.md are these functions in words.
"""

from collections.abc import Mapping

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import EMBED, LOGITS, Edge, Head, Node, Port, Use
from circuitproof.programs.syntax import Program


def readers(programs: Mapping[Head, Program]) -> frozenset[Node]:
    """Return the nodes that tell prompts apart by themselves."""
    varying = (
        head for head, program in programs.items() if not program.always_attends and not program.never_attends
    )
    return frozenset({EMBED, *varying})


def reads_prompt(circuit: Circuit, programs: Mapping[Head, Program]) -> bool:
    """Say whether a reader leads to `logits`; otherwise all prompts have the same logits."""
    return not readers(programs).isdisjoint(circuit.upstream([LOGITS]))


def needs_each_edge_to_read(circuit: Circuit, programs: Mapping[Head, Program]) -> bool:
    """Say whether a circuit that reads its prompt does not any more, whichever of its edges is cut."""
    return not any(reads_prompt(lesion, programs) for lesion in map(circuit.without, circuit))


def _passes_on(edge: Edge) -> bool:
    """Say whether what an edge carries can vary an output: where a head looks does not, if values are one."""
    return not isinstance(edge.target, Port) or edge.target.use is Use.VALUE


def constant_edges(circuit: Circuit, programs: Mapping[Head, Program]) -> tuple[Edge, ...]:
    r"""Return the edges whose source puts out the same at every position of every prompt, in order.

    >>> from circuitproof.circuits.circuit import circuit_of
    >>> from circuitproof.circuits.graph import Graph, Mlp
    >>> from circuitproof.programs.text import parse
    >>> kept = circuit_of(Graph(1, 1), [Edge(Head(0, 0), Mlp(0)), Edge(Mlp(0), LOGITS)])
    >>> list(map(str, constant_edges(kept, {})))
    ['head 0.0 -> mlp 0', 'mlp 0 -> logits']
    >>> program = parse("default 0\nadd 1 when key_token == 3\notherwise nowhere")
    >>> constant_edges(kept, {Head(0, 0): program})
    ()
    """
    reached = set(readers(programs))
    for edge in circuit:
        reached |= {edge.reader} if edge.source in reached and _passes_on(edge) else set()
    return tuple(edge for edge in circuit if edge.source not in reached)
