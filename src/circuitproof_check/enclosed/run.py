"""One circuit on some prompts, in enclosed numbers: every row of a node is computed together."""

from collections.abc import Callable, Sequence

from circuitproof_check.architecture import EMBED, PORTS, ROTATIONS, Node, logits_node
from circuitproof_check.circuits import Circuit
from circuitproof_check.work import NUMBER, OBJECT, paid, spend
from circuitproof_check.work import key as bytes_of

from . import rows
from .parameters import Parameters
from .places import PromptEntry, Spot, Spots, Store, by_place
from .rows import RowBall

SubstituteOf = Callable[[Node, Spot], RowBall]
"""What a cut edge from a node carries, where one does."""
Found = dict[int, RowBall]
"""Rows by their places."""


class EnclosedRun:
    """Computes what is needed of nodes, in their order, into a store."""

    def __init__(
        self,
        parameters: Parameters,
        circuit: Circuit,
        entries: Sequence[PromptEntry],
        substitute: SubstituteOf,
    ) -> None:
        self._parameters, self._circuit, self.entries = parameters, circuit, entries
        self._substitute, self._programs = substitute, parameters.forward.claim.programs
        self._size, self._precision = parameters.size, parameters.precision
        self._store: Store = {}
        self._inputs: dict[tuple[bytes, int], RowBall] = {}
        self._stage = 0

    def compute(self, store: Store) -> "EnclosedRun":
        """Add to a store what is needed of every node but `logits`."""
        self._store = store
        for node in paid(self._circuit.order, NUMBER):
            spots = self._needed(node)
            found = self._head(node, spots) if node.is_head else self._mlp(node, spots)
            store.update({(self._circuit.numbers[node], place): row for place, row in found.items()})
        return self

    def output(self, node: Node, spot: Spot) -> RowBall:
        """Return what a node puts out, which has been computed."""
        if node == EMBED:
            return self._parameters.embedded(spot)
        return self._store[self._circuit.numbers[node], spot.place]

    def logits(self) -> Found:
        """Return the logits, by the place of the last position."""
        end = logits_node(self._size)
        spots = self._needed(end)
        return self._mapped("logits", self._read(end, spots), spots)

    def residuals(self) -> Found:
        """Return what the logits read before their norm, by the place of the last position."""
        end = logits_node(self._size)
        return {place: self._sum(end, spot) for place, spot in self._needed(end).items()}

    def _needed(self, node: Node) -> Spots:
        return by_place(
            Spot(entry, position) for entry in paid(self.entries) for position in entry.needs.get(node, ())
        )

    def _mapped(self, name: str, found: Sequence[RowBall], spots: Spots) -> Found:
        """Return an affine map of one row for each spot."""
        spend(NUMBER * len(spots))
        images = self._parameters.map(name).apply(found) if found else []
        return dict(zip(spots, images, strict=True))

    def _mlp(self, node: Node, spots: Spots) -> Found:
        name, activation = f"mlp.{node.layer}", self._size.activation
        hidden = self._mapped(f"{name}.up", self._read(node, spots), spots)
        bent = [rows.activated(row, activation, self._precision) for row in paid(hidden).values()]
        return self._mapped(f"{name}.down", bent, spots)

    def _head(self, node: Node, spots: Spots) -> Found:
        is_program = (node.layer, node.head) in self._programs
        mixed = self._by_program(node, spots) if is_program else self._by_attention(node, spots)
        return self._mapped(f"head.{node.layer}.{node.head}.output", mixed, spots)

    def _by_program(self, node: Node, spots: Spots) -> list[RowBall]:
        """Return the values of a program head, mixed as its rows say."""
        weights = [spot.entry.reading.weights(node, spot.position) for spot in paid(spots).values()]
        keys = [[place for place, weight in enumerate(paid(row)) if weight] for row in weights]
        asked = zip(spots.values(), keys, strict=True)
        read = by_place(spot.at(key) for spot, found in asked for key in found)
        values, mixed = self._projected(node, "value", read), list[RowBall]()
        for spot, row, found in zip(spots.values(), weights, keys, strict=True):
            spend(NUMBER * len(found))
            terms = [values[spot.at(key).place] for key in found]
            mixed.append(rows.mix([row[key] for key in found], terms, self._size.head_width))
        return mixed

    def _by_attention(self, node: Node, spots: Spots) -> list[RowBall]:
        """Return the values of a neural head, mixed as its queries and keys say."""
        read = by_place(spot.at(key) for spot in paid(spots).values() for key in range(self._keys(spot)))
        queries = self._projected(node, "query", spots)
        keys, values = self._projected(node, "key", read), self._projected(node, "value", read)
        share = rows.softmax if self._size.attention == "softmax" else rows.sparsemax
        scale, width, mixed = self._size.attention_scale, self._size.head_width, list[RowBall]()
        for spot in spots.values():
            spend(NUMBER * self._keys(spot))
            places = spot.entry.places[: self._keys(spot)]
            known = [keys[place] for place in places]
            shares = share(rows.scores(queries[spot.place], known, scale, self._precision), self._precision)
            mixed.append(rows.weighted(shares, [values[place] for place in places], self._precision, width))
        return mixed

    def _keys(self, spot: Spot) -> int:
        """Return to how many positions a neural head attends from one."""
        return self._size.last_key(spot.position, spot.entry.prompt) + 1

    def _projected(self, node: Node, role: str, spots: Spots) -> Found:
        """Return queries, keys or values of a head; of the first two, as their positions rotate them."""
        is_program = (node.layer, node.head) in self._programs
        port = node if is_program else node.at(1 + PORTS.index(role))
        found = self._mapped(f"head.{node.layer}.{node.head}.{role}", self._read(port, spots), spots)
        if not self._size.rotary or role == "value":
            return found
        return {place: self._turned(row, spots[place].position) for place, row in paid(found).items()}

    def _turned(self, row: RowBall, position: int) -> RowBall:
        spend(OBJECT)
        cosines, sines = (self._parameters.forward.row(name, position) for name in ROTATIONS)
        return rows.rotated(row, cosines, sines)

    def _read(self, port: Node, spots: Spots) -> list[RowBall]:
        """Return what is read at a port, after its norm; ports of one stage that read the same share it.

        What cut edges bring follows from the stage and from what is kept.
        """
        if port.stage != self._stage:
            self._inputs, self._stage = {}, port.stage
        sources, layers = self._circuit.sources.get(port, []), self._circuit.layers.get(port, [])
        numbers = [self._circuit.numbers[source] for source in paid(sources)]
        name = bytes_of([len(numbers), *numbers, *layers])
        for place, spot in paid(spots, NUMBER).items():
            if (name, place) not in self._inputs:
                self._inputs[name, place] = self._input(port, spot)
        return [self._inputs[name, place] for place in spots]

    def _input(self, port: Node, spot: Spot) -> RowBall:
        kind = "attention" if port.is_head else "mlp"
        is_end = port == logits_node(self._size)
        name = "logits.norm" if is_end else f"{kind}.{port.layer}.norm"
        return self._parameters.normed(name, self._sum(port, spot))

    def _sum(self, port: Node, spot: Spot) -> RowBall:
        """Return what is read at a port before its norm."""
        sources, cut = self._circuit.sources.get(port, []), self._circuit.cut.get(port, [])
        spend(OBJECT + OBJECT * (len(sources) + len(cut)))
        terms = [self.output(source, spot) for source in sources]
        terms += [self._substitute(source, spot) for source in cut]
        if self._size.biases:
            layers = self._circuit.layers.get(port, [])
            terms += [self._parameters.tensor(f"attention.{layer}.output.bias") for layer in layers]
        return rows.total(terms, self._size.width)
