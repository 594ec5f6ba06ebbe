"""What cut edges carry under a mean or a partner: which places of the whole model are read for them."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from circuitproof.circuits.ablation import Counterfactual, Mean, Pooling
from circuitproof.circuits.graph import Head
from circuitproof.errors import InputError
from circuitproof.forward.binding import Binding, PrefixBinding, Substitute
from circuitproof.programs.syntax import Program
from circuitproof.tasks.domain import Prompt

PrefixWithPartner: TypeAlias = tuple[Prompt, Prompt | int | None]
"""A prefix of a prompt, with as long a prefix of its partner, or with the length of the whole prompt."""


class SubstitutedBinding(Binding[PrefixWithPartner]):
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
        return cut((prompt, ablation.partner_of(prompt)), length)

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
