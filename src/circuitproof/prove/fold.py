"""Folding: the exact candidate logits of circuits on every prompt, each distinct computation done once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from circuitproof.declare.tasks.domain import Prompt
from circuitproof.exact.exact import Exact
from circuitproof.forward.cells import Variant
from circuitproof.forward.forward import Forward, Trace
from circuitproof.forward.frozen import Frozen
from circuitproof.forward.prompts import PromptCells, ablation_of
from circuitproof.prove.effort import UNHURRIED, Pace


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

    def margin(self, place: int) -> Fraction:
        """Return by how much a candidate leads over the best other; negative where that one leads."""
        return self.logits[place] - max(self.logits[:place] + self.logits[place + 1 :])


def changes_nothing(before: Sequence[Fold], after: Sequence[Fold]) -> bool:
    """Say whether every clear decision is still the same."""
    pairs = zip(before, after, strict=True)
    return all(one.decision == other.decision for one, other in pairs if one.is_clear)


@dataclass(frozen=True, slots=True)
class Folded:
    """Circuits on prompts: which fold decides each prompt. Equal folds have one index."""

    folds: tuple[Fold, ...]
    places: Mapping[Variant, tuple[int, ...]]
    """For each circuit that there was time for, the index of the fold of each prompt."""
    cells: Mapping[Variant, int]
    """For each of them, how many distinct computations decide all prompts."""

    def of(self, variant: Variant) -> tuple[Fold, ...]:
        return tuple(self.folds[place] for place in self.places[variant])

    def has(self, variants: Iterable[Variant]) -> bool:
        """Say whether there was time for all of some circuits."""
        return all(variant in self.places for variant in variants)


def fold(
    frozen: Frozen,
    candidates: tuple[int, ...],
    circuits: Sequence[Variant],
    prompts: Sequence[Prompt],
    pace: Pace = UNHURRIED,
) -> Folded:
    """Return the exact logits of every circuit on every prompt, circuit after circuit until time is over."""
    cells = PromptCells(frozen, ablation_of(circuits))
    rows = {circuit: cells.cells(circuit, prompts) for circuit in pace.steps("circuits laid out", circuits)}
    trace = Trace(Forward(frozen, cells, Exact(), candidates))
    known: dict[tuple[Fraction, ...], int] = {}
    places: dict[Variant, tuple[int, ...]] = {}
    for circuit, (stage, found) in pace.steps("circuits computed", rows.items()):
        logits = trace.output(stage).fractions()
        places[circuit] = tuple(known.setdefault(logits[row], len(known)) for row in found)
    sizes = {circuit: len(set(rows[circuit][1])) for circuit in places}
    return Folded(tuple(map(Fold, known)), places, sizes)
