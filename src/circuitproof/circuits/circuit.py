"""A circuit: the edges that are kept, as a set with an algebra and a file format."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from circuitproof.circuits.ablation import ZERO, Ablation, Zero
from circuitproof.circuits.graph import LOGITS, Edge, Granularity, Graph, Head, Node, Target
from circuitproof.errors import DeclarationError
from circuitproof.files.canonical import Digest, Json, digest_json
from circuitproof.files.printing import preformatted

_SHOWN = 20
"""How many edges are shown at Python's prompt."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What a port reads, in the order of computation: nodes as they are, and nodes with a substitute."""

    kept: tuple[Node, ...]
    substituted: tuple[Node, ...]

    def layers(self) -> list[int]:
        """Return the layers of whose heads some is read, in either way: their shared bias is added once."""
        return sorted({node.layer for node in (*self.kept, *self.substituted) if isinstance(node, Head)})


NO_SOURCES = Sources((), ())


@dataclass(frozen=True, slots=True, repr=False)
class Circuit:
    """The kept edges of a graph. Two circuits combine only when graph and ablation are the same."""

    graph: Graph
    edges: frozenset[Edge]
    ablation: Ablation = ZERO

    def __post_init__(self) -> None:
        if strange := [edge for edge in self.edges if not self.graph.has_edge(edge)]:
            raise DeclarationError(_outside(min(strange, key=lambda edge: edge.place), self.graph))

    def __repr__(self) -> str:
        noun, sizes = (
            "edge" if len(self) == 1 else "edges",
            f"layers {self.graph.layers}, heads {self.graph.heads}",
        )
        title = f"circuit of {len(self)} {noun}, ablation {self.ablation.kind}; {sizes}"
        more = [f"  … {len(self) - _SHOWN} more"] if len(self) > _SHOWN else []
        return "\n".join([title, *(f"  {edge}" for edge in islice(self, _SHOWN)), *more])

    def _repr_html_(self) -> str:
        return preformatted(repr(self))

    def __len__(self) -> int:
        return len(self.edges)

    def __iter__(self) -> Iterator[Edge]:
        """Walk the edges sorted by source and then by target."""
        return iter(sorted(self.edges, key=lambda edge: edge.place))

    def __contains__(self, edge: Edge) -> bool:
        return edge in self.edges

    def __or__(self, other: "Circuit") -> "Circuit":
        return replace(self, edges=self.edges | self._alike(other).edges)

    def __and__(self, other: "Circuit") -> "Circuit":
        return replace(self, edges=self.edges & self._alike(other).edges)

    def __sub__(self, other: "Circuit") -> "Circuit":
        return replace(self, edges=self.edges - self._alike(other).edges)

    def __le__(self, other: "Circuit") -> bool:
        return self.edges <= self._alike(other).edges

    def without(self, *edges: Edge) -> "Circuit":
        """Return the circuit with some kept edges deleted."""
        if absent := [edge for edge in edges if edge not in self.edges]:
            raise DeclarationError(f"edge {absent[0]} cannot be deleted: the circuit does not keep it")
        return replace(self, edges=self.edges.difference(edges))

    def lesions(self) -> "tuple[Circuit, ...]":
        """Return the circuits that lack just one kept edge, in the order of the edges."""
        return tuple(self.without(edge) for edge in self)

    def live(self) -> "Circuit":
        """Return the part that reaches `logits`; the rest is dead and changes nothing.

        An edge out of a node that reads nothing stays: it carries that node's constant.
        """
        reached = set(self.upstream([LOGITS]))
        return replace(self, edges=frozenset(edge for edge in self.edges if edge.reader in reached))

    def upstream(self, nodes: Iterable[Node]) -> tuple[Node, ...]:
        """Return some nodes and all that they read, in the order of computation."""
        found = set(nodes)
        for edge in sorted(self.edges, key=lambda edge: edge.target.place, reverse=True):
            if edge.reader in found:
                found.add(edge.source)
        return tuple(sorted(found, key=lambda node: node.place))

    def nodes(self) -> tuple[Node, ...]:
        """Return the nodes that a kept edge touches, in the order of computation."""
        touched = {node for edge in self.edges for node in (edge.source, edge.reader)}
        return tuple(sorted(touched, key=lambda node: node.place))

    def heads(self) -> tuple[Head, ...]:
        """Return the attention heads among its nodes."""
        return tuple(node for node in self.nodes() if isinstance(node, Head))

    def sources(self, target: Target) -> tuple[Node, ...]:
        """Return the nodes whose output a port or a node reads, in the order of computation."""
        found = {edge.source for edge in self.edges if target in (edge.target, edge.reader)}
        return tuple(sorted(found, key=lambda node: node.place))

    def reads(self) -> Mapping[Target, Sources]:
        """Return what each port reads that reads anything: outputs, and what stands at cut edges."""
        kept: dict[Target, list[Node]] = {}
        for edge in self:
            kept.setdefault(edge.target, []).append(edge.source)
        if isinstance(self.ablation, Zero):
            return {target: Sources(tuple(nodes), ()) for target, nodes in kept.items()}
        return {target: self._completed(target, kept.get(target, [])) for target in self.graph.targets()}

    def _completed(self, target: Target, kept: Sequence[Node]) -> Sources:
        missing = [node for node in self.graph.sources(target) if node not in kept]
        return Sources(tuple(kept), tuple(missing))

    @property
    def digest(self) -> Digest:
        return digest_json(self.to_json())

    def to_json(self) -> Json:
        beside: dict[str, Json] = {"parallel": True} if self.graph.is_parallel else {}
        return self.in_claim() | beside

    def in_claim(self) -> dict[str, Json]:
        """Return what stands in a claim, whose architecture says whether heads and MLPs are parallel."""
        return {
            "layers": self.graph.layers,
            "heads": self.graph.heads,
            "mlps": self.graph.has_mlps,
            "granularity": str(self.graph.granularity),
            "ablation": self.ablation.to_json(),
            "edges": [str(edge) for edge in self],
        }

    def _alike(self, other: "Circuit") -> "Circuit":
        if (self.graph, self.ablation) != (other.graph, other.ablation):
            raise DeclarationError("circuits of different graphs or ablations cannot be combined")
        return other


def _outside(edge: Edge, graph: Graph) -> str:
    if edge.source not in graph or edge.reader not in graph:
        mlps = "" if graph.has_mlps else " without MLPs"
        return f"edge {edge} is outside {graph.layers} layers of {graph.heads} heads{mlps}"
    if not graph.orders(edge.source, edge.target):
        return (
            f"there is no edge {edge}: {edge.target} reads beside the heads of its layer, which are parallel"
        )
    if graph.granularity is Granularity.PORT:
        return f"edge {edge} feeds a whole head, but the circuit tells query, key and value apart; name one"
    return f"edge {edge} feeds a port, but the granularity of the circuit is {graph.granularity}, want port"


def whole(graph: Graph) -> Circuit:
    """Return the circuit that keeps every edge: the model itself."""
    return Circuit(graph, frozenset(graph.edges()))


def empty(graph: Graph) -> Circuit:
    return Circuit(graph, frozenset())


def circuit_of(graph: Graph, edges: Iterable[Edge]) -> Circuit:
    return Circuit(graph, frozenset(edges))
