"""What nodes hand on at a token and a position, where nothing else matters: an enclosed row for each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

from circuitproof.arithmetic.balls import Balls, Enclose
from circuitproof.arithmetic.grid import zeros
from circuitproof.circuits.graph import LOGITS, Embed, Head, Mlp, Node
from circuitproof.errors import DeclarationError
from circuitproof.forward.frozen import Frozen
from circuitproof.models.architecture import ROTARY_TABLES
from circuitproof.proof.summed.outline import SummedCircuit

TokenPairs: TypeAlias = Sequence[tuple[int, int]]
"""Tokens and the positions where they stand."""


@dataclass(frozen=True, slots=True)
class LocalRows:
    """The rows of one circuit at pairs, as docs/certificate.md computes them ("Least sums over a region")."""

    frozen: Frozen
    summed: SummedCircuit
    candidates: tuple[int, ...]
    arithmetic: Enclose

    def base(self, pairs: TokenPairs) -> Balls:
        """Return the logits that the last token gives without any head, biases included."""
        layers = self.summed.layers if self.frozen.architecture.biases else ()
        biases = [self._tensor(f"attention.{layer}.output.bias", len(pairs)) for layer in layers]
        parts = [*(self._output(node, pairs) for node in self.summed.local), *biases]
        total = self._total(parts, len(pairs))
        bias = self.frozen.logit_bias(self.candidates)
        return self.arithmetic.affine(total, self.frozen.unembedding(self.candidates), bias)

    def contributions(self, head: Head, pairs: TokenPairs) -> Balls:
        """Return the logits that a head gives where its whole attention is on a pair."""
        values = self._mapped(head, "value", self._input(head, pairs))
        output = self.frozen.tensor(f"head.{head.layer}.{head.index}.output.weight")
        handed_on = self.arithmetic.affine(values, output, None)
        return self.arithmetic.affine(handed_on, self.frozen.unembedding(self.candidates), None)

    def queries(self, head: Head, pairs: TokenPairs) -> Balls:
        return self._turned(self._mapped(head, "query", self._input(head, pairs)), pairs)

    def keys(self, head: Head, pairs: TokenPairs) -> Balls:
        return self._turned(self._mapped(head, "key", self._input(head, pairs)), pairs)

    def _turned(self, rows: Balls, pairs: TokenPairs) -> Balls:
        if self.frozen.architecture.rotary is None:
            return rows
        tables = (self.frozen.file.grid(name, [place for _, place in pairs]) for name in ROTARY_TABLES)
        return self.arithmetic.rotate(rows, *tables)

    def _mapped(self, head: Head, use: str, rows: Balls) -> Balls:
        name = f"head.{head.layer}.{head.index}.{use}"
        return self.arithmetic.affine(
            rows, self.frozen.tensor(f"{name}.weight"), self.frozen.bias(f"{name}.bias")
        )

    def _input(self, node: Node, pairs: TokenPairs) -> Balls:
        sources = self.summed.circuit.sources(node)
        return self._total([self._output(source, pairs) for source in sources], len(pairs))

    def _total(self, parts: Sequence[Balls], count: int) -> Balls:
        if not parts:
            return self.arithmetic.constant(zeros(count, self.frozen.architecture.width))
        return reduce(self.arithmetic.add, parts)

    def _output(self, node: Node, pairs: TokenPairs) -> Balls:
        match node:
            case Embed():
                places = [] if self.frozen.architecture.rotary else [self._rows("embed.position", pairs, 1)]
                return reduce(self.arithmetic.add, [self._rows("embed.token", pairs, 0), *places])
            case Mlp(layer):
                name, tensor, bias = f"mlp.{layer}", self.frozen.tensor, self.frozen.bias
                hidden = self.arithmetic.affine(
                    self._input(node, pairs), tensor(f"{name}.up.weight"), bias(f"{name}.up.bias")
                )
                bent = self.arithmetic.activate(hidden, self.frozen.architecture.activation)
                return self.arithmetic.affine(bent, tensor(f"{name}.down.weight"), bias(f"{name}.down.bias"))
            case _:
                raise DeclarationError(f"{node} reads more than one position; {LOGITS} adds it up itself")

    def _rows(self, name: str, pairs: TokenPairs, side: int) -> Balls:
        """Return the rows of an embedding for tokens (side 0) or positions (side 1), each read once."""
        used = _numbered(pair[side] for pair in pairs)
        known = self.arithmetic.constant(self.frozen.file.grid(name, list(used)))
        return self.arithmetic.take(known, [used[pair[side]] for pair in pairs])

    def _tensor(self, name: str, count: int) -> Balls:
        return self.arithmetic.take(self.arithmetic.constant(self.frozen.tensor(name)), [0] * count)


def _numbered(keys: Iterable[int]) -> dict[int, int]:
    return {key: number for number, key in enumerate(dict.fromkeys(keys))}
