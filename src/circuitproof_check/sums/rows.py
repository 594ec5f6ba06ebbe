"""What tokens at positions bring to keys, queries and logits, where no head comes before.

A node is local where what it hands on at a position depends on the token there alone; a head is summed where
all that it reads is local.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from circuitproof_check.architecture import EMBED, QUERY, ROTATIONS, Node, embedding, logits_node
from circuitproof_check.circuits import Circuit
from circuitproof_check.enclosed import rows
from circuitproof_check.enclosed.maps import AffineMap
from circuitproof_check.enclosed.parameters import Parameters
from circuitproof_check.enclosed.rows import RowBall
from circuitproof_check.forward import Forward
from circuitproof_check.reading import require
from circuitproof_check.work import NUMBER, OBJECT, paid, spend

Pair = tuple[int, int]
"""A token and its position."""
Rows = dict[Pair, RowBall]


@dataclass(frozen=True, slots=True, eq=False)
class SummedHead:
    """A head, by its place among the summed ones, and what it hands on of each pair."""

    place: int
    node: Node
    keys: Rows
    contributions: Rows
    """What the values add to the logits of the candidates, each with a weight of one."""

    @property
    def name(self) -> str:
        return f"{self.node.layer}.{self.node.head}"


class TokenRows:
    """Computes, for pairs of a token and a position, what local nodes hand on and what heads make of it."""

    def __init__(self, forward: Forward, circuit: Circuit, precision: int) -> None:
        self.size, self.precision, self._forward = forward.size, precision, forward
        self._parameters, self._circuit = Parameters(forward, precision), circuit
        self._end = logits_node(self.size)
        self._local: dict[Node, Rows] = {EMBED: {}}
        found: list[Node] = []
        for node in paid(circuit.order, NUMBER):
            is_local = all(source in self._local for source in paid(self._sources(node), NUMBER))
            if is_local and not node.is_head:
                self._local[node] = {}
            elif is_local and self.size.attention == "softmax":
                found.append(node)
        kept = paid(self._sources(self._end), NUMBER)
        self._summed = set(found)
        self.is_sum = all(source in self._local or source in self._summed for source in kept)
        self.heads = [
            SummedHead(place, node, {}, {})
            for place, node in enumerate(node for node in paid(found, OBJECT) if node in kept)
        ]
        self._queries: dict[tuple[int, Pair], RowBall] = {}
        self._bases: Rows = {}
        self._unbiased: list[AffineMap] = []

    def add(self, pairs: Sequence[Pair]) -> None:
        """Compute keys and contributions of pairs; those that are known are left out."""
        for head in paid(self.heads, NUMBER):
            fresh = [pair for pair in paid(pairs, NUMBER) if pair not in head.keys]
            if fresh:
                inputs = self._read(head.node, fresh)
                head.keys.update(zip(fresh, self._projected(head, "key", fresh, inputs), strict=True))
                contributed = self._contributed(head, inputs)
                head.contributions.update(zip(fresh, contributed, strict=True))

    def query(self, head: SummedHead, pair: Pair) -> RowBall:
        """Return the query of a head at a pair, which stands last."""
        if (head.place, pair) not in self._queries:
            inputs = self._read(head.node, [pair])
            self._queries[head.place, pair] = self._projected(head, "query", [pair], inputs)[0]
        return self._queries[head.place, pair]

    def base(self, pair: Pair) -> RowBall:
        """Return the logits without what heads add, of prompts that end with a pair."""
        if pair not in self._bases:
            sources = paid(self._sources(self._end), OBJECT)
            terms = [self._output(source, [pair])[0] for source in sources if source not in self._summed]
            if self.size.biases:
                layers = paid(self._circuit.layers.get(self._end, []), NUMBER)
                terms += [self._parameters.tensor(f"attention.{layer}.output.bias") for layer in layers]
            total = rows.total(terms, self.size.width)
            self._bases[pair] = self._parameters.map("logits").apply([total])[0]
        return self._bases[pair]

    def _contributed(self, head: SummedHead, inputs: Sequence[RowBall]) -> list[RowBall]:
        name = f"head.{head.name}"
        values = self._parameters.map(f"{name}.value").apply(inputs)
        if not self._unbiased:
            self._unbiased.append(AffineMap(*self._forward.entries("logits"), None, self.precision))
        return self._unbiased[0].apply(self._parameters.map(f"{name}.output").apply(values))

    def _projected(
        self, head: SummedHead, role: str, pairs: Sequence[Pair], inputs: Sequence[RowBall]
    ) -> list[RowBall]:
        """Return keys or queries, as their positions rotate them."""
        found = self._parameters.map(f"head.{head.name}.{role}").apply(inputs)
        if not self.size.rotary:
            return found
        places = zip(paid(pairs, OBJECT), found, strict=True)
        return [self._turned(row, position) for (_, position), row in places]

    def _turned(self, row: RowBall, position: int) -> RowBall:
        spend(OBJECT)
        cosines, sines = (self._forward.row(name, position) for name in ROTATIONS)
        return rows.rotated(row, cosines, sines)

    def _sources(self, node: Node) -> list[Node]:
        return self._circuit.sources.get(node.at(QUERY) if node.is_head else node, [])

    def _read(self, node: Node, pairs: Sequence[Pair]) -> list[RowBall]:
        """Return what a node reads at pairs, where all its sources are local."""
        sources = paid(self._sources(node), OBJECT)
        found = [self._output(source, pairs) for source in sources]
        spend(OBJECT * len(pairs) * (1 + len(sources)))
        return [rows.total([terms[at] for terms in found], self.size.width) for at in range(len(pairs))]

    def _output(self, node: Node, pairs: Sequence[Pair]) -> list[RowBall]:
        """Return what a local node hands on at pairs."""
        known = self._local[node]
        fresh = [pair for pair in paid(pairs, NUMBER) if pair not in known]
        if fresh and node == EMBED:
            known.update((pair, self._embedded(pair)) for pair in paid(fresh, OBJECT))
        elif fresh:
            known.update(zip(fresh, self._mlp(node, fresh), strict=True))
        return [known[pair] for pair in pairs]

    def _embedded(self, pair: Pair) -> RowBall:
        tables = paid(embedding(self.size, *pair), OBJECT)
        return rows.total([self._parameters.tensor(table, row) for table, row in tables], self.size.width)

    def _mlp(self, node: Node, pairs: Sequence[Pair]) -> list[RowBall]:
        name, inputs = f"mlp.{node.layer}", self._read(node, pairs)
        hidden = paid(self._parameters.map(f"{name}.up").apply(inputs), OBJECT)
        bent = [rows.activated(row, self.size.activation, self.precision) for row in hidden]
        return self._parameters.map(f"{name}.down").apply(bent)


def check_sums(found: TokenRows, where: str) -> None:
    """Demand that the logits are sums over positions: nothing reads a softmax head but the logits."""
    require("logits_read_local_nodes_and_summed_heads", found.is_sum, where)
