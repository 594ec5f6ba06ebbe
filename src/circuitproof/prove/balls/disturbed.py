"""A circuit on a prompt as a function of a perturbation: exactly at one, or in forms on a region of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from circuitproof.declare.circuits.circuit import Circuit
from circuitproof.declare.circuits.graph import EMBED, Head
from circuitproof.declare.tasks.domain import Prompt
from circuitproof.errors import NotExactError
from circuitproof.exact.affine import Affine, Forms
from circuitproof.exact.exact import Exact
from circuitproof.exact.forms import Form, Region, make_form
from circuitproof.exact.grid import Grid, grid_of_fractions, zeros
from circuitproof.exact.sheets import Condition
from circuitproof.forward.cells import Cells, TokenPart
from circuitproof.forward.forward import Forward, Side
from circuitproof.forward.frozen import Frozen
from circuitproof.forward.interface import Interface
from circuitproof.forward.positions import PositionCells
from circuitproof.prove.fold import Fold

Point = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """Rows of a stage that are disturbed, each with the place of its position among the perturbed ones."""

    stage: int
    side: Side
    rows: dict[int, int]
    count: int
    """How many rows the stage has."""


@dataclass(frozen=True, slots=True)
class Disturbed:
    """One prompt's logits as a function of η: a number per coordinate of each position that matters."""

    frozen: Frozen
    candidates: tuple[int, ...]
    cells: Cells
    row: int
    """The row of the last stage that decides."""
    entries: tuple[Entry, ...]
    positions: tuple[int, ...]
    """The perturbed positions that anything reads; the others change nothing."""
    outputs: tuple[Grid, ...] = ()
    """What the first stages compute, where that is known."""
    known: dict[int, object] = field(default_factory=dict[int, object])
    """What runs on forms may share."""

    @property
    def variables(self) -> int:
        """Return how many numbers η has."""
        return len(self.positions) * self.frozen.architecture.width

    def fold(self, eta: Sequence[Fraction]) -> Fold:
        """Return the exact logits under a perturbation."""
        width = self.frozen.architecture.width
        blocks = [tuple(eta[k : k + width]) for k in range(0, len(eta), width)]
        zero = (Fraction(0),) * width
        added = {
            (entry.stage, entry.side): grid_of_fractions(
                [blocks[entry.rows[row]] if row in entry.rows else zero for row in range(entry.count)], width
            )
            for entry in self.entries
        }
        forward = Forward(self.frozen, self.cells, Exact(), self.candidates, added)
        return Fold(forward.run(self.outputs)[-1].take([self.row]).fractions()[0])

    def scale(self) -> Fraction:
        """Return the largest absolute value of what the perturbation is added to, before it is added."""
        width = self.frozen.architecture.width
        marks = {(entry.stage, entry.side): zeros(entry.count, width) for entry in self.entries}
        watch = _Watch(tuple(marks.values()))
        Forward(self.frozen, self.cells, watch, self.candidates, marks).run(self.outputs)
        seen = (grid.take(list(entry.rows)) for entry, grid in zip(self.entries, watch.seen, strict=True))
        entries = (abs(number) for grid in seen for row in grid.fractions() for number in row)
        return max(entries, default=Fraction(0))

    def margins(
        self, region: Region, point: Point, winner: int, traced: list[Condition] | None = None
    ) -> tuple[Form, ...]:
        """Return the winner's logit less each other candidate's, on a region where every branch is known."""
        return self._differences(self.logits(Affine(region, point, self.known, traced)), winner)

    def logits(self, arithmetic: Affine) -> Forms:
        """Return the logits as forms, by an arithmetic that knows the branches or stands in for them."""
        forward = Forward(self.frozen, self.cells, arithmetic, self.candidates, self._forms())
        known = [Forms(grid, {}) for grid in self.outputs]
        try:
            return arithmetic.take(forward.run(known)[-1], [self.row])
        except NotExactError as error:
            raise NotExactError(f"{self._head(arithmetic.attentions)}: {error}") from error

    def _head(self, number: int) -> str:
        """Return the head that computed the scores of that number: a run stops in no other stage."""
        stages = self.cells.stages[len(self.outputs) :]
        neural = [s.node for s in stages if isinstance(s.node, Head) and s.node not in self.frozen.programs]
        return str(neural[number - 1])

    def _forms(self) -> dict[tuple[int, Side], Forms]:
        width = self.frozen.architecture.width
        return {
            (entry.stage, entry.side): Forms(
                zeros(entry.count, width),
                {row: selector(place, len(self.positions), width) for row, place in entry.rows.items()},
            )
            for entry in self.entries
        }

    def _differences(self, logits: Forms, winner: int) -> tuple[Form, ...]:
        others = [place for place in range(len(self.candidates)) if place != winner]
        if logits.is_constant:
            (row,) = logits.constant.rows()
            return tuple(
                make_form((row.numbers[winner] - row.numbers[place], *(0,) * self.variables))
                for place in others
            )
        numbers = logits.sheet(0).numbers
        return tuple(make_form((numbers[:, winner] - numbers[:, place]).tolist()) for place in others)


