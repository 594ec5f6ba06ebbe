"""What each node of a circuit reads, and at which positions of a prompt; no number is computed."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from .architecture import (
    EMBED,
    PORTS,
    QUERY,
    VALUE,
    Edges,
    Node,
    all_edges,
    all_nodes,
    is_before,
    live_nodes,
    logits_node,
)
from .claim import Claim
from .work import NUMBER, OBJECT, STEP, paid, spend
from .work import key as bytes_of

Biases = frozenset[tuple[Node, int]]
"""Nodes, each with a layer whose shared bias it reads."""
NeededPositions = dict[Node, set[int]]
"""Positions at which the outputs of nodes are read."""
NamedStore = tuple[Callable[[Node, int], tuple[int, ...]], Container[tuple[int, ...]]]
"""The names of what nodes put out at positions, and those that are known."""


@dataclass(frozen=True, slots=True, eq=False)
class Circuit:
    """Edges, and what each node reads; told from others by identity."""

    edges: Edges
    sources: Mapping[Node, list[Node]]
    """What a node reads, and a neural head at each of its ports."""
    cut: Mapping[Node, list[Node]]
    """In place of whose output something else is read there."""
    layers: Mapping[Node, list[int]]
    """The layers whose shared bias is read there."""
    order: tuple[Node, ...]
    """The nodes from which edges lead to the logits, in the order of computation, without `embed`."""
    numbers: Mapping[Node, int]
    """A node has the same number in two circuits just if it, and all before it, read the same in both."""


class Circuits:
    """The circuits of a claim's model, each made once."""

    def __init__(self, claim: Claim) -> None:
        self.claim, self.size = claim, claim.architecture
        self._circuits: dict[tuple[int, Biases], Circuit] = {}
        self._numbers: dict[bytes, int] = {}
        self._prompts: dict[bytes, int] = {}
        self._nodes = [] if claim.ablation.is_zero else all_nodes(self.size)
        self._every = () if claim.ablation.is_zero else all_edges(self.size)

    @property
    def model(self) -> Circuit:
        """Return the whole model, which is asked for where cut edges carry anything."""
        return self.circuit(self._every)

    def circuit(self, edges: Edges, biases: Biases = frozenset()) -> Circuit:
        """Return a circuit; it is kept with its edges, so that these are known by their identity."""
        if (id(edges), biases) not in self._circuits:
            self._circuits[id(edges), biases] = self._made(edges, biases)
        return self._circuits[id(edges), biases]

    def _made(self, edges: Edges, biases: Biases) -> Circuit:
        spend(6 * OBJECT + 5 * NUMBER * len(edges))
        listed: dict[Node, list[Node]] = {}
        for source, target in edges:
            listed.setdefault(target, []).append(source)
        end = logits_node(self.size)
        order = tuple(sorted(live_nodes(edges, self.size) - {EMBED, end}))
        sources: dict[Node, list[Node]] = {}
        cut: dict[Node, list[Node]] = {}
        layers: dict[Node, list[int]] = {}
        numbers = {EMBED: 0}
        for node in (*order, end):
            name = [node.stage, node.head]
            for port in self.ports(node):
                own = listed.get(node, [])
                sources[port] = (
                    own
                    if port == node and not node.is_head
                    else [*own, *listed.get(node.at(port.port or VALUE), [])]
                )
                cut[port] = self._cut(port, sources[port])
                layers[port] = _layers(port, (*sources[port], *cut[port]), biases)
                read = [numbers[source] for source in paid(sources[port])]
                name += [len(layers[port]), *layers[port], len(read), *read]
            numbers[node] = self._numbers.setdefault(bytes_of(name), len(self._numbers) + 1)
        return Circuit(edges, sources, cut, layers, order, numbers)

    def ports(self, node: Node) -> tuple[Node, ...]:
        """Return where a node reads: a neural head for its query, its keys and its values."""
        if not node.is_head or (node.layer, node.head) in self.claim.programs:
            return (node,)
        return tuple(node.at(1 + port) for port in range(len(PORTS)))

    def _cut(self, port: Node, kept: Sequence[Node]) -> list[Node]:
        """Return the nodes before a port whose edge to it is cut, if cut edges carry anything."""
        if self.claim.ablation.is_zero:
            return []
        spend(NUMBER * (len(self._nodes) + len(kept)))
        is_kept = set(kept)
        return [node for node in self._nodes if is_before(node, port, self.size) and node not in is_kept]

    def number(self, prompt: tuple[int, ...]) -> int:
        """Return what stands for a prompt in dictionaries."""
        return self._prompts.setdefault(bytes_of(prompt), len(self._prompts))


def _layers(node: Node, sources: Sequence[Node], biases: Biases) -> list[int]:
    """Return the layers whose shared bias a node reads, each once; a program head reads at its value port."""
    spend(OBJECT + STEP * len(biases))
    own = (node, node.reader, node.at(node.port or VALUE)) if node.is_head else (node,)
    kept = {layer for reader, layer in biases if reader in own}
    return sorted({source.layer for source in paid(sources) if source.is_head} | kept)


class Reading:
    """At which positions of a prompt nodes read, by the rows of program heads, each found once."""

    def __init__(self, circuits: Circuits, prompt: tuple[int, ...]) -> None:
        self._circuits, self._programs, self._prompt = circuits, circuits.claim.programs, prompt
        self._rows: dict[tuple[Node, int], tuple[Fraction, ...]] = {}

    def weights(self, node: Node, position: int) -> tuple[Fraction, ...]:
        """Return the row of a program head."""
        if (node, position) not in self._rows:
            program = self._programs[node.layer, node.head]
            self._rows[node, position] = program.row(self._prompt, position)
        return self._rows[node, position]

    def complete(self, circuit: Circuit, needed: NeededPositions, store: NamedStore) -> NeededPositions:
        """Return what nodes of a circuit must put out for what is needed, without what is in store."""
        name, known = store
        for node in (logits_node(self._circuits.size), *reversed(paid(circuit.order))):
            asked = needed.get(node)
            for port, places in self.inputs(node, asked) if asked else ():
                for source in circuit.sources[port]:
                    spend(NUMBER + STEP * len(places))
                    if source != EMBED:
                        unknown = {place for place in places if name(source, place) not in known}
                        needed[source] = needed.get(source, set()) | unknown
        return needed

    def inputs(self, node: Node, asked: set[int]) -> list[tuple[Node, set[int]]]:
        """Return the ports of a node, each with the positions at which it is read for outputs at others."""
        read = self._read(node, asked)
        ports = self._circuits.ports(node) if read else ()
        return [(port, asked if port.port == QUERY else read) for port in ports]

    def _read(self, node: Node, positions: set[int]) -> set[int]:
        """Return the positions at which a node reads its input for its output at others."""
        if not node.is_head or not positions:
            return positions
        if (node.layer, node.head) not in self._programs:
            spend(NUMBER * len(self._prompt))
            return set(range(self._circuits.size.last_key(max(positions), self._prompt) + 1))
        found = set[int]()
        for position in positions:
            row = self.weights(node, position)
            found.update(place for place, weight in enumerate(paid(row)) if weight)
        return found
