"""Numbers of a bundle's circuit on its prompts, exact or midpoints, computed when they are looked at."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from circuitproof.bundle.opening import OpenedBundle
from circuitproof.circuits.graph import Edge
from circuitproof.forward.frozen import Frozen
from circuitproof.proof.enclosed import EnclosedNumber, Ternary
from circuitproof.proof.fold import CandidateLogits, Fold, fold
from circuitproof.proof.known import is_changed, is_clear
from circuitproof.reports.flow import Flow, flow_of
from circuitproof.reports.trace import CircuitTrace, trace
from circuitproof.tasks.domain import Prompt

_LESIONS = 2_000_000
"""The most cells, times edges squared, on which circuits without an edge are computed."""
_FLOWS = 30_000
"""The most pairs of edge and cell for which shares are computed, those of the least margins first."""


@dataclass(frozen=True, slots=True)
class Flip:
    """The least perturbation of the final residual that makes a competitor catch up.

    Along −sign(u_y − u_t) the margin falls by ‖u_y − u_t‖₁ for each unit, and nothing falls faster.
    """

    radius: Fraction
    """Where logits are enclosed, an upper bound that is as near as their radius allows."""
    competitor: int
    """The place of the candidate that catches up."""
    direction: tuple[int, ...]
    """-1, 0 or 1 per coordinate; the perturbation is the radius times this."""

    @property
    def support(self) -> tuple[int, ...]:
        return tuple(place for place, sign in enumerate(self.direction) if sign)


@dataclass(frozen=True, slots=True)
class ComputedCell:
    """One computation that decides some prompts."""

    fold: CandidateLogits
    flip: Flip | None
    """Nothing where no clear decision is known, a norm reads the final residual, or nothing can change it."""
    flow: Flow | None
    """Nothing where logits are enclosed, or cells of smaller margins have taken all the work allowed."""

    @property
    def logits(self) -> tuple[Fraction, ...]:
        """Return the logits, or the midpoints of enclosed ones."""
        return self.fold.logits if isinstance(self.fold, Fold) else self.fold.midpoints

    @property
    def leader(self) -> int:
        """Return the place of a maximal candidate, the first of several."""
        return self.fold.leader

    @property
    def runner(self) -> int:
        """Return the place of the best other candidate, the first of several."""
        logits = self.logits
        others = [place for place in range(len(logits)) if place != self.leader]
        return max(others, key=lambda place: logits[place])

    @property
    def is_clear(self) -> Ternary:
        """Say whether one candidate leads alone, where that is known."""
        return is_clear(self.fold.decision)

    @property
    def margin(self) -> Fraction:
        """Return by how much the decision leads; zero where it ties. Of enclosed logits it is a midpoint."""
        return lead(self.fold)

    @property
    def within(self) -> Fraction:
        """Return how far the margin is off at most: 0 where logits are exact."""
        return Fraction(0) if isinstance(self.fold, Fold) else 2 * self.fold.radius


def lead(found: CandidateLogits) -> Fraction:
    """Return by how much the best candidate leads over the next; zero where they tie."""
    margin = found.margin(found.leader)
    return margin.midpoint if isinstance(margin, EnclosedNumber) else margin


@dataclass(frozen=True, slots=True)
class Needs:
    """The prompts whose clear decision is known to be another one without an edge, and those that tie."""

    flips: tuple[int, ...]
    ties: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Numbers:
    """What the circuit computes on every prompt; `needs` is empty where there is too much to compute."""

    cells: tuple[ComputedCell, ...]
    cell_of: tuple[int, ...]
    """The cell of each prompt."""
    needs: Mapping[Edge, Needs]
    trace: CircuitTrace


def compute(bundle: OpenedBundle, prompts: Sequence[Prompt]) -> Numbers:
    """Return what the circuit computes on some prompts."""
    candidates = bundle.task.candidates
    traced = trace(bundle, prompts)
    rows = list(dict.fromkeys(traced.rows))
    cells = [ComputedCell(traced.logits[row], None, None) for row in rows]
    cells = [replace(cell, flip=_flip(bundle.frozen, candidates, cell)) for cell in cells]
    order = sorted(range(len(rows)), key=lambda place: cells[place].margin) if _has_flows(bundle) else []
    for place in order[: max(1, _FLOWS // max(1, len(bundle.circuit)))]:
        cell = cells[place]
        flow = flow_of(bundle.frozen, traced, rows[place], (cell.leader, cell.runner))
        cells[place] = replace(cell, flow=flow)
    places = {row: place for place, row in enumerate(rows)}
    cell_of = tuple(places[row] for row in traced.rows)
    return Numbers(tuple(cells), cell_of, dict(_needs(bundle, prompts, cell_of)), traced)


def _has_flows(bundle: OpenedBundle) -> bool:
    """Say whether margins are divided among edges: exactly or not at all."""
    return bundle.precision is None


def _flip(frozen: Frozen, candidates: tuple[int, ...], cell: ComputedCell) -> Flip | None:
    if frozen.architecture.has_norm or cell.is_clear is not True:
        return None
    rows, winner, logits = frozen.unembedding(candidates).fractions(), cell.leader, cell.logits
    flips: list[Flip] = []
    for place, row in enumerate(rows):
        gaps = [mine - other for mine, other in zip(rows[winner], row, strict=True)]
        if size := sum(map(abs, gaps)):
            margin = logits[winner] - logits[place] + cell.within
            flips.append(Flip(margin / size, place, tuple((gap < 0) - (gap > 0) for gap in gaps)))
    return min(flips, key=lambda flip: flip.radius, default=None)


def _needs(
    bundle: OpenedBundle, prompts: Sequence[Prompt], cell_of: Sequence[int]
) -> Iterator[tuple[Edge, Needs]]:
    """Return who needs each edge, computed once for each cell.

    Prompts of one cell lead to one computation from tokens and positions on. Without an edge that computation
    lacks a part, the same for all of them: they are still of one cell.
    """
    mates: dict[int, list[int]] = defaultdict(list)
    for place, cell in enumerate(cell_of):
        mates[cell].append(place)
    if len(bundle.circuit) ** 2 * len(mates) > _LESIONS:
        return
    lesions = bundle.circuit.lesions()
    some = [prompts[places[0]] for places in mates.values()]
    variants, numbers = (bundle.circuit, *lesions), bundle.arithmetic
    folded = fold(bundle.frozen, bundle.task.candidates, variants, some, arithmetic=numbers)
    before = folded.of(bundle.circuit)
    for edge, lesion in zip(bundle.circuit, lesions, strict=True):
        pairs = zip(mates.values(), before, folded.of(lesion), strict=True)
        changed = [(x, is_clear(one.decision)) for x, own, one in pairs if is_changed(own, one) is True]
        flips = sorted(place for places, is_flip in changed if is_flip is True for place in places)
        ties = sorted(place for places, is_flip in changed if is_flip is False for place in places)
        yield edge, Needs(tuple(flips), tuple(ties))