@dataclass(frozen=True, slots=True)
class Question:
    """Does every perturbation keep the candidate that leads without one?"""

    disturbed: Disturbed
    winner: int

    def margins(
        self, region: Region, point: Point, traced: list[Condition] | None = None
    ) -> tuple[Form, ...]:
        """Return the winner's lead over each competitor on a region where branches are known."""
        return self.disturbed.margins(region, point, self.winner, traced)

    def is_kept(self, eta: Point) -> bool:
        """Say whether the winner still leads alone under one perturbation."""
        return self.disturbed.fold(eta).decision == frozenset({self.winner})

    def zero(self) -> Point:
        """Return the perturbation that changes nothing."""
        return (Fraction(0),) * self.disturbed.variables


class _Watch(Exact):
    """Exact numbers, and what those were to which given grids were added, in the order of computation."""

    def __init__(self, marks: tuple[Grid, ...]) -> None:
        super().__init__()
        self.marks = marks
        self.seen: list[Grid] = []

    def add(self, left: Grid, right: Grid) -> Grid:
        """Return the sum, row by row."""
        if any(right is mark for mark in self.marks):
            self.seen.append(left)
        return super().add(left, right)


def selector(place: int, count: int, width: int) -> Grid:
    """Return the slopes of a row to which one block of the variables is added."""
    numbers = np.zeros((count * width, width), dtype=object)
    numbers[place * width : (place + 1) * width] = np.eye(width, dtype=int)
    return Grid(numbers, 0, (1,) * (count * width))


def disturb_residual(
    frozen: Frozen, candidates: tuple[int, ...], circuit: Circuit, prompts: Sequence[Prompt]
) -> tuple[Disturbed, ...]:
    """Return each prompt's logits under a perturbed final residual; equal residuals are one object."""
    cells = Cells(frozen.programs, biases=frozen.architecture.biases)
    stage, rows = cells.cells(circuit, prompts)
    mark = zeros(len(cells.stages[stage].inputs), frozen.architecture.width)
    watch = _Watch((mark,))
    outputs = Forward(frozen, cells, watch, candidates, {(stage, Side.INPUT): mark}).run()[:stage]
    residuals = watch.seen[0].fractions()
    made: dict[tuple[Fraction, ...], Disturbed] = {}
    for row in dict.fromkeys(rows):
        if residuals[row] not in made:
            entry = Entry(stage, Side.INPUT, {0: 0}, 1)
            alone = cells.alone(stage, row)
            made[residuals[row]] = Disturbed(
                frozen, candidates, alone, 0, (entry,), (0,), outputs=tuple(outputs)
            )
    return tuple(made[residuals[row]] for row in rows)


def disturb(
    frozen: Frozen, candidates: tuple[int, ...], circuit: Circuit, prompt: Prompt, interface: Interface
) -> Disturbed:
    """Return a prompt's logits under a perturbation anywhere in a circuit."""
    cells = PositionCells(frozen.programs, biases=frozen.architecture.biases)
    stage = cells.logits_stage(circuit)
    row = cells.cell(stage, prompt)
    reached = [_rows(cells, number, side) for number, side in _stages(cells, interface)]
    used = {position for _, _, rows in reached for position in rows}
    positions = tuple(place for place in interface.places(len(prompt)) if place in used)
    entries = tuple(
        Entry(number, side, {rows[p]: k for k, p in enumerate(positions) if p in rows}, len(rows))
        for number, side, rows in reached
    )
    return Disturbed(frozen, candidates, cells, row, entries, positions)


def _stages(cells: PositionCells, interface: Interface) -> list[tuple[int, Side]]:
    """Return the stages and sides to disturb; what `embed` outputs is a part of the inputs of its readers."""
    if interface.node == EMBED:
        readers = [n for n, stage in enumerate(cells.stages) if TokenPart() in stage.parts]
        return [(number, Side.INPUT) for number in readers]
    return [(n, interface.side) for n, stage in enumerate(cells.stages) if stage.node == interface.node]


def _rows(cells: PositionCells, stage: int, side: Side) -> tuple[int, Side, dict[int, int]]:
    rows = cells.inputs_at(stage) if side is Side.INPUT else cells.outputs_at(stage)
    return stage, side, dict(rows)
