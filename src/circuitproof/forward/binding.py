"""What the rows of cells are computed for: prompts, or whatever else stands for many of them."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeAlias, TypeVar

from circuitproof.arithmetic.protocol import RationalRow
from circuitproof.circuits.ablation import Counterfactual, Mean, Pooling
from circuitproof.circuits.graph import Head
from circuitproof.errors import DeclarationError, InputError
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
        """Return the places that a neural head reads, its query last."""

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


PrefixWithPartner: TypeAlias = tuple[Prompt, Prompt | int | None]
"""A prefix of a prompt, with as long a prefix of its partner, or with the length of the whole prompt."""


class Substituted(Binding[PrefixWithPartner]):
    """A place is a prefix of a prompt and what decides which values stand at cut edges there."""

    def __init__(self, programs: Mapping[Head, Program], ablation: Mean | Counterfactual) -> None:
        self._plain = PrefixBinding(programs)
        self._ablation = ablation
        self._means: dict[tuple[int, int] | None, Substitute[PrefixWithPartner]] = {}

    def at(self, prompt: Prompt, length: int) -> PrefixWithPartner:
        """Return the place after so many tokens of a prompt."""
        ablation = self._ablation
        if isinstance(ablation, Mean):
            return prompt[:length], len(prompt) if ablation.over is Pooling.POSITION else None
        if prompt not in ablation.partners:
            raise InputError(f"prompt {list(prompt)} has no partner; counterfactual ablation wants one")
        return cut((prompt, ablation.partners[prompt]), length)

    def end(self, place: PrefixWithPartner) -> tuple[int, int]:
        return self._plain.end(place[0])

    def has_program(self, head: Head) -> bool:
        return self._plain.has_program(head)

    def attended(
        self, head: Head, place: PrefixWithPartner
    ) -> Sequence[tuple[PrefixWithPartner, Fraction]] | None:
        found = self._plain.attended(head, place[0])
        return None if found is None else [(cut(place, len(key)), weight) for key, weight in found]

    def keys(self, place: PrefixWithPartner) -> Sequence[PrefixWithPartner]:
        return [cut(place, length) for length in range(1, len(place[0]) + 1)]

    def substitute(self, place: PrefixWithPartner) -> Substitute[PrefixWithPartner]:
        """Return the partner's prefix, or those of the prompts that a mean is taken over."""
        prefix, other = place
        if isinstance(other, tuple):
            return Substitute(other, [((other, None), Fraction(1))])
        about = None if other is None else (other, len(prefix))
        if about not in self._means:
            self._means[about] = Substitute(about, self._mean(about))
        return self._means[about]

    def _mean(self, about: tuple[int, int] | None) -> Sequence[tuple[PrefixWithPartner, Fraction]]:
        """Return the places of one mean: all, or those at a position of prompts of a length."""
        assert isinstance(self._ablation, Mean)  # noqa: S101  # partners are tuples
        if about is None:
            ends = [(prompt, end) for prompt in self._ablation.prompts for end in range(1, len(prompt) + 1)]
        else:
            ends = [(prompt, about[1]) for prompt in self._ablation.prompts if len(prompt) == about[0]]
        if not ends:
            length = about and about[0]
            raise InputError(f"a prompt has {length} tokens, and no prompt that the mean is taken over has")
        return [((prompt[:end], None), Fraction(1, len(ends))) for prompt, end in ends]


def cut(place: PrefixWithPartner, length: int) -> PrefixWithPartner:
    """Return the place that ends after so many tokens."""
    prefix, other = place
    return prefix[:length], other[:length] if isinstance(other, tuple) else other


class PositionBinding(PrefixBinding):
    """The same for one prompt whose positions are kept apart, so that one can be disturbed and no other."""

    def mark(self, place: Prompt) -> int:
        return len(place) - 1


def prefixes(prompt: Prompt, row: RationalRow) -> Sequence[tuple[Prompt, Fraction]]:
    """Return the prefixes that end at the keys of a row, with their weights."""
    return [(prompt[: key + 1], weight) for key, weight in row]
