"""What the logits of a circuit depend on, found from its edges: the last token, or keys that programs choose.

Every source of the logits has *coordinates*: the last position itself, or the key of a head's row there. A
node that reads no head depends on the token and position where it stands. A head hands on what stands at its
keys; an MLP that reads a head bends what comes from there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import EMBED, LOGITS, Head, Mlp, Node
from circuitproof.programs.syntax import Program
from circuitproof.proof.patterns.regions import Missing, UnsettledError

Coordinate: TypeAlias = Head | None
"""The key of a head's row, or the last position."""
HERE: Coordinate = None


@dataclass(frozen=True, slots=True)
class SourceGroup:
    """Sources of the logits with the same coordinates, whose sum is one function of these."""

    coordinates: frozenset[Coordinate]
    sources: tuple[Node, ...]

    @property
    def bent(self) -> Mlp | None:
        """Return an MLP that bends what a head hands on, if there is one."""
        has_head = any(isinstance(one, Head) for one in self.coordinates)
        return next((node for node in self.sources if has_head and isinstance(node, Mlp)), None)


@dataclass(frozen=True, slots=True)
class Outline:
    """A circuit's live part and the sources of its logits by coordinates."""

    circuit: Circuit
    groups: tuple[SourceGroup, ...]
    constants: frozenset[Node]
    """Nodes that read nothing of a prompt."""

    @property
    def heads(self) -> tuple[Head, ...]:
        """Return the heads whose rows at the last position matter, in order."""
        found = {one for group in self.groups for one in group.coordinates if one is not None}
        return tuple(sorted(found, key=lambda head: head.place))

    def is_separable(self, group: SourceGroup) -> bool:
        """Say whether a function is a sum of one of the token and one of the position."""
        if any(isinstance(source, Mlp) for source in group.sources):
            return False
        heads = [source for source in group.sources if isinstance(source, Head)]
        return all(set(self.circuit.sources(head)) <= {EMBED, *self.constants} for head in heads)


def outline(circuit: Circuit, programs: Mapping[Head, Program], *, has_norm: bool) -> Outline:
    """Return what a circuit's logits depend on, or say which node breaks the argument."""
    live = circuit.live()
    if has_norm:
        raise UnsettledError(Missing.STRUCTURE, "the model has norms, which mix what different tokens bring")
    known: dict[Node, frozenset[Coordinate]] = {EMBED: frozenset({HERE})}
    for node in live.nodes():
        if node != EMBED:
            read = frozenset[Coordinate]().union(*(known[source] for source in live.sources(node)))
            known[node] = _of_head(node, read, programs) if isinstance(node, Head) else read
    groups: dict[frozenset[Coordinate], list[Node]] = {}
    for source in live.sources(LOGITS):
        groups.setdefault(known[source], []).append(source)
    constants = frozenset(node for node, found in known.items() if not found)
    return Outline(
        live, tuple(SourceGroup(found, tuple(nodes)) for found, nodes in groups.items()), constants
    )


def _of_head(
    head: Head, read: frozenset[Coordinate], programs: Mapping[Head, Program]
) -> frozenset[Coordinate]:
    if head not in programs:
        raise UnsettledError(Missing.STRUCTURE, f"{head} is neural: its row depends on every token")
    if series := [str(other) for other in read if other is not None]:
        reason = f"{head} reads what {min(series)} gathers at each of its keys: two rows in series"
        raise UnsettledError(Missing.STRUCTURE, reason)
    return frozenset({head})
