"""The simplex projection in integers: what sparsemax and BandNorm share."""

from collections.abc import Sequence
from dataclasses import dataclass

from circuitproof.errors import DeclarationError


@dataclass(frozen=True, slots=True)
class Projection:
    """Non-negative weights, as integers over `divisor`; given the support they are affine in the values."""

    weights: tuple[int, ...]
    divisor: int
    support: tuple[int, ...]


def project(values: Sequence[int], mass: int) -> Projection:
    """Return the non-negative numbers of sum `mass` nearest to `values`.

    >>> project((4, 1, -5), 2)
    Projection(weights=(2, 0, 0), divisor=1, support=(0,))
    >>> project((1, 1, 0), 1)
    Projection(weights=(1, 1, 0), divisor=2, support=(0, 1))
    """
    if not values or mass <= 0:
        raise DeclarationError(
            f"cannot project {len(values)} values onto mass {mass}; want some, and positive"
        )
    total = size = 0
    for value in sorted(values, reverse=True):
        if mass + size * value <= total:
            break
        total += value
        size += 1
    weights = tuple(max(size * value - total + mass, 0) for value in values)
    return Projection(weights, size, tuple(place for place, weight in enumerate(weights) if weight))
