"""The forward pass, said once, over any arithmetic: stage after stage, each distinct row computed once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, assert_never

from circuitproof.declare.circuits.graph import Embed, Head, Logits, Mlp
from circuitproof.errors import DeclarationError
from circuitproof.exact.grid import Grid, zeros
from circuitproof.exact.protocol import Arithmetic, V, W
from circuitproof.forward.cells import BiasPart, Cells, Part, PositionPart, Stage, StagePart, TokenPart
from circuitproof.forward.frozen import Frozen
from circuitproof.forward.interface import Side


@dataclass(frozen=True, slots=True)
class _Map:
    """An affine map by its tensors."""

    weight: Grid
    bias: Grid | None


@dataclass(frozen=True, slots=True)
class Forward(Generic[V, W]):
    """A model, the rows needed of it, the arithmetic to compute in, and the candidates that are asked for."""

    frozen: Frozen
    cells: Cells
    arithmetic: Arithmetic[V, W]
    candidates: tuple[int, ...]
    disturbances: Mapping[tuple[int, Side], V] = field(default_factory=dict[tuple[int, Side], V])
    """What is added to the rows of a stage, by its number and side: one row for each row of it."""

    def run(self, known: Sequence[V] = ()) -> list[V]:
        """Return the output rows of every stage; those of a logits stage are the candidates' logits.

        `known` are the outputs of the first stages, where an earlier run has computed them.
        """
        outputs = list(known)
        for stage in self.cells.stages[len(known) :]:
            outputs.append(self._disturbed(self._node(stage, outputs), len(outputs), Side.OUTPUT))
        return outputs

    def _disturbed(self, values: V, stage: int, side: Side) -> V:
        key = (stage, side)
        return self.arithmetic.add(values, self.disturbances[key]) if key in self.disturbances else values

    def _node(self, stage: Stage, outputs: Sequence[V]) -> V:
        match stage.node:
            case Head(layer, index):
                return self._head(stage, outputs, f"head.{layer}.{index}")
            case Mlp(layer):
                up, down = self._map(f"mlp.{layer}.up"), self._map(f"mlp.{layer}.down")
                hidden = self._read(stage, outputs, f"mlp.{layer}.norm", [up])[0]
                bent = self.arithmetic.activate(hidden, self.frozen.architecture.activation)
                return self.arithmetic.affine(bent, down.weight, down.bias)
            case Logits():
                decide = _Map(
                    self.frozen.unembedding(self.candidates), self.frozen.logit_bias(self.candidates)
                )
                return self._read(stage, outputs, "logits.norm", [decide])[0]
            case Embed():
                raise DeclarationError("embed is a part of other stages, never a stage")
            case _:
                assert_never(stage.node)

    def _head(self, stage: Stage, outputs: Sequence[V], name: str) -> V:
        norm = f"attention.{name.split('.')[1]}.norm"
        output = self.frozen.tensor(f"{name}.output.weight")
        value = self._map(f"{name}.value")
        if stage.node in self.frozen.programs:
            (values,) = self._read(stage, outputs, norm, [value])
            return self.arithmetic.affine(self.arithmetic.mix(list(stage.mixes), values), output, None)
        maps = [self._map(f"{name}.query"), self._map(f"{name}.key"), value]
        queries, keys, values = self._read(stage, outputs, norm, maps)
        contexts = list(stage.contexts)
        scale = self.frozen.architecture.attention_scale
        scores = self.arithmetic.scores(queries, keys, contexts, scale)
        weights = self.arithmetic.attention(scores, self.frozen.architecture.attention)
        return self.arithmetic.affine(self.arithmetic.weigh(weights, contexts, values), output, None)

    def _map(self, name: str) -> _Map:
        return _Map(self.frozen.tensor(f"{name}.weight"), self.frozen.bias(f"{name}.bias"))

    def _read(self, stage: Stage, outputs: Sequence[V], norm: str, maps: Sequence[_Map]) -> list[V]:
        """Return affine maps of a stage's inputs: of the sums, or of their parts first if those are fewer.

        Linear maps split, W(t + p) = Wt + Wp: many sums of few tokens and positions are few products.
        """
        columns = [[terms[place] for terms in stage.inputs] for place in range(len(stage.parts))]
        used = [sorted(set(column)) for column in columns]
        has_norm, number = self.frozen.architecture.has_norm, len(outputs)
        is_whole = not columns or has_norm or (number, Side.INPUT) in self.disturbances
        if is_whole or sum(map(len, used)) >= len(stage.inputs):
            parts = [self._rows(p, c, outputs) for p, c in zip(stage.parts, columns, strict=True)]
            total = self._sum(parts) if parts else self._nothing(len(stage.inputs))
            total = self._disturbed(total, number, Side.INPUT)
            if has_norm:
                gain = (self.frozen.tensor(f"{norm}.scale"), self.frozen.tensor(f"{norm}.shift"))
                total = self.arithmetic.normalise(total, self.frozen.architecture.norm, gain)
            return [self.arithmetic.affine(total, one.weight, one.bias) for one in maps]
        tables = [self._rows(part, rows, outputs) for part, rows in zip(stage.parts, used, strict=True)]
        places = [_places(rows, column) for rows, column in zip(used, columns, strict=True)]
        return [self._mapped(tables, places, one) for one in maps]

    def _mapped(self, tables: Sequence[V], places: Sequence[Sequence[int]], one: _Map) -> V:
        images = [
            self.arithmetic.affine(table, one.weight, None if later else one.bias)
            for later, table in enumerate(tables)
        ]
        return self._sum(
            [self.arithmetic.take(image, rows) for image, rows in zip(images, places, strict=True)]
        )

    def _rows(self, part: Part, rows: Sequence[int], outputs: Sequence[V]) -> V:
        match part:
            case StagePart(stage):
                return self.arithmetic.take(outputs[stage], rows)
            case TokenPart():
                tokens = list(self.cells.tokens)
                return self._constant("embed.token", [tokens[row] for row in rows])
            case PositionPart():
                positions = list(self.cells.positions)
                return self._constant("embed.position", [positions[row] for row in rows])
            case BiasPart(layer):
                bias = self.arithmetic.constant(self.frozen.tensor(f"attention.{layer}.output.bias"))
                return self.arithmetic.take(bias, rows)
            case _:
                assert_never(part)

    def _constant(self, name: str, rows: Sequence[int]) -> V:
        return self.arithmetic.constant(self.frozen.file.grid(name, rows))

    def _nothing(self, rows: int) -> V:
        return self.arithmetic.constant(zeros(rows, self.frozen.architecture.width))

    def _sum(self, terms: Sequence[V]) -> V:
        total = terms[0]
        for term in terms[1:]:
            total = self.arithmetic.add(total, term)
        return total


def _places(table: Sequence[int], rows: Sequence[int]) -> list[int]:
    places = {row: place for place, row in enumerate(table)}
    return [places[row] for row in rows]
