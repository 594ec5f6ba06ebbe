"""Candidate logits that are known up to a radius, and what is then not known: it equals nothing."""

from dataclasses import dataclass, field
from fractions import Fraction
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

    Two of them may have the same numbers and mean other logits, so there is no equality.
    """

    midpoints: tuple[Fraction, ...]
    radius: Fraction
    decision: Decision = field(init=False)
    """The one candidate that leads whatever the logits are. A tie cannot be known."""

    def __post_init__(self) -> None:
        if self.radius < 0:
            raise NumericError(f"logits are enclosed with a radius of {self.radius}; want 0 or more")
        margin = self.margin(self.leader)
        is_known = margin.midpoint > margin.radius
        object.__setattr__(self, "decision", frozenset({self.leader}) if is_known else NOT_KNOWN)

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError("enclosed logits are not equal and not different; ask proof.known")

    def __hash__(self) -> NoReturn:
        raise TypeError("enclosed logits cannot be looked up")

    @property
    def leader(self) -> int:
        """Return the place of the first candidate whose midpoint is largest."""
        return self.midpoints.index(max(self.midpoints))

    def margin(self, place: int) -> EnclosedNumber:
        """Return by how much a candidate leads over the best other; negative where that one leads."""
        others = self.midpoints[:place] + self.midpoints[place + 1 :]
        return EnclosedNumber(self.midpoints[place] - max(others), 2 * self.radius)
