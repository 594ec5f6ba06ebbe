"""What a decision depends on: every distinct computation of every node, found before any number is touched.

The output of a node at a position is determined by the node and by what it reads there. Following that
from the logits back gives each node a table of the distinct rows that some prompt needs. Prompts that share
tokens, positions or prefixes share rows; so do a circuit and its lesions, because a node that reads the
same nodes in both is one *stage*. A **cell** is a row of the logits: one computation decides its prompts.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from heapq import heappop, heappush
from typing import Generic, TypeAlias, TypeVar, assert_never

from circuitproof.arithmetic.protocol import Context, RationalRow
from circuitproof.circuits.circuit import NO_SOURCES, Circuit, Sources, whole
from circuitproof.circuits.graph import (
    EMBED,
    LOGITS,
    Granularity,
    Graph,
    Head,
    Node,
    Port,
    Target,
    Use,
)
from circuitproof.errors import InputError
from circuitproof.forward.binding import Binding, P
from circuitproof.models.architecture import Architecture
from circuitproof.tasks.domain import Prompt

T = TypeVar("T")
PartRows: TypeAlias = tuple[int, ...]
"""One input of a stage: the row to take from each of its parts."""


@dataclass(frozen=True, slots=True)
class StandIn:
    """What a cut edge carries: a mean of outputs of its source in the whole model."""

    source: Node

    def __str__(self) -> str:
        return f"substitute of {self.source}"


StageTarget: TypeAlias = Node | Port | StandIn
"""What a stage computes: a node, an input of a head before attention, or what stands at cut edges."""


@dataclass(frozen=True, slots=True)
class TokenPart:
    """The token embeddings; rows are those of `Cells.tokens`."""


@dataclass(frozen=True, slots=True)
class PositionPart:
    """The position embeddings; rows are those of `Cells.positions`."""


@dataclass(frozen=True, slots=True)
class BiasPart:
    """The output bias that the heads of a layer share: a single row."""

    layer: int


@dataclass(frozen=True, slots=True)
class StagePart:
    """The outputs of an earlier stage."""

    stage: int


@dataclass(frozen=True, slots=True)
class PortPart:
    """What a port of a head makes of its own input: queries, keys or values."""

    stage: int


InputPart: TypeAlias = TokenPart | PositionPart | BiasPart | StagePart | PortPart


EMBEDDING: tuple[InputPart, ...] = (TokenPart(), PositionPart())
"""What `embed` adds up where positions are learned."""


def embedding_of(architecture: Architecture) -> tuple[InputPart, ...]:
    """Return what `embed` adds up: rotated positions are no part of it."""
    return EMBEDDING if architecture.rotary is None else (TokenPart(),)


class Rows(Generic[T]):
    """Rows in the order in which they were found: equal rows of equal marks are one."""

    def __init__(self, rows: Iterable[T] = ()) -> None:
        self._places: dict[tuple[T, int], int] = {(row, 0): place for place, row in enumerate(rows)}

    def place(self, row: T, mark: int) -> int:
        """Return the place of a row, which is new if it was never asked for."""
        return self._places.setdefault((row, mark), len(self._places))

    def marks(self) -> list[int]:
        return [mark for _, mark in self._places]

    def __iter__(self) -> Iterator[T]:
        return (row for row, _ in self._places)

    def __len__(self) -> int:
        return len(self._places)


@dataclass(frozen=True, slots=True)
class Stage:
    """One node reading certain parts, with the distinct inputs and outputs that are needed of it.

    An input is a sum, one row of each part. The outputs of a neural head are its `contexts`, a query's input
    with those of its keys; of a program head its `mixes`, weights on inputs; of other nodes one per input.
    A head whose ports are told apart has no inputs: its parts are the stages of its ports.
    """

    node: StageTarget
    parts: tuple[InputPart, ...]
    inputs: Rows[PartRows] = field(default_factory=Rows[PartRows])
    contexts: Rows[Context] = field(default_factory=Rows[Context])
    mixes: Rows[RationalRow] = field(default_factory=Rows[RationalRow])

    @property
    def ports(self) -> tuple[int, ...]:
        """Return the stages of query, keys and values, where they are told apart."""
        return tuple(part.stage for part in self.parts if isinstance(part, PortPart))

    def stages(self) -> tuple[int, ...]:
        """Return the stages that it reads."""
        return tuple(part.stage for part in self.parts if isinstance(part, StagePart | PortPart))

    @property
    def is_normed(self) -> bool:
        """Say whether what it adds up goes through a norm, in a model that has norms."""
        return not (self.ports or isinstance(self.node, StandIn))

    @property
    def outputs(self) -> Rows[PartRows] | Rows[Context] | Rows[RationalRow]:
        return self.contexts or self.mixes or self.inputs


@dataclass(frozen=True, slots=True)
class BiasKept:
    """A circuit in which a node reads the bias that the heads of a layer share, though it keeps none of them.

    It tells what an edge from the only head is for: for what the head hands on, or for the bias alone.
    """

    circuit: Circuit
    node: Target
    layer: int


Variant: TypeAlias = Circuit | BiasKept
"""What logits are asked of."""


class Cells(Generic[P]):
    """The stages of circuits of one model and the rows that the places of a binding need of them."""

    def __init__(
        self, binding: Binding[P], *, biases: bool, embedding: tuple[InputPart, ...] = EMBEDDING
    ) -> None:
        self.stages: list[Stage] = []
        self.tokens: dict[int, int] = {}
        self.positions: dict[int, int] = {}
        self._binding = binding
        self._biases = biases
        self._embedding = embedding
        self._numbers: dict[tuple[StageTarget, tuple[InputPart, ...]], int] = {}
        self._known: defaultdict[int, dict[P, int]] = defaultdict(dict)
        self._inputs: defaultdict[int, dict[P, int]] = defaultdict(dict)
        self._stand_ins: dict[Node, int] = {}
        self._substitutes: dict[tuple[StageTarget, Hashable], int] = {}

    def logits_stage(self, variant: Variant) -> int:
        """Return the stage that computes a circuit's logits; equal parts of circuits share stages."""
        circuit, kept = (variant.circuit, variant) if isinstance(variant, BiasKept) else (variant, None)
        return self._numbered(circuit.live(), [LOGITS], kept)[LOGITS]

    def sum_stage(self, circuit: Circuit, sources: Sequence[Node], biases: Iterable[int] = ()) -> int:
        """Return a stage that adds up some sources of the logits, and the shared biases of some layers."""
        numbers = self._numbered(circuit, sources, None)
        return self._stage(LOGITS, (*self._outputs(sources, numbers), *map(BiasPart, biases)))

    def cell(self, stage: int, place: P) -> int:
        """Return the row of a stage that a place leads to."""
        self._find_rows(stage, [place])
        return self._known[stage][place]

    def forget(self, stage: int) -> None:
        """Look for the rows of a stage anew; those that are the same as before are still one."""
        self._known[stage].clear()
        self._inputs[stage].clear()

    def cells(self, variant: Variant, places: Sequence[P]) -> tuple[int, tuple[int, ...]]:
        """Return a circuit's logits stage and the row of it that decides each place."""
        stage = self.logits_stage(variant)
        self._find_rows(stage, places)
        known = self._known[stage]
        return stage, tuple(known[place] for place in places)

    def count(self) -> int:
        """Return how many rows are needed of all stages."""
        return sum(len(stage.outputs) for stage in self.stages)

    def alone(self, stage: int, row: int) -> "Cells[P]":
        """Return the stages before this one as they are, and of this one a single row."""
        whole = self.stages[stage]
        part = copy(self)
        only = Rows([list(whole.inputs)[row]])
        part.stages = [*self.stages[:stage], Stage(whole.node, whole.parts, only)]
        return part

    def _numbered(self, circuit: Circuit, nodes: Sequence[Node], kept: BiasKept | None) -> dict[Node, int]:
        """Return the stages of nodes and of all that they read."""
        numbers: dict[Node, int] = {}
        reads = circuit.reads()
        for node in circuit.upstream(nodes):
            if node != EMBED:
                parts = {
                    port: self._parts(circuit.graph, port, reads.get(port, NO_SOURCES), numbers, kept)
                    for port in self._ports(circuit.graph, node)
                }
                if len(parts) > 1:
                    own = tuple(PortPart(self._stage(port, read)) for port, read in parts.items())
                else:
                    (own,) = parts.values()
                numbers[node] = self._stage(node, own)
        return numbers

    def _ports(self, graph: Graph, node: Node) -> Sequence[Target]:
        """Return where edges into a node end that anything is computed of; a program reads values only."""
        ports = graph.ports(node)
        is_split = isinstance(node, Head) and len(ports) > 1 and self._binding.has_program(node)
        return [one for one in ports if isinstance(one, Port) and one.use is Use.VALUE] if is_split else ports

    def _parts(
        self,
        graph: Graph,
        port: Target,
        sources: Sources,
        numbers: Mapping[Node, int],
        kept: BiasKept | None,
    ) -> tuple[InputPart, ...]:
        """Return what a port adds up: outputs along kept edges, substitutes at cut ones, shared biases."""
        layers = sources.layers() + ([kept.layer] if kept is not None and kept.node == port else [])
        substitutes = (StagePart(self._stand_in(graph, source)) for source in sources.substituted)
        biases = map(BiasPart, layers if self._biases else ())
        return (*self._outputs(sources.kept, numbers), *substitutes, *biases)

    def _stand_in(self, graph: Graph, source: Node) -> int:
        """Return the stage of what stands at cut edges from a node."""
        if source not in self._stand_ins:
            model = whole(replace(graph, granularity=Granularity.HEAD))
            parts = self._outputs([source], self._numbered(model, [source], None))
            self._stand_ins[source] = self._stage(StandIn(source), tuple(parts))
        return self._stand_ins[source]

    def _stage(self, node: StageTarget, parts: tuple[InputPart, ...]) -> int:
        key = (node, parts)
        if key not in self._numbers:
            self._numbers[key] = len(self.stages)
            self.stages.append(Stage(node, parts))
        return self._numbers[key]

    def _outputs(self, sources: Sequence[Node], numbers: Mapping[Node, int]) -> Iterator[InputPart]:
        for source in sources:
            yield from self._embedding if source == EMBED else (StagePart(numbers[source]),)

    def _find_rows(self, stage: int, places: Iterable[P]) -> None:
        """Find the rows that places lead to, and before them all that those read."""
        for number, needed in self._needed(stage, places):
            known = self._known[number]
            for place in needed:
                known[place] = self._row(number, place)

    def _needed(self, stage: int, places: Iterable[P]) -> Iterator[tuple[int, Iterable[P]]]:
        """Return the stages, in order, and the places whose rows must be found for those of one.

        Stages are numbered in the order of computation: the last is followed back first, and found last.
        """
        needed = {stage: self._unknown(stage, places)}
        followed, left = list[int](), [-stage] if needed[stage] else []
        while left:
            followed.append(-heappop(left))
            read = self.stages[followed[-1]]
            for number, some in self._reads(read, needed[followed[-1]]):
                unknown = self._unknown(number, some)
                if unknown and number not in needed:
                    heappush(left, -number)
                if unknown:
                    needed.setdefault(number, {}).update(unknown)
        return ((number, needed[number]) for number in reversed(followed))

    def _unknown(self, stage: int, places: Iterable[P]) -> dict[P, None]:
        known = self._known[stage]
        return dict.fromkeys(place for place in places if place not in known)

    def _reads(self, stage: Stage, places: Iterable[P]) -> Iterator[tuple[int, Iterable[P]]]:
        """Return the stages that one reads, and the places at which it does."""
        if stage.stages():
            read = self._read(stage, places)
            query = stage.ports[0] if stage.ports else None
            yield from ((number, places if number == query else read) for number in stage.stages())

    def _read(self, stage: Stage, places: Iterable[P]) -> list[P]:
        """Return the places at which a stage reads its parts."""
        if isinstance(stage.node, StandIn):
            mixes = {one.name: one.mix for one in map(self._binding.substitute, places)}
            return list(dict.fromkeys(place for mix in mixes.values() for place, _ in mix))
        if not isinstance(stage.node, Head):
            return list(places)
        found: dict[P, None] = {}
        for place in places:
            attended = self._binding.attended(stage.node, place)
            read = self._binding.keys(place) if attended is None else [key for key, _ in attended]
            found.update(dict.fromkeys(read))
        return list(found)

    def _row(self, number: int, place: P) -> int:
        match self.stages[number].node:
            case Head() as head:
                return self._attended(number, head, place)
            case StandIn():
                return self._substituted(number, place)
            case _:
                return self._sum(self.stages[number], place)

    def _attended(self, number: int, head: Head, place: P) -> int:
        stage, mark = self.stages[number], self._binding.mark(place)
        attended = self._binding.attended(head, place)
        if attended is not None:
            return stage.mixes.place(self._mix(number, attended), mark)
        keys, (_, at) = self._binding.keys(place), self._binding.end(place)
        if stage.ports:
            query, key, value = (self._known[port] for port in stage.ports)
            read, chosen = (tuple(port[one] for one in keys) for port in (key, value))
            return stage.contexts.place(Context(query[place], read, chosen, at), mark)
        inputs = tuple(self._input(number, key) for key in keys)
        return stage.contexts.place(Context(inputs[at], inputs, inputs, at), mark)

    def _substituted(self, number: int, place: P) -> int:
        stage, found = self.stages[number], self._binding.substitute(place)
        key = (stage.node, found.name)
        if key not in self._substitutes:
            self._substitutes[key] = stage.mixes.place(self._mix(number, found.mix), 0)
        return self._substitutes[key]

    def _mix(self, number: int, attended: Sequence[tuple[P, Fraction]]) -> RationalRow:
        weights: defaultdict[int, Fraction] = defaultdict(Fraction)
        for key, weight in attended:
            weights[self._input(number, key)] += weight
        return tuple(sorted(weights.items()))

    def _input(self, number: int, place: P) -> int:
        """Return the input of a stage whose outputs are made of several."""
        known = self._inputs[number]
        if (row := known.get(place)) is None:
            row = known[place] = self._sum(self.stages[number], place)
        return row

    def _sum(self, stage: Stage, place: P) -> int:
        terms = tuple([self._term(part, place) for part in stage.parts])
        return stage.inputs.place(terms, self._binding.mark(place))

    def _term(self, part: InputPart, place: P) -> int:
        match part:
            case StagePart() | PortPart():
                return self._known[part.stage][place]
            case TokenPart():
                return self.tokens.setdefault(self._binding.end(place)[0], len(self.tokens))
            case PositionPart():
                return self.positions.setdefault(self._binding.end(place)[1], len(self.positions))
            case BiasPart():
                return 0
            case _:
                assert_never(part)


def refuse_unreadable(prompts: Sequence[Prompt], vocabulary: int, context: int) -> None:
    """Refuse prompts that a model has no embedding for."""
    for index, prompt in enumerate(prompts):
        if len(prompt) > context:
            raise InputError(f"prompt {index} has {len(prompt)} tokens, the model's context is {context}")
        if max(prompt) >= vocabulary:
            raise InputError(
                f"prompt {index} has token {max(prompt)}, the model's vocabulary is {vocabulary}"
            )
