"""What a decision depends on: every distinct computation of every node, found before any number is touched.

The output of a node at a position is determined by the node and by what it reads there. Following that
from the logits back gives each node a table of the distinct rows that some prompt needs. Prompts that share
tokens, positions or prefixes share rows; so do a circuit and its lesions, because a node that reads the
same nodes in both is one *stage*. A **cell** is a row of the logits: one computation decides its prompts.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias, assert_never

from circuitproof.declare.circuits.circuit import Circuit
from circuitproof.declare.circuits.graph import EMBED, LOGITS, Head, Node
from circuitproof.declare.programs.meaning import row as program_row
from circuitproof.declare.programs.syntax import Program
from circuitproof.declare.tasks.domain import Prompt
from circuitproof.errors import InputError
from circuitproof.exact.protocol import RationalRow

Terms: TypeAlias = tuple[int, ...]
"""One input of a stage: the row to take from each of its parts."""
Context: TypeAlias = tuple[int, tuple[int, ...]]


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


Part: TypeAlias = TokenPart | PositionPart | BiasPart | StagePart


@dataclass(frozen=True, slots=True)
class Stage:
    """One node reading certain parts, with the distinct inputs and outputs that are needed of it.

    An input is a sum, one row of each part. The outputs of a neural head are its `contexts`, a query's input
    with those of its keys; of a program head its `mixes`, weights on inputs; of other nodes one per input.
    """

    node: Node
    parts: tuple[Part, ...]
    inputs: "dict[Terms, int]" = field(default_factory=dict["Terms", int])
    contexts: "dict[Context, int]" = field(default_factory=dict["Context", int])
    mixes: dict[RationalRow, int] = field(default_factory=dict[RationalRow, int])


@dataclass(frozen=True, slots=True)
class BiasKept:
    """A circuit in which a node reads the bias that the heads of a layer share, though it keeps none of them.

    It tells what an edge from the only head is for: for what the head hands on, or for the bias alone.
    """

    circuit: Circuit
    node: Node
    layer: int


Variant: TypeAlias = Circuit | BiasKept
"""What logits are asked of."""


class Cells:
    """The stages of circuits of one model and the rows that prompts need of them."""

    def __init__(self, programs: Mapping[Head, Program], *, biases: bool) -> None:
        self.stages: list[Stage] = []
        self.tokens: dict[int, int] = {}
        self.positions: dict[int, int] = {}
        self._programs = programs
        self._biases = biases
        self._numbers: dict[tuple[Node, tuple[Part, ...]], int] = {}
        self._known: dict[tuple[int, Prompt], int] = {}
        self._rows: dict[tuple[Head, Prompt], RationalRow] = {}

    def logits_stage(self, variant: Variant) -> int:
        """Return the stage that computes a circuit's logits; equal parts of circuits share stages."""
        circuit, kept = (variant.circuit, variant) if isinstance(variant, BiasKept) else (variant, None)
        live = circuit.live()
        numbers: dict[Node, int] = {}
        for node in (*(node for node in live.nodes() if node not in (EMBED, LOGITS)), LOGITS):
            parts = self._parts(live.sources(node), numbers)
            if kept is not None and kept.node == node and self._biases:
                parts = (*parts, BiasPart(kept.layer))
            numbers[node] = self._stage(node, parts)
        return numbers[LOGITS]

    def cell(self, stage: int, prompt: Prompt) -> int:
        """Return the row of a stage that a prompt leads to at its last position."""
        key = (stage, prompt)
        if key not in self._known:
            self._known[key] = self._row(self.stages[stage], prompt)
        return self._known[key]

    def cells(self, variant: Variant, prompts: Sequence[Prompt]) -> tuple[int, tuple[int, ...]]:
        """Return a circuit's logits stage and the row of it that decides each prompt."""
        stage = self.logits_stage(variant)
        return stage, tuple(self.cell(stage, prompt) for prompt in prompts)

    def alone(self, stage: int, row: int) -> "Cells":
        """Return the stages before this one as they are, and of this one a single row."""
        whole = self.stages[stage]
        terms = next(terms for terms, place in whole.inputs.items() if place == row)
        part = copy(self)
        part.stages = [*self.stages[:stage], Stage(whole.node, whole.parts, {terms: 0})]
        return part

    def _stage(self, node: Node, parts: tuple[Part, ...]) -> int:
        key = (node, parts)
        if key not in self._numbers:
            self._numbers[key] = len(self.stages)
            self.stages.append(Stage(node, parts))
        return self._numbers[key]

    def _parts(self, sources: Sequence[Node], numbers: Mapping[Node, int]) -> tuple[Part, ...]:
        parts: list[Part] = []
        for source in sources:
            parts.extend((TokenPart(), PositionPart()) if source == EMBED else (StagePart(numbers[source]),))
        if self._biases:
            parts.extend(
                BiasPart(layer)
                for layer in sorted({source.layer for source in sources if isinstance(source, Head)})
            )
        return tuple(parts)

    def _row(self, stage: Stage, prompt: Prompt) -> int:
        if not isinstance(stage.node, Head):
            return self._input(stage, prompt)
        if stage.node in self._programs:
            return self._mix(stage, self._attended(stage.node, prompt), prompt)
        inputs = tuple(self._input(stage, prompt[: place + 1]) for place in range(len(prompt)))
        return stage.contexts.setdefault((inputs[-1], inputs), len(stage.contexts))

    def _attended(self, head: Head, prompt: Prompt) -> RationalRow:
        """Return where a program looks from the end of a prefix: the same in every circuit."""
        if (head, prompt) not in self._rows:
            self._rows[head, prompt] = program_row(self._programs[head], prompt, len(prompt) - 1)
        return self._rows[head, prompt]

    def _mix(self, stage: Stage, row: RationalRow, prompt: Prompt) -> int:
        weights: dict[int, Fraction] = {}
        for key, weight in row:
            source = self._input(stage, prompt[: key + 1])
            weights[source] = weights.get(source, Fraction(0)) + weight
        return stage.mixes.setdefault(tuple(sorted(weights.items())), len(stage.mixes))

    def _input(self, stage: Stage, prompt: Prompt) -> int:
        """Return the input of a stage at the last position of a prefix."""
        terms = tuple(self._term(part, prompt) for part in stage.parts)
        return stage.inputs.setdefault(terms, len(stage.inputs))

    def _term(self, part: Part, prompt: Prompt) -> int:
        match part:
            case TokenPart():
                return self.tokens.setdefault(prompt[-1], len(self.tokens))
            case PositionPart():
                return self.positions.setdefault(len(prompt) - 1, len(self.positions))
            case BiasPart():
                return 0
            case StagePart(stage):
                return self.cell(stage, prompt)
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
