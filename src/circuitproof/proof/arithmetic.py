"""The arithmetic that a claim names: exact numbers, or numbers that are known up to a radius."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, TypeAlias

from circuitproof.arithmetic.grid import Grid, Row
from circuitproof.forward.forward import Forward

ExactForward: TypeAlias = Forward[Grid, tuple[Row, ...]]
EnclosedRow: TypeAlias = tuple[tuple[Fraction, ...], Fraction]
"""The midpoints of a row of logits, and their radius."""


@dataclass(frozen=True, slots=True)
class ExactNumbers:
    """Rational numbers: every logit has one value, and ties are seen."""

    kind: ClassVar = "exact"


class Enclosing(ABC):
    """Numbers that are known up to a radius: what is nearer than that is not decided, and no tie ever is.

    A claim names the kind alone. How precisely one computes is no part of what is claimed, so a finer one of
    the same kind may take the place of another in a claim.
    """

    kind: ClassVar[str]

    @abstractmethod
    def rows(self, forward: ExactForward) -> Callable[[int], Sequence[EnclosedRow]]:
        """Return what gives the rows of a stage of logits; of the pass all but the arithmetic is followed."""
        ...


EXACT: Final = ExactNumbers()
ClaimArithmetic: TypeAlias = ExactNumbers | Enclosing
