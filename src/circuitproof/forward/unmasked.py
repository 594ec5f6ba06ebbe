"""Places of prompts in models without a mask: what stands at a position depends on the whole prompt."""

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from circuitproof.circuits.ablation import ZERO, Ablation, Counterfactual, Mean, Pooling
from circuitproof.circuits.graph import Head
from circuitproof.forward.binding import Binding, Substitute
from circuitproof.tasks.domain import Prompt

PromptPosition: TypeAlias = tuple[Prompt, int]
"""A prompt and a position of it."""


class UnmaskedBinding(Binding[PromptPosition]):
    """A place is a position of a prompt, and heads read all of them; `apart` keeps equal rows apart."""

    def __init__(self, ablation: Ablation = ZERO, *, apart: bool = False) -> None:
        self._ablation, self._apart = ablation, apart

    def end(self, place: PromptPosition) -> tuple[int, int]:
        prompt, position = place
        return prompt[position], position

    def has_program(self, head: Head) -> bool:  # noqa: ARG002  # none has
        return False

    def attended(self, head: Head, place: PromptPosition) -> None:  # none has a program
        """Return nothing: without a mask every head is neural."""

    def keys(self, place: PromptPosition) -> Sequence[PromptPosition]:
        prompt, _ = place
        return [(prompt, position) for position in range(len(prompt))]

    def mark(self, place: PromptPosition) -> int:
        return place[1] if self._apart else 0

    def substitute(self, place: PromptPosition) -> Substitute[PromptPosition]:
        """Return the partner's position, or those of the prompts that a mean is taken over."""
        (prompt, position), ablation = place, self._ablation
        if isinstance(ablation, Counterfactual):
            partner = (ablation.partners[prompt], position)
            return Substitute(partner, [(partner, Fraction(1))])
        if not isinstance(ablation, Mean):
            return super().substitute(place)
        if ablation.over is Pooling.ALL:
            mean = [(one, i) for one in ablation.prompts for i in range(len(one))]
            return Substitute(None, _mixed(mean))
        alike = [(one, position) for one in ablation.prompts if len(one) == len(prompt)]
        return Substitute((len(prompt), position), _mixed(alike))


def _mixed(places: Sequence[PromptPosition]) -> Sequence[tuple[PromptPosition, Fraction]]:
    return [(place, Fraction(1, len(places))) for place in places]
