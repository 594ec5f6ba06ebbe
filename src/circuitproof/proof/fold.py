"""Folding: the candidate logits of circuits on every prompt, each distinct computation done once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeAlias, TypeVar, overload

from circuitproof.arithmetic.grid import Row, row_of_fractions
from circuitproof.forward.cells import Variant
from circuitproof.forward.frozen import Frozen
from circuitproof.proof.arithmetic import EXACT, ClaimArithmetic, ExactNumbers
from circuitproof.proof.effort import UNHURRIED, Pace
from circuitproof.proof.enclosed import Enclosed, known_places
from circuitproof.proof.fold_parts import BlockLogits, FoldTask, LogitsRow
from circuitproof.tasks.domain import Prompt
from circuitproof.workers import SERIAL, Division


class Fold:
    """The exact logits of the candidates, in their order, and the decision that follows from them."""

    __slots__ = ("_hash", "_logits", "decision", "row")

    def __init__(self, logits: Sequence[Fraction | int] | Row) -> None:
        row = logits if isinstance(logits, Row) else row_of_fractions(logits)
        self.row = row.reduced()
        """The logits in lowest terms: of many folds they take less room than fractions."""
        self._hash = hash(self.row)
        self._logits: tuple[Fraction, ...] | None = None
        best = max(self.row.numbers)
        self.decision = known_places(
            tuple(place for place, number in enumerate(self.row.numbers) if number == best)
        )
        """The places of the maximal candidates."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fold) and self._hash == other._hash and self.row == other.row

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Fold({self.logits})"

    @property
    def logits(self) -> tuple[Fraction, ...]:
        if self._logits is None:
            self._logits = self.row.fractions()
        return self._logits

    @property
    def is_clear(self) -> bool:
        """Say whether one candidate leads alone."""
        return len(self.decision) == 1

    @property
    def winner(self) -> int:
        """Return the place of the only maximal candidate of a clear decision."""
        (place,) = self.decision
        return place

    @property
    def leader(self) -> int:
        """Return the place of the first maximal candidate."""
        return min(self.decision)

    def margin(self, place: int) -> Fraction:
        """Return by how much a candidate leads over the best other; negative where that one leads."""
        numbers = self.row.numbers
        lead = numbers[place] - max(numbers[:place] + numbers[place + 1 :])
        return Fraction(lead, self.row.denominator)


CandidateLogits: TypeAlias = Fold | Enclosed
Values_co = TypeVar("Values_co", bound=CandidateLogits, covariant=True)


@dataclass(frozen=True, slots=True)
class Folded(Generic[Values_co]):
    """Circuits on prompts: which fold decides each prompt. Those of equal numbers have one index."""

    folds: tuple[Values_co, ...]
    places: Mapping[Variant, tuple[int, ...]]
    """For each circuit that there was time for, the index of the fold of each prompt."""
    cells: Mapping[Variant, int]
    """For each of them, how many distinct computations decide all prompts."""

    def of(self, variant: Variant) -> tuple[Values_co, ...]:
        return tuple(self.folds[place] for place in self.places[variant])

    def has(self, variants: Iterable[Variant]) -> bool:
        """Say whether there was time for all of some circuits."""
        return all(variant in self.places for variant in variants)


@overload
def fold(
    frozen: Frozen,
    candidates: tuple[int, ...],
    circuits: Sequence[Variant],
    prompts: Sequence[Prompt],
    pace: Pace = UNHURRIED,
    *,
    arithmetic: ExactNumbers = EXACT,
    workers: Division = SERIAL,
) -> Folded[Fold]: ...


@overload
def fold(
    frozen: Frozen,
    candidates: tuple[int, ...],
    circuits: Sequence[Variant],
    prompts: Sequence[Prompt],
    pace: Pace = UNHURRIED,
    *,
    arithmetic: ClaimArithmetic,
    workers: Division = SERIAL,
) -> Folded[CandidateLogits]: ...


def fold(  # noqa: PLR0913  # a computation is all of this
    frozen: Frozen,
    candidates: tuple[int, ...],
    circuits: Sequence[Variant],
    prompts: Sequence[Prompt],
    pace: Pace = UNHURRIED,
    *,
    arithmetic: ClaimArithmetic = EXACT,
    workers: Division = SERIAL,
) -> Folded[CandidateLogits]:
    """Return the logits of every circuit on every prompt, circuit after circuit until time is over.

    Workers have a part each, of the prompts or of the circuits: whichever are more.
    """
    task = FoldTask(frozen, candidates, tuple(dict.fromkeys(circuits)), tuple(prompts), arithmetic)
    index = _FoldIndex(task.circuits, len(prompts))
    for block in task.divided(pace, workers):
        index.add(block)
    return index.folded()


class _FoldIndex:
    """Which numbers decide each prompt, block by block; rows of equal numbers have one index."""

    def __init__(self, circuits: Sequence[Variant], prompts: int) -> None:
        self._circuits = circuits
        self._known: dict[LogitsRow, int] = {}
        self._places = {place: [0] * prompts for place in range(len(circuits))}
        self._cells = {place: set[bytes | int]() for place in range(len(circuits))}

    def add(self, block: BlockLogits) -> None:
        """Take in a block; a circuit that it had no time for is left out."""
        for circuit in block.asked:
            if (found := block.found.get(circuit)) is None:
                self._places.pop(circuit, None)
            elif (places := self._places.get(circuit)) is not None:
                indices = [self._known.setdefault(row, len(self._known)) for row in found.rows]
                for prompt, row in zip(block.prompts, found.of_prompts, strict=True):
                    places[prompt] = indices[row]
                self._cells[circuit].update(found.cells)

    def folded(self) -> Folded[CandidateLogits]:
        used: dict[int, int] = {}
        places = {
            self._circuits[circuit]: tuple([used.setdefault(one, len(used)) for one in found])
            for circuit, found in self._places.items()
        }
        keys = list(self._known)
        cells = {self._circuits[circuit]: len(self._cells[circuit]) for circuit in self._places}
        return Folded(tuple(_logits(keys[one]) for one in used), places, cells)


def _logits(row: LogitsRow) -> CandidateLogits:
    return Fold(row) if isinstance(row, Row) else Enclosed(*row)
