"""Where a circuit is read on the way to the logits, position by position: what perturbations can reach."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import LOGITS, Edge, Head, Node, Port, Use
from circuitproof.errors import InputError
from circuitproof.forward.interface import Interface, Side, read_span
from circuitproof.models.declaration import ProgramHeads
from circuitproof.models.operators import Mask
from circuitproof.programs.meaning import row
from circuitproof.tasks.domain import LAST, Prompt, decided_at

PositionsRead: TypeAlias = Mapping[tuple[Node, Side], frozenset[int]]
"""The positions at which each side of a node is read on the way to the logits that decide."""


def readings(
    circuit: Circuit,
    programs: ProgramHeads,
    prompt: Prompt,
    mask: Mask = Mask.CAUSAL,
    position: int = LAST,
) -> PositionsRead:
    """Return what is read of a prompt: by a neural head all keys of a query, by a program those of weight.

    What feeds the query alone is read where the head puts something out, and nowhere before.
    """
    live = circuit.live()
    into: defaultdict[Node, list[Edge]] = defaultdict(list)
    for edge in live:
        into[edge.reader].append(edge)
    read: defaultdict[tuple[Node, Side], frozenset[int]] = defaultdict(frozenset)
    read[LOGITS, Side.OUTPUT] = frozenset({decided_at(len(prompt), position)})
    for node in sorted({LOGITS, *live.nodes()}, key=lambda node: node.place, reverse=True):
        asked = read[node, Side.OUTPUT]
        is_whole = mask is Mask.NONE and isinstance(node, Head) and asked
        read[node, Side.INPUT] = _all(prompt) if is_whole else _keys(node, asked, programs, prompt)
        for edge in into[node]:
            is_query = isinstance(edge.target, Port) and edge.target.use is Use.QUERY
            read[edge.source, Side.OUTPUT] |= read[node, Side.OUTPUT if is_query else Side.INPUT]
    return read


def unreached(  # noqa: PLR0913  # what is read of prompts takes all of this
    at: Interface,
    circuit: Circuit,
    programs: ProgramHeads,
    prompts: Sequence[Prompt],
    mask: Mask = Mask.CAUSAL,
    *,
    position: int = LAST,
) -> int:
    """Return how many prompts have logits that no perturbation at a place can reach."""
    if at.is_final_residual:
        return 0
    read = [readings(circuit, programs, prompt, mask, position)[at.node, at.side] for prompt in prompts]
    spans = [read_span(len(prompt), position, mask) for prompt in prompts]
    return sum(places.isdisjoint(at.places(span)) for places, span in zip(read, spans, strict=True))


def refuse_unreached_prompts(interface: Interface, count: int, prompts: int) -> None:
    """Refuse a perturbation that reaches none of the prompts: that it changes nothing says nothing."""
    if count == prompts:
        raise InputError(
            f"a perturbation of {interface} at positions {interface.spelled_positions()} reaches the logits "
            "of no prompt; choose positions that are read, such as --positions last"
        )


def _all(prompt: Prompt) -> frozenset[int]:
    return frozenset(range(len(prompt)))


def _keys(node: Node, queries: Collection[int], programs: ProgramHeads, prompt: Prompt) -> frozenset[int]:
    """Return the positions at which a node reads its input for its outputs at `queries`."""
    if not isinstance(node, Head):
        return frozenset(queries)
    if node not in programs:
        return frozenset(range(max(queries, default=-1) + 1))
    return frozenset(key for query in queries for key, _ in row(programs[node], prompt, query))
