"""Circuits of a model on prompts: what cells are found for, whatever a cut edge carries."""

from collections.abc import Iterable, Sequence
from typing import Any

from circuitproof.circuits.ablation import ZERO, Ablation, Zero
from circuitproof.errors import DeclarationError
from circuitproof.forward.binding import Binding, PositionBinding, PrefixBinding
from circuitproof.forward.cells import BiasKept, Cells, Variant, embedding_of
from circuitproof.forward.frozen import Frozen
from circuitproof.forward.substitutes import SubstitutedBinding
from circuitproof.forward.unmasked import UnmaskedBinding
from circuitproof.tasks.domain import Prompt, decided_at


class PromptCells(Cells[Any]):
    """The cells of circuits of one ablation on prompts; `apart` keeps the positions of a prompt apart."""

    def __init__(self, frozen: Frozen, ablation: Ablation = ZERO, *, apart: bool = False) -> None:
        self._pairs: SubstitutedBinding | None = None
        sizes = frozen.architecture
        self._is_causal, self._position = sizes.is_causal, frozen.position
        binding: Binding[Any] = (PositionBinding if apart else PrefixBinding)(frozen.programs)
        if not self._is_causal:
            binding = UnmaskedBinding(ablation, apart=apart)
        elif not isinstance(ablation, Zero):
            binding = self._pairs = SubstitutedBinding(frozen.programs, ablation)
        super().__init__(binding, biases=sizes.biases, embedding=embedding_of(sizes))

    def place(self, prompt: Prompt, length: int | None = None) -> Any:  # noqa: ANN401  # a place of the binding
        """Return where a prompt is decided, or the end of so many tokens of it."""
        end = self.end(prompt) if length is None else length
        if not self._is_causal:
            return prompt, end - 1
        if self._pairs is None:
            return prompt[:end]
        return self._pairs.at(prompt, end)

    def end(self, prompt: Prompt) -> int:
        """Return after how many tokens a prompt is decided."""
        return 1 + decided_at(len(prompt), self._position)

    def cells(self, variant: Variant, places: Sequence[Prompt]) -> tuple[int, tuple[int, ...]]:
        """Return a circuit's logits stage and the row of it that decides each prompt."""
        return super().cells(variant, [self.place(prompt) for prompt in places])


def ablation_of(variants: Iterable[Variant]) -> Ablation:
    """Return what cut edges of some circuits carry: the same in all of them that cut any."""
    circuits = [one.circuit if isinstance(one, BiasKept) else one for one in variants]
    found = {one.ablation for one in circuits} - {ZERO}
    if len(found) > 1:
        raise DeclarationError("circuits of different ablations cannot be computed together")
    return found.pop() if found else ZERO
