"""Bisection: the longest beginning of an order that can go at once, for graphs too large to walk."""

from collections.abc import Sequence

from circuitproof.circuits.circuit import whole
from circuitproof.discover.objective import Meter, Tolerance
from circuitproof.discover.parts import Part
from circuitproof.discover.prune import Pruned


def prune_prefix(meter: Meter, order: Sequence[Part], tolerance: Tolerance) -> Pruned:
    """Return what is left without the longest beginning of `order` that is tolerated, in O(log parts) runs.

    The search takes it that what is tolerated once more parts are gone is tolerated before; where that is
    not so, a longer beginning may exist. The circuit returned was measured: it is tolerated, or it is the
    whole model.
    """
    everything = whole(meter.model.graph)
    (before,) = meter.measure([everything])
    circuit, measure = everything, before
    good, bad = 0, len(order) + 1
    while bad - good > 1:
        middle = (good + bad) // 2
        smaller = everything.without(*(edge for part in order[:middle] for edge in part))
        (found,) = meter.measure([smaller])
        if tolerance.allows(before, found):
            good, circuit, measure = middle, smaller, found
        else:
            bad = middle
    return Pruned(circuit.live(), measure, (True,) * good + (False,) * (len(order) - good))
