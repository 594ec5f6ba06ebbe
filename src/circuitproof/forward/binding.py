"""What the rows of cells are computed for: prompts, or whatever else stands for many of them."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from circuitproof.arithmetic.protocol import RationalRow
from circuitproof.circuits.graph import Head
from circuitproof.errors import DeclarationError
from circuitproof.programs.meaning import row as program_row
from circuitproof.programs.syntax import Program
from circuitproof.tasks.domain import Prompt

P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class Substitute(Generic[P]):
    """Places of the whole model whose outputs are averaged, with their weights; equal names mean the same."""

    name: Hashable
    mix: Sequence[tuple[P, Fraction]]


class Binding(ABC, Generic[P]):
    """What stands at a place `P`, and which places heads read from there."""

    @abstractmethod
    def end(self, place: P) -> tuple[int, int]:
        """Return the token and the position at a place."""

    @abstractmethod
    def has_program(self, head: Head) -> bool:
        """Say whether a program says where a head looks."""

    @abstractmethod
    def attended(self, head: Head, place: P) -> Sequence[tuple[P, Fraction]] | None:
        """Return where a program head looks; nothing if a head is neural."""

    @abstractmethod
    def keys(self, place: P) -> Sequence[P]:
        """Return the places that a neural head reads, by position."""

    def substitute(self, place: P) -> "Substitute[P]":
        """Return where the whole model is read for what a cut edge carries; here it carries nothing."""
        raise DeclarationError(f"{place} has no substitute: a cut edge carries nothing")

    def mark(self, place: P) -> int:  # noqa: ARG002  # others tell places apart
        """Return a number that tells rows apart which compute the same: here they are one."""
        return 0


class PrefixBinding(Binding[Prompt]):
    """A place is a prefix of a prompt."""

    def __init__(self, programs: Mapping[Head, Program]) -> None:
        self._programs = programs
        self._attended: dict[tuple[Head, Prompt], Sequence[tuple[Prompt, Fraction]]] = {}

    def end(self, place: Prompt) -> tuple[int, int]:
        return place[-1], len(place) - 1

    def has_program(self, head: Head) -> bool:
        return head in self._programs

    def attended(self, head: Head, place: Prompt) -> Sequence[tuple[Prompt, Fraction]] | None:
        """Return where a program looks from the end of a prefix: the same in every circuit."""
        if head not in self._programs:
            return None
        if (head, place) not in self._attended:
            row = program_row(self._programs[head], place, len(place) - 1)
            self._attended[head, place] = prefixes(place, row)
        return self._attended[head, place]

    def keys(self, place: Prompt) -> Sequence[Prompt]:
        return [place[:end] for end in range(1, len(place) + 1)]


class PositionBinding(PrefixBinding):
    """The same for one prompt whose positions are kept apart, so that one can be disturbed and no other."""

    def mark(self, place: Prompt) -> int:
        return len(place) - 1


def prefixes(prompt: Prompt, row: RationalRow) -> Sequence[tuple[Prompt, Fraction]]:
    """Return the prefixes that end at the keys of a row, with their weights."""
    return [(prompt[: key + 1], weight) for key, weight in row]
