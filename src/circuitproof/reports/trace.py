"""What one forward pass of a circuit computed, stage by stage, and the branches that it took."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

from circuitproof.arithmetic.balls import Enclose, ScoreBall, ScoreBalls
from circuitproof.arithmetic.exact import BandBranches, Exact, Sides, Signs
from circuitproof.arithmetic.grid import Grid, Integers, Row
from circuitproof.arithmetic.protocol import RationalRow
from circuitproof.bundle.opening import OpenedBundle
from circuitproof.circuits.graph import Head, Mlp
from circuitproof.forward.cells import Stage, StagePart, StandIn
from circuitproof.forward.forward import Forward, Trace
from circuitproof.forward.frozen import Frozen
from circuitproof.forward.prompts import PromptCells
from circuitproof.models.declaration import ProgramHeads
from circuitproof.models.operators import Attention
from circuitproof.programs.meaning import row as program_row
from circuitproof.proof.arithmetic import EnclosedNumbers, enclosed_rows
from circuitproof.proof.enclosed import Enclosed
from circuitproof.proof.fold import CandidateLogits, Fold
from circuitproof.tasks.domain import Prompt


@dataclass(slots=True)
class _Recorded(Exact):
    """Exact numbers that remember the weights of attention too, in order of computation."""

    weights: list[tuple[Row, ...]] = field(default_factory=list[tuple[Row, ...]])

    def attention(self, scores: tuple[Row, ...], attention: Attention) -> tuple[Row, ...]:
        self.weights.append(Exact.attention(self, scores, attention))
        return self.weights[-1]


@dataclass(frozen=True, slots=True)
class _RecordedBalls(Enclose):
    """Balls that remember the weights of attention, in order of computation."""

    weights: list[ScoreBalls] = field(default_factory=list[ScoreBalls])

    def attention(self, scores: ScoreBalls, attention: Attention) -> ScoreBalls:
        self.weights.append(Enclose.attention(self, scores, attention))
        return self.weights[-1]


@dataclass(frozen=True, slots=True)
class Traced:
    """A stage with its outputs, and by row what its operators did."""

    stage: Stage
    inputs: tuple[tuple[int, ...], ...]
    """The rows of its parts that each input adds up."""
    outputs: Grid | None
    """Exactly; nothing where they are enclosed."""
    weights: tuple[tuple[Fraction, ...], ...]
    """Of a neural head, the weights of all positions in each output; midpoints where they are enclosed."""
    signs: Integers | None
    """Of an MLP, the signs of what is activated, a row for each input."""
    sides: tuple[Sides, ...]
    """Of each input, the branches of the norm, if there is one."""

    def mix(self, row: int) -> RationalRow:
        """Return the inputs or values that an output of a head mixes, with their weights."""
        if not self.weights:
            return list(self.stage.mixes)[row]
        values = list(self.stage.contexts)[row].values
        return tuple(zip(values, self.weights[row], strict=True))


@dataclass(frozen=True, slots=True)
class AttentionReading:
    """Where a head looks from a position: the weights that are not 0, by position."""

    head: Head
    query: int
    weights: RationalRow


@dataclass(frozen=True, slots=True)
class CircuitTrace:
    """A circuit on prompts: its stages, the last of which computes the logits, and the row of each prompt."""

    programs: ProgramHeads
    cells: PromptCells
    stages: tuple[Traced, ...]
    rows: tuple[int, ...]
    logits: tuple[CandidateLogits, ...]
    candidates: tuple[int, ...]

    def readings(self, prompt: Prompt) -> list[AttentionReading]:
        """Return where heads look, at each position from which that is read on the way to the logits."""
        found: list[AttentionReading] = []
        waiting, seen = [(len(self.stages) - 1, self.cells.end(prompt))], set[tuple[int, int]]()
        while waiting:
            number, length = waiting.pop()
            stage, lengths = self.stages[number].stage, [length]
            if isinstance(stage.node, Head):
                weights = self._looks(number, stage.node, prompt, length)
                found.append(AttentionReading(stage.node, length - 1, weights))
                lengths = [place + 1 for place, _ in weights]
            sources = [part.stage for part in stage.parts if isinstance(part, StagePart)]
            sources = [one for one in sources if not isinstance(self.stages[one].stage.node, StandIn)]
            further = {*product(sources, lengths)}
            if stage.ports:
                query, *others = stage.ports
                further = {(query, length), *product(others, lengths)}
            further -= seen
            seen |= further
            waiting += further
        return sorted(found, key=lambda one: (one.head.place, one.query))

    def matrices(self, prompt: Prompt) -> Mapping[Head, tuple[RationalRow, ...]]:
        """Return where each head looks from every position of a prompt of a whole trace."""
        lengths = range(1, len(prompt) + 1)
        return {
            traced.stage.node: tuple(self._looks(number, traced.stage.node, prompt, one) for one in lengths)
            for number, traced in enumerate(self.stages)
            if isinstance(traced.stage.node, Head)
        }

    def _looks(self, number: int, head: Head, prompt: Prompt, length: int) -> RationalRow:
        if head in self.programs:
            return program_row(self.programs[head], prompt[:length], length - 1)
        weights = self.stages[number].weights[self.cells.cell(number, self.cells.place(prompt, length))]
        return tuple((place, weight) for place, weight in enumerate(weights) if weight)


def trace(bundle: OpenedBundle, prompts: Sequence[Prompt], *, is_whole: bool = False) -> CircuitTrace:
    """Run a bundle's circuit on prompts and keep what it computed; if `is_whole`, heads at every position."""
    frozen, circuit, candidates = bundle.frozen, bundle.circuit, bundle.task.candidates
    cells = PromptCells(frozen, circuit.ablation)
    number, rows = cells.cells(circuit, prompts)
    if is_whole:
        heads = [place for place, stage in enumerate(cells.stages) if isinstance(stage.node, Head)]
        for place, prompt in product(reversed(heads), prompts):
            for length in range(1, len(prompt) + 1):
                cells.cell(place, cells.place(prompt, length))
    if bundle.precision is None:
        stages, logits = _exact_stages(frozen, cells, candidates, number)
    else:
        stages, logits = _enclosed_stages(frozen, cells, candidates, (number, bundle.precision))
    return CircuitTrace(frozen.programs, cells, stages, rows, logits, candidates)


