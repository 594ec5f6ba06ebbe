"""Folding: the candidate logits of circuits on every prompt, each distinct computation done once."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeAlias, TypeVar, overload

from circuitproof.arithmetic.exact import Exact
from circuitproof.arithmetic.grid import Row, row_of_fractions
from circuitproof.forward.cells import Variant
from circuitproof.forward.forward import Forward, Trace
from circuitproof.forward.frozen import Frozen
from circuitproof.forward.row_names import row_names
from circuitproof.proof.arithmetic import EXACT, ClaimArithmetic, EnclosedRow, ExactForward, ExactNumbers
from circuitproof.proof.blocks import PromptBlock, blocks
from circuitproof.proof.effort import UNHURRIED, Pace
from circuitproof.proof.enclosed import Enclosed, known_places
from circuitproof.tasks.domain import Prompt


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
Key = TypeVar("Key", Row, EnclosedRow)


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
) -> Folded[CandidateLogits]: ...


def fold(  # noqa: PLR0913  # a computation is all of this
    frozen: Frozen,
    candidates: tuple[int, ...],
    circuits: Sequence[Variant],
    prompts: Sequence[Prompt],
    pace: Pace = UNHURRIED,
    *,
    arithmetic: ClaimArithmetic = EXACT,
) -> Folded[CandidateLogits]:
    """Return the logits of every circuit on every prompt, circuit after circuit until time is over."""
    asked = blocks(frozen, tuple(dict.fromkeys(circuits)), prompts, pace)
    passes = ((block, Forward(frozen, block.cells, Exact(), candidates)) for block in asked)
    if isinstance(arithmetic, ExactNumbers):
        exact = ((block, _exact_rows(forward)) for block, forward in passes)
        return _FoldIndex[Row](circuits, len(prompts)).folded(exact, Fold, pace)
    enclosed = ((block, arithmetic.rows(forward)) for block, forward in passes)
    return _FoldIndex[EnclosedRow](circuits, len(prompts)).folded(enclosed, _enclosed, pace)


def _exact_rows(forward: ExactForward) -> Callable[[int], Sequence[Row]]:
    trace = Trace(forward)
    return lambda stage: [row.reduced() for row in trace.output(stage).rows()]


def _enclosed(row: EnclosedRow) -> Enclosed:
    return Enclosed(*row)


class _FoldIndex(Generic[Key]):
    """Which numbers decide each prompt, block by block; rows of equal numbers have one index."""

    def __init__(self, circuits: Iterable[Variant], prompts: int) -> None:
        self._known: dict[Key, int] = {}
        self._places = {circuit: [0] * prompts for circuit in circuits}
        self._cells = {circuit: set[bytes | int]() for circuit in circuits}

    def folded(
        self,
        passes: Iterable[tuple[PromptBlock, Callable[[int], Sequence[Key]]]],
        make: Callable[[Key], Values_co],
        pace: Pace,
    ) -> Folded[Values_co]:
        """Compute block after block; a circuit that some block has no time for is left out."""
        for block, logits_of in passes:
            self._add(block, logits_of, pace)
        used: dict[int, int] = {}
        places = {
            circuit: tuple([used.setdefault(one, len(used)) for one in found])
            for circuit, found in self._places.items()
        }
        keys = list(self._known)
        cells = {circuit: len(self._cells[circuit]) for circuit in places}
        return Folded(tuple(make(keys[one]) for one in used), places, cells)

    def _add(self, block: PromptBlock, logits_of: Callable[[int], Sequence[Key]], pace: Pace) -> None:
        names = row_names(block.cells) if block.is_part else None
        done = dict[Variant, list[int]]()
        for circuit, (stage, rows) in pace.steps("circuits computed", block.rows.items()):
            logits = logits_of(stage)
            indices = {row: self._known.setdefault(logits[row], len(self._known)) for row in set(rows)}
            done[circuit] = self._places[circuit]
            for prompt, row in zip(block.prompts, rows, strict=True):
                done[circuit][prompt] = indices[row]
            self._cells[circuit].update(indices if names is None else (names[stage][row] for row in indices))
        self._places = {circuit: done[circuit] for circuit in self._places if circuit in done}
