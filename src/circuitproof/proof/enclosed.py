"""Candidate logits that are known up to a radius, and what is then not known: it equals nothing."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Final, NoReturn, TypeAlias

from circuitproof.errors import NumericError


@dataclass(frozen=True, slots=True, eq=False)
class NotKnown:
    """Nobody knows: neither equal to anything nor different, neither true nor false. Ask `isinstance`."""

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError(f"what is not known cannot be compared with {other!r}; ask proof.known")

    def __ne__(self, other: object) -> NoReturn:
        raise TypeError(f"what is not known cannot be compared with {other!r}; ask proof.known")

    def __bool__(self) -> NoReturn:
        raise TypeError("what is not known is neither true nor false; ask `is True` or `is False`")

    def __hash__(self) -> NoReturn:
        raise TypeError("what is not known cannot be looked up")


NOT_KNOWN: Final = NotKnown()
PERHAPS: Final = "perhaps "
"""What stands before a remark of which it is not known whether it applies."""
Decision: TypeAlias = frozenset[int] | NotKnown
"""The places of the maximal candidates, where they are known."""
Ternary: TypeAlias = bool | NotKnown
"""Yes, no, or that nobody knows."""


@cache
def known_places(places: tuple[int, ...]) -> frozenset[int]:
    """Return a set of candidates' places: one object for all prompts that are decided so."""
    return frozenset(places)


@dataclass(frozen=True, slots=True)
class EnclosedNumber:
    """A number that is no further than a radius from a midpoint."""

    midpoint: Fraction
    radius: Fraction

    @property
    def least(self) -> Fraction:
        return self.midpoint - self.radius


@dataclass(frozen=True, slots=True, eq=False)
class Enclosed:
    """The logits of the candidates, in their order, each no further than a radius from its midpoint.

    All are multiples of a unit. Two of them may have the same numbers and mean other logits, so there is no
    equality.
    """

    numbers: tuple[Fraction | int, ...]
    """The midpoints, in units."""
    reach: Fraction | int
    """The radius, in units."""
    unit: Fraction = Fraction(1)
    decision: Decision = field(init=False)
    """The one candidate that leads whatever the logits are. A tie cannot be known."""

    def __post_init__(self) -> None:
        if self.reach < 0:
            raise NumericError(f"logits are enclosed with a radius of {self.radius}; want 0 or more")
        is_known = self.lead(self.leader) > 2 * self.reach
        object.__setattr__(self, "decision", known_places((self.leader,)) if is_known else NOT_KNOWN)

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError("enclosed logits are not equal and not different; ask proof.known")

    def __hash__(self) -> NoReturn:
        raise TypeError("enclosed logits cannot be looked up")

    @property
    def midpoints(self) -> tuple[Fraction, ...]:
        return tuple(number * self.unit for number in self.numbers)

    @property
    def radius(self) -> Fraction:
        return self.reach * self.unit

    @property
    def leader(self) -> int:
        """Return the place of the first candidate whose midpoint is largest."""
        return self.numbers.index(max(self.numbers))

    def margin(self, place: int) -> EnclosedNumber:
        """Return by how much a candidate leads over the best other; negative where that one leads."""
        return EnclosedNumber(self.lead(place) * self.unit, 2 * self.radius)

    def lead(self, place: int) -> Fraction | int:
        """Return by how much a candidate's midpoint leads over the best other, in units."""
        return self.numbers[place] - max(self.numbers[:place] + self.numbers[place + 1 :])
