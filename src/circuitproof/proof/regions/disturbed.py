"""A circuit on a prompt as a function of a perturbation: exactly at one, or in forms on a region of them."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

import numpy as np

from circuitproof.arithmetic.affine import Affine, BendError, Forms, ScoreForms, Unbent
from circuitproof.arithmetic.exact import Exact
from circuitproof.arithmetic.form_matrix import SignCondition
from circuitproof.arithmetic.forms import Form, Region, make_form
from circuitproof.arithmetic.grid import Grid, grid_of_fractions, zeros
from circuitproof.arithmetic.protocol import Arithmetic, V, W
from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import EMBED
from circuitproof.errors import NotExactError
from circuitproof.forward.cells import Cells, TokenPart
from circuitproof.forward.forward import Disturbance, Forward, Trace
from circuitproof.forward.frozen import Frozen
from circuitproof.forward.interface import Interface, Side
from circuitproof.forward.prompts import PromptCells
from circuitproof.proof.arithmetic import ClaimArithmetic, ExactForward, ExactNumbers
from circuitproof.proof.enclosed import Enclosed
from circuitproof.proof.fold import CandidateLogits, Fold
from circuitproof.tasks.domain import Prompt

T = TypeVar("T")
Point = tuple[Fraction, ...]


@dataclass(frozen=True)
class Disturbed:
    """One prompt's logits as a function of η: a number per coordinate of each position that matters."""

    frozen: Frozen
    candidates: tuple[int, ...]
    cells: Cells[Prompt]
    row: int
    """The row of the last stage that decides."""
    entries: Mapping[tuple[int, Side], tuple[int, ...]]
    """For each stage and side that is disturbed, which position's part of η each row takes; one beyond
    the last position takes none."""
    positions: tuple[int, ...]
    """The perturbed positions that anything reads; the others change nothing."""
    outputs: Mapping[int, Grid] = field(default_factory=dict[int, Grid])
    """What stages hand on, where that is known and no perturbation reaches it."""

    @property
    def variables(self) -> int:
        return len(self.positions) * self.frozen.architecture.width

    def split(self, eta: Sequence[T], zero: T) -> list[tuple[T, ...]]:
        """Return the part of η for each position, and one that is zero if some row takes none."""
        width, count = self.frozen.architecture.width, len(self.positions)
        parts = [tuple(eta[k : k + width]) for k in range(0, len(eta), width)]
        is_partial = any(count in places for places in self.entries.values())
        return [*parts, (zero,) * width] if is_partial else parts

    def forward(self, arithmetic: Arithmetic[V, W], added: V | None = None) -> Forward[V, W]:
        """Return the forward pass, with what is added for each position and lastly for none."""
        disturbance = None if added is None else Disturbance(added, self.entries)
        return Forward(self.frozen, self.cells, arithmetic, self.candidates, disturbance)

    def fold(self, eta: Sequence[Fraction]) -> Fold:
        trace = Trace(self._added(eta), self.still)
        return Fold(trace.output(self.last).take([self.row]).fractions()[0])

    def evaluated(self, eta: Sequence[Fraction], arithmetic: ClaimArithmetic) -> CandidateLogits:
        """Return the logits under a perturbation in the arithmetic of a claim."""
        if isinstance(arithmetic, ExactNumbers):
            return self.fold(eta)
        return Enclosed(*arithmetic.rows(self._added(eta))(self.last)[self.row])

    def _added(self, eta: Sequence[Fraction]) -> ExactForward:
        added = grid_of_fractions(self.split(eta, Fraction(0)), self.frozen.architecture.width)
        return self.forward(Exact(), added)

    def zero(self) -> Point:
        return (Fraction(0),) * self.variables

    def scale(self) -> Fraction:
        """Return the largest absolute value of what the perturbation is added to, before it is added."""
        trace = Trace(self.forward(Exact()), self.still)
        numbers = (
            abs(number)
            for (stage, side), places in self.entries.items()
            for row, place in zip(trace.at(stage, side).fractions(), places, strict=True)
            if place < len(self.positions)
            for number in row
        )
        return max(numbers, default=Fraction(0))

    @property
    def last(self) -> int:
        return len(self.cells.stages) - 1

    @property
    def still(self) -> dict[int, Grid]:
        """Return what stages hand on that no perturbation reaches."""
        return {number: found.constant for number, found in self._free.outputs.items() if found.is_constant}

    def logits(self, arithmetic: Affine) -> Forms:
        """Return the logits as forms, by an arithmetic that knows the branches or stands in for them."""
        free = self._free
        trace = Trace(self.forward(arithmetic, self._eta), free.outputs, free.reads)
        return arithmetic.take(trace.output(self.last), [self.row])

    @cached_property
    def _free(self) -> Trace[Forms, ScoreForms]:
        """Return what is the same in every region: all that nothing bends, or nothing that is perturbed."""
        known = {number: Forms(grid, {}) for number, grid in self.outputs.items()}
        trace = Trace(self.forward(Unbent(), self._eta), known)
        for number in [n for n in range(len(self.cells.stages)) if n not in known]:
            with suppress(BendError, NotExactError):
                trace.read(number)
                trace.output(number)
        return trace

    @cached_property
    def _eta(self) -> Forms:
        count, width = len(self.positions), self.frozen.architecture.width
        return Forms(zeros(count + 1, width), {k: selector(k, count, width) for k in range(count)})


