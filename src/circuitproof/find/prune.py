"""Greedy removal: try each part in turn and delete it if that costs no more than is tolerated."""

from collections.abc import Sequence
from dataclasses import dataclass

from circuitproof.circuits.circuit import Circuit
from circuitproof.find.measure import Measure
from circuitproof.find.objective import Meter, Tolerance
from circuitproof.find.parts import EdgeGroup

_FIRST_WINDOW = 4


@dataclass(frozen=True, slots=True)
class Pruned:
    """What is left of a model, dead parts trimmed, and what became of each part along the order."""

    circuit: Circuit
    measure: Measure
    removed: tuple[bool, ...]


def prune(
    meter: Meter,
    order: Sequence[EdgeGroup],
    tolerance: Tolerance,
    guess: Sequence[bool] | None = None,
    start: Circuit | None = None,
) -> Pruned:
    """Return what greedy removal leaves of the model, or of a circuit that it starts from.

    It is the same as trying one part after the other.

    Which circuit is tried next depends on what became of the parts before, so a run of parts is tried at
    once under a guess of which of them go (without one: the next ones fare as the last did), up to the
    first part that the guess has wrong. A guess changes nothing but how many batches it takes: one for each
    wrong guess, and a few for the windows, which double as long as the guess is right.
    """
    kept = start or meter.every
    (measure,) = meter.measure([kept])
    removed: list[bool] = []
    window = min(_FIRST_WINDOW, meter.at_once)
    while len(removed) < len(order):
        parts = order[len(removed) : len(removed) + window]
        expected = _expected(guess, removed, len(parts))
        tried = _foresee(kept, parts, expected)
        window = min(2 * window, meter.at_once)
        for circuit, found, goes in zip(tried, meter.measure(tried), expected, strict=True):
            removed.append(tolerance.allows(measure, found))
            if removed[-1]:
                kept, measure = circuit, found
            if removed[-1] != goes:
                window = min(_FIRST_WINDOW, meter.at_once)
                break
    return Pruned(kept.live(), measure, tuple(removed))


def _expected(guess: Sequence[bool] | None, removed: Sequence[bool], count: int) -> Sequence[bool]:
    """Return which of the next parts are expected to go."""
    if guess is not None:
        return guess[len(removed) : len(removed) + count]
    return [removed[-1] if removed else True] * count


def _foresee(kept: Circuit, parts: Sequence[EdgeGroup], expected: Sequence[bool]) -> list[Circuit]:
    """Return the circuits that are tried one after the other if what is expected happens."""
    tried: list[Circuit] = []
    for part, goes in zip(parts, expected, strict=True):
        tried.append(kept.without(*part))
        kept = tried[-1] if goes else kept
    return tried
