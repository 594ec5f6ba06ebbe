"""What each edge brings to a margin, exactly: a margin followed back through the branches that were taken.

With attention weights and branches as they were, every node is an affine map of what it reads. So a margin
splits into a term for each edge into `logits` and a constant; what such an edge brings splits into terms for
the edges into its source and a constant; and so on. What flows into a node and its constant sum to what flows
out. Queries and keys are not followed: where a head looks is taken as it is. What stands at a cut edge is a
constant of its reader.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

import numpy as np

from circuitproof.arithmetic.exact import SideBranch, Sides
from circuitproof.arithmetic.grid import Grid, add, grid_of_fractions, matmul, multiply, multiply_columns
from circuitproof.circuits.graph import (
    EMBED,
    LOGITS,
    Edge,
    Embed,
    Head,
    LogitsNode,
    Mlp,
    Node,
    Port,
    Target,
    reader,
)
from circuitproof.errors import DeclarationError
from circuitproof.forward.cells import (
    BiasPart,
    InputPart,
    PortPart,
    PositionPart,
    StagePart,
    StandIn,
    TokenPart,
)
from circuitproof.forward.frozen import Frozen
from circuitproof.models.operators import slope_of
from circuitproof.proof.known import exact_folds
from circuitproof.reports.trace import CircuitTrace, Traced


@dataclass(frozen=True, slots=True)
class Flow:
    """What each edge brings to the margin of a decision, and each node of its own."""

    edges: Mapping[Edge, Fraction]
    own: Mapping[Node, Fraction]
    """What a node adds that no edge brings: biases, and what its norm adds. That of `logits` has its shared
    biases too: with the edges into `logits` it sums to the margin."""


def flow_of(frozen: Frozen, trace: CircuitTrace, row: int, rivals: tuple[int, int]) -> Flow:
    """Return what each edge brings to the margin of one candidate over another, in a row of the logits."""
    leader, runner = frozen.unembedding([trace.candidates[place] for place in rivals]).fractions()
    gap = grid_of_fractions([[a - b for a, b in zip(leader, runner, strict=True)]], len(leader))
    (found,) = exact_folds([trace.logits[row]])
    first, second = (found.logits[place] for place in rivals)
    return _Backward(frozen, trace).run(row, gap, first - second)


class _Backward:
    """Follows a linear function of the logits' input back to everything that is read on the way."""

    def __init__(self, frozen: Frozen, trace: CircuitTrace) -> None:
        self._frozen, self._trace = frozen, trace
        self._edges: dict[Edge, Fraction] = defaultdict(Fraction)
        self._wanted: list[dict[int, Grid]] = [{} for _ in trace.stages]
        """For each stage and row, how the margin depends on it."""
        self._rows: dict[tuple[str, int], Grid] = {}

    def run(self, row: int, gap: Grid, margin: Fraction) -> Flow:
        last = len(self._trace.stages) - 1
        self._read(last, row, gap, LOGITS)
        for number in reversed(range(last)):
            for place, slope in self._wanted[number].items():
                self._through(number, place, slope)
        own: dict[Node, Fraction] = dict.fromkeys((edge.source for edge in self._edges), Fraction(0))
        own[LOGITS] = margin
        for edge, share in self._edges.items():
            own[edge.source] += share
            own[edge.reader] -= share
        return Flow(dict(self._edges), {node: share for node, share in own.items() if node != EMBED})

    def _through(self, number: int, row: int, slope: Grid) -> None:
        """Pass what the margin wants of an output on to what the node reads for it."""
        traced = self._trace.stages[number]
        match traced.stage.node:
            case Head(layer, index) as head:
                name = f"head.{layer}.{index}"
                mixed = matmul(slope, self._frozen.tensor(f"{name}.output.weight"))
                value = matmul(mixed, self._frozen.tensor(f"{name}.value.weight"))
                for source, weight in traced.mix(row):
                    if weight and traced.stage.ports:
                        self._want(traced.stage.ports[-1], source, multiply(mixed, weight))
                    elif weight:
                        self._read(number, source, multiply(value, weight), head)
            case Port(Head(layer, index)) as port:
                value = matmul(slope, self._frozen.tensor(f"head.{layer}.{index}.value.weight"))
                self._read(number, row, value, port)
            case Mlp(layer) as mlp:
                hidden = matmul(slope, self._frozen.tensor(f"mlp.{layer}.down.weight"))
                bent = multiply_columns(hidden, self._bends(traced, row))
                self._read(number, row, matmul(bent, self._frozen.tensor(f"mlp.{layer}.up.weight")), mlp)
            case Embed() | LogitsNode() | StandIn():
                raise DeclarationError(f"{traced.stage.node} is followed by no stage")
            case _:
                assert_never(traced.stage.node)

    def _bends(self, traced: Traced, row: int) -> Grid:
        """Return the slopes of the activation, 1 where its input is positive."""
        below, signs = slope_of(self._frozen.architecture.activation), traced.signs
        if signs is None:
            raise DeclarationError("an MLP was traced without its signs")
        slopes = [Fraction(1) if sign > 0 else below for sign in signs[row]]
        return grid_of_fractions([slopes], len(slopes))

    def _want(self, number: int, row: int, slope: Grid) -> None:
        wanted = self._wanted[number]
        wanted[row] = add(wanted[row], slope) if row in wanted else slope

    def _read(self, number: int, place: int, slope: Grid, node: Target) -> None:
        """Share what is wanted of an input among the parts that it adds up."""
        traced = self._trace.stages[number]
        if traced.sides:
            scaled = multiply_columns(slope, self._scale(reader(node)))
            slope = _before_norm(scaled, traced.sides[place])
        for part, row in zip(traced.stage.parts, traced.inputs[place], strict=True):
            source, value = self._part(part, row)
            if source is not None:
                self._edges[Edge(source, node)] += matmul(slope, value.transposed()).fractions()[0][0]
            if source is not None and isinstance(part, StagePart):
                self._want(part.stage, row, slope)

    def _scale(self, node: Node) -> Grid:
        match node:
            case Head(layer):
                return self._frozen.tensor(f"attention.{layer}.norm.scale")
            case Mlp(layer):
                return self._frozen.tensor(f"mlp.{layer}.norm.scale")
            case LogitsNode() | Embed():
                return self._frozen.tensor("logits.norm.scale")
            case _:
                assert_never(node)

    def _part(self, part: InputPart, row: int) -> tuple[Node | None, Grid]:
        """Return the node that a part comes from along a kept edge, if it does, and its value."""
        cells = self._trace.cells
        match part:
            case StagePart(number):
                source = self._trace.stages[number]
                node = source.stage.node
                if source.outputs is None:
                    raise DeclarationError("shares are those of exact numbers")
                return None if isinstance(node, StandIn | Port) else node, source.outputs.take([row])
            case PortPart():
                raise DeclarationError("a head whose ports are told apart adds nothing up")
            case TokenPart():
                return EMBED, self._embedded("embed.token", list(cells.tokens)[row])
            case PositionPart():
                return EMBED, self._embedded("embed.position", list(cells.positions)[row])
            case BiasPart(layer):
                return None, self._frozen.tensor(f"attention.{layer}.output.bias")
            case _:
                assert_never(part)

    def _embedded(self, name: str, row: int) -> Grid:
        if (name, row) not in self._rows:
            self._rows[name, row] = self._frozen.file.grid(name, [row])
        return self._rows[name, row]


def _before_norm(slope: Grid, sides: Sides) -> Grid:
    """Follow a linear function of a band-normed row back to the row, in the branches of its sides."""
    inner = _centred(slope)
    first, second = (_of_side(inner, side) for side in sides)
    return _centred(add(first, second))


def _centred(slope: Grid) -> Grid:
    """Return a single row without its mean."""
    numbers, width = slope.numbers.astype(object), slope.shape[1]
    return Grid(numbers * width - numbers.sum(), slope.exponent, (slope.denominators[0] * width,))


def _of_side(slope: Grid, side: SideBranch) -> Grid:
    """Keep the coordinates of a side; where all of them were moved by the same amount, centre them."""
    places = list(side.support)
    numbers = np.zeros(slope.shape, dtype=object)
    numbers[0, places] = slope.numbers.astype(object)[0, places]
    if side.position == 0 or not places:
        return Grid(numbers, slope.exponent, slope.denominators)
    numbers[0, places] = numbers[0, places] * len(places) - numbers.sum()
    return Grid(numbers, slope.exponent, (slope.denominators[0] * len(places),))