def _exact_stages(
    frozen: Frozen, cells: PromptCells, candidates: tuple[int, ...], last: int
) -> tuple[tuple[Traced, ...], tuple[Fold, ...]]:
    """Return what stages computed exactly, and the logits of one."""
    arithmetic = _Recorded()
    passed = Trace(Forward(frozen, cells, arithmetic, candidates))
    outputs = [passed.output(stage) for stage in range(len(cells.stages))]  # the order of what is recorded
    weights = iter(arithmetic.weights)
    signs = (one.signs for one in arithmetic.witnesses if isinstance(one, Signs))
    sides = (one.sides for one in arithmetic.witnesses if isinstance(one, BandBranches))
    stages = tuple(
        Traced(
            stage,
            tuple(stage.inputs),
            values,
            tuple(row.fractions() for row in next(weights)) if stage.contexts else (),
            next(signs) if isinstance(stage.node, Mlp) else None,
            next(sides) if frozen.architecture.has_norm and stage.is_normed else (),
        )
        for stage, values in zip(cells.stages, outputs, strict=True)
    )
    return stages, tuple(map(Fold, outputs[last].fractions()))


def _enclosed_stages(
    frozen: Frozen, cells: PromptCells, candidates: tuple[int, ...], asked: tuple[int, int]
) -> tuple[tuple[Traced, ...], tuple[Enclosed, ...]]:
    """Return where heads look at a precision, and the logits of a stage."""
    last, bits = asked
    arithmetic = _RecordedBalls(bits)
    passed = Trace(Forward(frozen, cells, arithmetic, candidates, may_split=False))
    outputs = [passed.output(stage) for stage in range(len(cells.stages))]  # the order of what is recorded
    weights = iter(arithmetic.weights)
    stages = tuple(
        Traced(
            stage,
            tuple(stage.inputs),
            None,
            tuple(_in_units(row, bits) for row in next(weights)) if stage.contexts else (),
            None,
            (),
        )
        for stage in cells.stages
    )
    rows = enclosed_rows(outputs[last], EnclosedNumbers(bits, most=bits))
    return stages, tuple(Enclosed(*row) for row in rows)


def _in_units(row: ScoreBall, bits: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(number, 1 << bits) for number in row.midpoints)
