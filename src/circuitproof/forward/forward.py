"""The forward pass, said once, over any arithmetic: stage after stage, each distinct row computed once."""

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Generic, TypeAlias, assert_never

from circuitproof.arithmetic.grid import Grid, zeros
from circuitproof.arithmetic.protocol import Arithmetic, Contexts, V, W
from circuitproof.circuits.graph import Embed, Head, LogitsNode, Mlp, Port
from circuitproof.errors import DeclarationError, NotExactError
from circuitproof.forward.cells import (
    BiasPart,
    Cells,
    InputPart,
    PortPart,
    PositionPart,
    Stage,
    StagePart,
    StandIn,
    TokenPart,
)
from circuitproof.forward.frozen import Frozen
from circuitproof.forward.interface import Side
from circuitproof.models.architecture import ROTARY_TABLES

_Map: TypeAlias = tuple[Grid, Grid | None]
"""An affine map by its tensors: the weight, and the bias if it has one."""
_PartColumns: TypeAlias = list[tuple[InputPart, tuple[int, ...]]]
"""Parts of a stage, each with the row that every input takes of it."""


@dataclass(frozen=True, slots=True)
class Disturbance(Generic[V]):
    """Rows that are added to those of stages: by number and side of a stage, which one to each row of it."""

    added: V
    rows: Mapping[tuple[int, Side], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Read(Generic[V, W]):
    """What a stage makes of its inputs before it bends any: values, and the scores of a neural head."""

    values: V
    scores: W | None = None


@dataclass(frozen=True, slots=True)
class Forward(Generic[V, W]):
    """A model, the rows needed of it, the arithmetic to compute in, and the candidates that are asked for."""

    frozen: Frozen
    cells: Cells[Any]
    arithmetic: Arithmetic[V, W]
    candidates: tuple[int, ...]
    disturbance: Disturbance[V] | None = None
    may_split: bool = True
    """Whether a linear map may be applied to the parts of sums first, where those are fewer."""
    sums: list[tuple[_PartColumns, V]] = field(
        default_factory=list[tuple[_PartColumns, V]], init=False, repr=False, compare=False
    )
    """What was added up last, without shared biases and with them, and the sums."""

    def residual(self, number: int, outputs: Mapping[int, V]) -> V:
        """Return the sums that a stage reads, before anything is added to them and before its norm."""
        stage = self.cells.stages[number]
        if not stage.parts:
            return self.arithmetic.constant(zeros(len(stage.inputs), self.frozen.architecture.width))
        columns = list(zip(stage.parts, map(tuple, _columns(stage)), strict=True))
        columns.sort(key=lambda column: isinstance(column[0], BiasPart))
        found, total = self._known_sum(columns)
        for count, (part, column) in enumerate(columns[found:], start=found + 1):
            added = self._rows(part, column, outputs)
            total = added if total is None else self.arithmetic.add(total, added)
            if not isinstance(part, BiasPart):
                self.sums[:] = [(columns[:count], total)]
        assert total is not None  # noqa: S101  # there are parts
        self.sums[1:] = [(columns, total)]
        return total

    def _known_sum(self, columns: _PartColumns) -> tuple[int, V | None]:
        """Return the sum that was made last, and of how many parts, if just these come first here.

        The heads of a layer read the same rows, and the next layer a few more; shared biases come last.
        """
        for known, total in reversed(self.sums):
            if known == columns[: len(known)]:
                return len(known), total
        return 0, None

    def read(self, number: int, outputs: Mapping[int, V]) -> Read[V, W]:
        """Return what a stage makes of what earlier ones hand on, up to where it bends."""
        match self.cells.stages[number].node:
            case Head() as head:
                return self._attend(head, number, outputs)
            case Port(head, use):
                name, norm = f"head.{head.layer}.{head.index}.{use}", f"attention.{head.layer}.norm"
                return Read(self._images(number, outputs, norm, [self._map(name)])[0])
            case StandIn():
                return Read(self.residual(number, outputs))
            case Mlp(layer):
                hidden = self._images(number, outputs, f"mlp.{layer}.norm", [self._map(f"mlp.{layer}.up")])
                return Read(hidden[0])
            case LogitsNode():
                asked = self.candidates
                decide = (self.frozen.unembedding(asked), self.frozen.logit_bias(asked))
                return Read(self._images(number, outputs, "logits.norm", [decide])[0])
            case Embed():
                raise DeclarationError("embed is a part of other stages, never a stage")
            case _ as node:
                assert_never(node)

    def write(self, number: int, read: Read[V, W]) -> V:
        """Return what a stage hands on; a logits stage the candidates' logits."""
        return self._disturbed(self._written(self.cells.stages[number], read), number, Side.OUTPUT)

    def _attend(self, head: Head, number: int, outputs: Mapping[int, V]) -> Read[V, W]:
        name, norm = f"head.{head.layer}.{head.index}", f"attention.{head.layer}.norm"
        value = self._map(f"{name}.value")
        if head in self.frozen.programs:
            return Read(self._images(number, outputs, norm, [value])[0])
        if ports := self.cells.stages[number].ports:
            queries, keys, values = (outputs[port] for port in ports)
        else:
            maps = [self._map(f"{name}.query"), self._map(f"{name}.key"), value]
            queries, keys, values = self._images(number, outputs, norm, maps)
        contexts: Contexts = list(self.cells.stages[number].contexts)
        if self.frozen.architecture.rotary is not None:
            queries, keys, contexts = self._rotated(queries, keys, contexts)
        scale = self.frozen.architecture.attention_scale
        return Read(values, self.arithmetic.scores(queries, keys, contexts, scale))

    def _rotated(self, queries: V, keys: V, contexts: Contexts) -> tuple[V, V, Contexts]:
        """Return queries and keys rotated by their positions, and the contexts over them.

        The keys of a context stand at positions 0, 1, …: each row is rotated once for each position at which
        it stands.
        """
        asked = _numbered((one.query, one.at) for one in contexts)
        known = _numbered(pair for one in contexts for pair in _placed(one.keys))
        turned = [
            one._replace(
                query=asked[one.query, one.at], keys=tuple(known[pair] for pair in _placed(one.keys))
            )
            for one in contexts
        ]
        return self._turn(queries, asked), self._turn(keys, known), turned

    def _turn(self, values: V, pairs: Collection[tuple[int, int]]) -> V:
        rows, positions = ([pair[side] for pair in pairs] for side in (0, 1))
        tables = (self.frozen.file.grid(name, positions) for name in ROTARY_TABLES)
        return self.arithmetic.rotate(self.arithmetic.take(values, rows), *tables)

    def _written(self, stage: Stage, read: Read[V, W]) -> V:
        architecture, arithmetic = self.frozen.architecture, self.arithmetic
        match stage.node:
            case Head(layer, index):
                if read.scores is None:
                    mixed = arithmetic.mix(list(stage.mixes), read.values)
                else:
                    weights = arithmetic.attention(read.scores, architecture.attention)
                    mixed = arithmetic.weigh(weights, list(stage.contexts), read.values)
                output = self.frozen.tensor(f"head.{layer}.{index}.output.weight")
                return arithmetic.affine(mixed, output, None)
            case Mlp(layer):
                bent = arithmetic.activate(read.values, architecture.activation)
                return arithmetic.affine(bent, *self._map(f"mlp.{layer}.down"))
            case StandIn():
                return arithmetic.mix(list(stage.mixes), read.values)
            case LogitsNode() | Embed() | Port():
                return read.values
            case _ as node:
                assert_never(node)

    def _disturbed(self, values: V, number: int, side: Side) -> V:
        if self.disturbance is None or (number, side) not in self.disturbance.rows:
            return values
        added = self.arithmetic.take(self.disturbance.added, self.disturbance.rows[number, side])
        return self.arithmetic.add(values, added)

    def _map(self, name: str) -> _Map:
        return self.frozen.tensor(f"{name}.weight"), self.frozen.bias(f"{name}.bias")

    def _images(self, number: int, outputs: Mapping[int, V], norm: str, maps: Sequence[_Map]) -> list[V]:
        """Return affine maps of a stage's inputs: of the sums, or of their parts first if those are fewer.

        Linear maps split, W(t + p) = Wt + Wp: many sums of few tokens and positions are few products.
        """
        stage, architecture = self.cells.stages[number], self.frozen.architecture
        columns = _columns(stage)
        used = [sorted(set(column)) for column in columns]
        if self._may_split(number) and columns and sum(map(len, used)) < len(stage.inputs):
            tables = [self._rows(part, rows, outputs) for part, rows in zip(stage.parts, used, strict=True)]
            places = [_places(rows, column) for rows, column in zip(used, columns, strict=True)]
            return [self._mapped(tables, places, one) for one in maps]
        total = self._disturbed(self.residual(number, outputs), number, Side.INPUT)
        if architecture.has_norm:
            gain = (self.frozen.tensor(f"{norm}.scale"), self.frozen.tensor(f"{norm}.shift"))
            total = self.arithmetic.normalise(total, architecture.norm, gain)
        return [self.arithmetic.affine(total, *one) for one in maps]

    def _may_split(self, number: int) -> bool:
        is_disturbed = self.disturbance is not None and (number, Side.INPUT) in self.disturbance.rows
        return self.may_split and not self.frozen.architecture.has_norm and not is_disturbed

    def _mapped(self, tables: Sequence[V], places: Sequence[Sequence[int]], one: _Map) -> V:
        affine, (weight, bias) = self.arithmetic.affine, one
        images = [affine(table, weight, None if later else bias) for later, table in enumerate(tables)]
        taken = [self.arithmetic.take(image, rows) for image, rows in zip(images, places, strict=True)]
        return reduce(self.arithmetic.add, taken)

    def _rows(self, part: InputPart, rows: Sequence[int], outputs: Mapping[int, V]) -> V:
        match part:
            case StagePart(stage) | PortPart(stage):
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


class Trace(Generic[V, W]):
    """What stages read and write in a forward pass, each computed when it is first asked for.

    What another pass has found may be given; then it is not computed again.
    """

    def __init__(
        self,
        forward: Forward[V, W],
        outputs: Mapping[int, V] | None = None,
        reads: Mapping[int, Read[V, W]] | None = None,
    ) -> None:
        self.forward = forward
        self.outputs = dict(outputs or {})
        """What stages write, by number, as far as that is known."""
        self.reads = dict(reads or {})
        """What they read: large, and kept only where it was asked for."""

    def output(self, number: int) -> V:
        """Return the output rows of a stage; those of a logits stage are the candidates' logits."""
        if number not in self.outputs:
            read = self._read(number)
            with self._naming(number):
                self.outputs[number] = self.forward.write(number, read)
        return self.outputs[number]

    def read(self, number: int) -> Read[V, W]:
        """Return what a stage makes of its inputs before it bends any."""
        self.reads[number] = self._read(number)
        return self.reads[number]

    def at(self, number: int, side: Side) -> V:
        """Return the rows of one side of a stage; those of the input are sums, before a norm."""
        if side is Side.OUTPUT:
            return self.output(number)
        self._reach(number)
        return self.forward.residual(number, self.outputs)

    def _read(self, number: int) -> Read[V, W]:
        if number in self.reads:
            return self.reads[number]
        self._reach(number)
        with self._naming(number):
            return self.forward.read(number, self.outputs)

    def _reach(self, number: int) -> None:
        """Compute the stages that a stage reads, and before them those that they read."""
        needed, left = set[int](), [number]
        while left:
            read = set(self.forward.cells.stages[left.pop()].stages())
            left += sorted(read - needed - self.outputs.keys())
            needed |= read - self.outputs.keys()
        for stage in sorted(needed):
            self.output(stage)

    @contextmanager
    def _naming(self, number: int) -> Generator[None, None, None]:
        """Let what has no exact value say in which node."""
        try:
            yield
        except NotExactError as error:
            raise NotExactError(f"{self.forward.cells.stages[number].node}: {error}") from error


def _columns(stage: Stage) -> list[list[int]]:
    """Return for each part of a stage the row that each input takes of it."""
    return [[terms[place] for terms in stage.inputs] for place in range(len(stage.parts))]


def _placed(rows: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Return rows with the positions at which they stand, from 0 on."""
    return zip(rows, range(len(rows)), strict=True)


def _numbered(keys: Iterable[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Return distinct keys with their numbers, in order of appearance."""
    return {key: number for number, key in enumerate(dict.fromkeys(keys))}


def _places(table: Sequence[int], rows: Sequence[int]) -> list[int]:
    places = {row: place for place, row in enumerate(table)}
    return [places[row] for row in rows]
