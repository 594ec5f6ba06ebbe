"""Folding: the candidate logits of circuits on every prompt, each distinct computation done once."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Generic, TypeAlias, TypeVar, overload

from circuitproof.arithmetic.exact import Exact
from circuitproof.forward.cells import Variant
from circuitproof.forward.forward import Forward, Trace
from circuitproof.forward.frozen import Frozen
from circuitproof.forward.prompts import PromptCells, ablation_of
from circuitproof.proof.arithmetic import EXACT, ClaimArithmetic, EnclosedRow, ExactForward, ExactNumbers
from circuitproof.proof.effort import UNHURRIED, Pace
from circuitproof.proof.enclosed import Enclosed
from circuitproof.tasks.domain import Prompt


@dataclass(frozen=True, slots=True)
class Fold:
    """The exact logits of the candidates, in their order, and the decision that follows from them."""

    logits: tuple[Fraction, ...]
    decision: frozenset[int] = field(init=False, compare=False)
    """The places of the maximal candidates."""
    _hash: int | None = field(default=None, init=False, compare=False, repr=False)

    def __hash__(self) -> int:
        """Return the hash of the logits, computed once: that of a rational with long numbers is slow."""
        if self._hash is None:
            object.__setattr__(self, "_hash", hash(self.logits))
        return hash(self._hash)

    def __post_init__(self) -> None:
        best = max(self.logits)
        maximal = frozenset(place for place, logit in enumerate(self.logits) if logit == best)
        object.__setattr__(self, "decision", maximal)

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
        return self.logits[place] - max(self.logits[:place] + self.logits[place + 1 :])


CandidateLogits: TypeAlias = Fold | Enclosed
Values_co = TypeVar("Values_co", bound=CandidateLogits, covariant=True)
Key = TypeVar("Key", tuple[Fraction, ...], EnclosedRow)


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
    cells = PromptCells(frozen, ablation_of(circuits))
    rows = {circuit: cells.cells(circuit, prompts) for circuit in pace.steps("circuits laid out", circuits)}
    forward = Forward(frozen, cells, Exact(), candidates)
    if isinstance(arithmetic, ExactNumbers):
        return _numbered(_exact_rows(forward), Fold, rows, pace)
    return _numbered(arithmetic.rows(forward), _enclosed, rows, pace)


def _exact_rows(forward: ExactForward) -> Callable[[int], Sequence[tuple[Fraction, ...]]]:
    trace = Trace(forward)
    return lambda stage: trace.output(stage).fractions()


def _enclosed(row: EnclosedRow) -> Enclosed:
    return Enclosed(*row)


def _numbered(
    logits_of: Callable[[int], Sequence[Key]],
    make: Callable[[Key], Values_co],
    rows: Mapping[Variant, tuple[int, Sequence[int]]],
    pace: Pace,
) -> Folded[Values_co]:
    """Compute the stages of logits one after the other, and give rows of equal numbers one index."""
    known: dict[Key, int] = {}
    places: dict[Variant, tuple[int, ...]] = {}
    for circuit, (stage, found) in pace.steps("circuits computed", rows.items()):
        logits = logits_of(stage)
        places[circuit] = tuple(known.setdefault(logits[row], len(known)) for row in found)
    sizes = {circuit: len(set(rows[circuit][1])) for circuit in places}
    return Folded(tuple(map(make, known)), places, sizes)
