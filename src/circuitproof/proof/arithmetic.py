"""The arithmetic that a claim names: exact numbers, or numbers that are known up to a radius."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Final, NamedTuple, Self, TypeAlias

from circuitproof.arithmetic.balls import Balls, Enclose, ScoreBalls
from circuitproof.arithmetic.grid import Grid, Row
from circuitproof.errors import DeclarationError
from circuitproof.files.canonical import Json
from circuitproof.forward.forward import Disturbance, Forward, Trace
from circuitproof.models.architecture import Architecture
from circuitproof.models.operators import BandNorm
from circuitproof.proof.effort import LEAST_BITS, MOST_BITS

ExactForward: TypeAlias = Forward[Grid, tuple[Row, ...]]
_FIRST_BITS = 64


class EnclosedRow(NamedTuple):
    """The midpoints of a row of logits, and their radius, in units."""

    numbers: tuple[Fraction | int, ...]
    reach: Fraction | int
    unit: Fraction = Fraction(1)


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

    def lacking(self, _architecture: Architecture, /) -> str | None:
        """Return the operator of a model that has no value in this arithmetic, if there is one."""
        return None

    def finer(self) -> "Enclosing | None":
        """Return a finer arithmetic of the kind, to be tried where this one leaves something open."""
        return None


@dataclass(frozen=True, slots=True)
class EnclosedNumbers(Enclosing):
    """Real numbers within balls, at a precision that doubles up to a bound where decisions are unknown."""

    kind: ClassVar[str] = "enclosed"
    precision: int = _FIRST_BITS
    most: int = 512
    """The most bits that are tried."""

    def __post_init__(self) -> None:
        for bits in (self.precision, self.most):
            if not LEAST_BITS <= bits <= MOST_BITS:
                raise DeclarationError(f"the precision is {bits} bits, want {LEAST_BITS} to {MOST_BITS}")

    @classmethod
    def up_to(cls, most: int) -> Self:
        """Return the first precision that is tried where so many bits are allowed."""
        return cls(min(_FIRST_BITS, most), most)

    def rows(self, forward: ExactForward) -> Callable[[int], Sequence[EnclosedRow]]:
        trace = self.trace(forward)
        return lambda stage: enclosed_rows(trace.output(stage), self)

    def trace(self, forward: ExactForward) -> Trace[Balls, ScoreBalls]:
        """Compute in balls; maps are never applied to the parts of sums, since each product is rounded."""
        arithmetic = Enclose(self.precision)
        added = forward.disturbance
        balls = Forward(
            forward.frozen,
            forward.cells,
            arithmetic,
            forward.candidates,
            None if added is None else Disturbance(arithmetic.constant(added.added), added.rows),
            may_split=False,
        )
        return Trace(balls)

    def lacking(self, architecture: Architecture) -> str | None:
        return "BandNorm" if isinstance(architecture.norm, BandNorm) else None

    def finer(self) -> "EnclosedNumbers | None":
        bits = min(2 * self.precision, self.most)
        return replace(self, precision=bits) if bits > self.precision else None


def enclosed_rows(balls: Balls, numbers: EnclosedNumbers) -> Sequence[EnclosedRow]:
    """Return rows of numbers that are known at a precision."""
    unit = Fraction(1, 1 << numbers.precision)
    pairs = zip(balls.numbers.integers().tolist(), balls.radii, strict=True)
    return [EnclosedRow(tuple(numbers), radius, unit) for numbers, radius in pairs]


EXACT: Final = ExactNumbers()
ClaimArithmetic: TypeAlias = ExactNumbers | Enclosing


def bits_of(arithmetic: ClaimArithmetic) -> int | None:
    """Return with how many bits numbers are enclosed; nothing where they are exact."""
    return arithmetic.precision if isinstance(arithmetic, EnclosedNumbers) else None


def precision_to_json(arithmetic: ClaimArithmetic) -> dict[str, Json]:
    """Return how precisely something was computed: nothing where it is exact."""
    return {} if (bits := bits_of(arithmetic)) is None else {"precision": bits}
