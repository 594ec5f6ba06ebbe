"""Which circuits have logits that are sums over positions: softmax heads of what token and position tell."""

from collections.abc import Mapping
from dataclasses import dataclass

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import EMBED, LOGITS, Edge, Head, Node
from circuitproof.forward.frozen import Frozen
from circuitproof.models.operators import Attention
from circuitproof.proof.patterns.regions import Missing, UnsettledError


@dataclass(frozen=True, slots=True)
class SummedCircuit:
    """A circuit without dead edges whose logits read local nodes and heads that read nothing but these."""

    circuit: Circuit
    local: tuple[Node, ...]
    """The sources of the logits whose output depends on the token and the position where they stand."""
    heads: tuple[Head, ...]
    """The softmax heads, in the order of computation."""

    @property
    def layers(self) -> tuple[int, ...]:
        """Return the layers of whose heads the logits read some: their shared bias is added once."""
        return tuple(sorted({head.layer for head in self.heads}))


def outline(frozen: Frozen, circuit: Circuit) -> SummedCircuit:
    """Return what a circuit's logits add up, or say which edge makes that impossible."""
    live = circuit.live()
    if frozen.architecture.has_norm:
        raise UnsettledError(
            Missing.STRUCTURE, "the model has norms, and the one before the logits mixes what heads bring"
        )
    kinds: dict[Node, bool] = {EMBED: True}
    """Whether a node is local; a head is not."""
    for node in live.nodes():
        if node != LOGITS and node != EMBED:
            if far := [source for source in live.sources(node) if not kinds[source]]:
                raise _too_deep(Edge(far[0], node))
            kinds[node] = not isinstance(node, Head)
    heads = tuple(node for node in live.nodes() if isinstance(node, Head))
    _refuse_others(frozen, heads)
    local = tuple(node for node in live.sources(LOGITS) if kinds[node])
    return SummedCircuit(live, local, heads)


def _too_deep(edge: Edge) -> UnsettledError:
    reason = (
        f"{edge} hands on what a head gathers from all tokens to a node that bends it; heads over patterns are "
        "followed where the logits read them directly"
    )
    return UnsettledError(Missing.STRUCTURE, reason)


def _refuse_others(frozen: Frozen, heads: tuple[Head, ...]) -> None:
    programs: Mapping[Head, object] = frozen.programs
    if told := [head for head in heads if head in programs]:
        reason = f"{told[0]} has a program and other operators are enclosed; both together are not followed"
        raise UnsettledError(Missing.STRUCTURE, reason)
    if heads and frozen.architecture.attention is not Attention.SOFTMAX:
        raise UnsettledError(
            Missing.STRUCTURE, f"{heads[0]} has sparsemax attention; want softmax over patterns"
        )
