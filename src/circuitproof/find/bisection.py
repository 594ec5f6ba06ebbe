"""Bisection: long runs of an order go at once, for graphs too large to try every part.

A search takes it that what is tolerated once more parts are gone is tolerated before; where that is not so,
it may keep more than it must. Every circuit returned was measured: it is tolerated, or the whole model.
"""

from collections.abc import Sequence

from circuitproof.circuits.circuit import Circuit
from circuitproof.find.objective import Meter, Tolerance
from circuitproof.find.parts import EdgeGroup
from circuitproof.find.prune import Pruned


def prune_prefix(meter: Meter, order: Sequence[EdgeGroup], tolerance: Tolerance) -> Pruned:
    """Return what is left without the longest tolerated beginning of `order`, in O(log parts) forwards."""
    count, kept = _longest_run(meter, meter.every, order, tolerance)
    return _pruned(meter, kept, [True] * count + [False] * (len(order) - count))


def prune_runs(meter: Meter, order: Sequence[EdgeGroup], tolerance: Tolerance) -> Pruned:
    """Return what is left when the search begins again behind each part that must stay.

    This takes O(parts that stay · log parts) forwards.
    """
    kept, removed = meter.every, list[bool]()
    while len(removed) < len(order):
        count, kept = _longest_run(meter, kept, order[len(removed) :], tolerance)
        removed += [True] * count
        removed += [False] * (len(removed) < len(order))
    return _pruned(meter, kept, removed)


def _longest_run(
    meter: Meter, kept: Circuit, parts: Sequence[EdgeGroup], tolerance: Tolerance
) -> tuple[int, Circuit]:
    """Return how many of the next parts can go and what they leave; strides double until one fails."""
    (before,) = meter.measure([meter.every])
    left, good, bad, stride = kept, 0, len(parts) + 1, 1
    while bad - good > 1:
        middle = min(good + stride, (good + bad) // 2)
        smaller = kept.without(*(edge for part in parts[:middle] for edge in part))
        (found,) = meter.measure([smaller])
        if tolerance.allows(before, found):
            left, good, stride = smaller, middle, stride * 2
        else:
            bad = middle
    return good, left


def _pruned(meter: Meter, kept: Circuit, removed: Sequence[bool]) -> Pruned:
    (measure,) = meter.measure([kept])
    return Pruned(kept.live(), measure, tuple(removed))