@dataclass(frozen=True, slots=True)
class Question:
    """Does every perturbation keep the candidate that leads without one?"""

    disturbed: Disturbed
    winner: int

    def margins(
        self, region: Region, point: Point, traced: list[SignCondition] | None = None
    ) -> tuple[Form, ...]:
        """Return the winner's lead over each competitor on a region where branches are known."""
        logits, winner = self.disturbed.logits(Affine(region, point, traced)), self.winner
        others = [place for place in range(len(self.disturbed.candidates)) if place != winner]
        if logits.is_constant:
            (row,) = logits.constant.rows()
            nothing = (0,) * self.disturbed.variables
            return tuple(make_form((row.numbers[winner] - row.numbers[place], *nothing)) for place in others)
        numbers = logits.matrix(0).numbers
        return tuple(make_form((numbers[:, winner] - numbers[:, place]).tolist()) for place in others)

    def is_kept(self, eta: Point) -> bool:
        """Say whether the winner still leads alone under one perturbation."""
        return self.disturbed.fold(eta).decision == frozenset({self.winner})

    def zero(self) -> Point:
        return self.disturbed.zero()


def selector(place: int, count: int, width: int) -> Grid:
    """Return the slopes of a row to which one block of the variables is added."""
    numbers = np.zeros((count * width, width), dtype=object)
    numbers[place * width : (place + 1) * width] = np.eye(width, dtype=int)
    return Grid(numbers, 0, (1,) * (count * width))


def disturbed_prompts(
    frozen: Frozen, candidates: tuple[int, ...], circuit: Circuit, prompts: Sequence[Prompt], at: Interface
) -> tuple[Disturbed, ...]:
    """Return each prompt's logits as a function of the perturbation; prompts may share one."""
    if at.is_final_residual:
        return disturb_residual(frozen, candidates, circuit, prompts)
    return tuple(disturb(frozen, candidates, circuit, prompt, at) for prompt in prompts)


def disturb_residual(
    frozen: Frozen, candidates: tuple[int, ...], circuit: Circuit, prompts: Sequence[Prompt]
) -> tuple[Disturbed, ...]:
    """Return each prompt's logits under a perturbed final residual; equal residuals are one object."""
    cells = PromptCells(frozen, circuit.ablation)
    stage, rows = cells.cells(circuit, prompts)
    trace = Trace(Forward(frozen, cells, Exact(), candidates))
    residuals = trace.at(stage, Side.INPUT).fractions()
    made: dict[tuple[Fraction, ...], Disturbed] = {}
    for row in dict.fromkeys(rows):
        if residuals[row] not in made:
            alone, entries = cells.alone(stage, row), {(stage, Side.INPUT): (0,)}
            made[residuals[row]] = Disturbed(frozen, candidates, alone, 0, entries, (0,), trace.outputs)
    return tuple(made[residuals[row]] for row in rows)


def disturb(
    frozen: Frozen, candidates: tuple[int, ...], circuit: Circuit, prompt: Prompt, interface: Interface
) -> Disturbed:
    """Return a prompt's logits under a perturbation anywhere in a circuit."""
    cells = PromptCells(frozen, circuit.ablation, apart=True)
    _, (row,) = cells.cells(circuit, [prompt])
    reached = {place: _positions(cells, *place) for place in _stages(cells, interface)}
    used = {position for found in reached.values() for position in found}
    positions = tuple(place for place in interface.places(frozen.span(len(prompt))) if place in used)
    numbers = {position: number for number, position in enumerate(positions)}
    entries = {
        place: tuple(numbers.get(position, len(positions)) for position in found)
        for place, found in reached.items()
    }
    return Disturbed(frozen, candidates, cells, row, entries, positions)


def _stages(cells: Cells[Prompt], interface: Interface) -> list[tuple[int, Side]]:
    """Return the stages and sides to disturb; what `embed` outputs is a part of the inputs of its readers."""
    if interface.node == EMBED:
        readers = [n for n, stage in enumerate(cells.stages) if TokenPart() in stage.parts]
        return [(number, Side.INPUT) for number in readers]
    return [(n, interface.side) for n, stage in enumerate(cells.stages) if stage.node == interface.node]


def _positions(cells: Cells[Prompt], number: int, side: Side) -> list[int]:
    stage = cells.stages[number]
    return (stage.inputs if side is Side.INPUT else stage.outputs).marks()
