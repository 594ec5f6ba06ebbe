"""What a solver may answer. Running out of time and going wrong are answers of their own kind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeAlias


@dataclass(frozen=True, slots=True)
class Satisfiable:
    """There is a solution; these are the values asked for. A value that is no rational is left out."""

    values: Mapping[str, Fraction | bool]


@dataclass(frozen=True, slots=True)
class Unsatisfiable:
    """There is no solution."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """The solver gave up or ran out of time; `reason` is its own word for it."""

    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The solver could not work on the text at all."""

    reason: str


Result: TypeAlias = Satisfiable | Unsatisfiable | Unknown | Failed


class Solver(Protocol):
    """Something that reads SMT-LIB text."""

    @property
    def name(self) -> str: ...

    def solve(self, text: str, wanted: Sequence[str], seconds: float) -> Result:
        """Answer the only `check-sat` of a text, with values for the wanted symbols, in so many seconds."""
        ...
