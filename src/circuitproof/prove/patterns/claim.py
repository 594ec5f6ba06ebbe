"""A claim about every prompt of a pattern. Holding one is proof that its parts fit together."""

from dataclasses import dataclass
from typing import TypeAlias

from circuitproof.declare.circuits.circuit import Circuit
from circuitproof.declare.circuits.graph import LOGITS
from circuitproof.declare.tasks.patterned import SymbolicTask
from circuitproof.errors import InputError
from circuitproof.forward.frozen import Frozen
from circuitproof.forward.interface import Interface, refuse_misplaced
from circuitproof.forward.reach import refuse_unreached_prompts
from circuitproof.prove.balls.robustness import Directions, directions
from circuitproof.prove.claim import refuse_misfit
from circuitproof.prove.properties import Equivalence, Invariance, Necessity, Robustness

SymbolicProperty: TypeAlias = Equivalence | Invariance | Necessity | Robustness


@dataclass(frozen=True, slots=True)
class SymbolicClaim:
    """What is to be proved of a frozen model's circuit on all prompts of a task's pattern."""

    frozen: Frozen
    circuit: Circuit
    task: SymbolicTask
    properties: tuple[SymbolicProperty, ...]

    def __post_init__(self) -> None:
        sizes = self.frozen.architecture
        refuse_misfit(self.frozen, self.circuit, self.properties)
        if self.task.vocabulary != sizes.vocabulary:
            raise InputError(
                f"task {self.task.name!r} has a vocabulary of {self.task.vocabulary} tokens, "
                f"the model of {sizes.vocabulary}"
            )
        if self.task.pattern.longest > sizes.context:
            raise InputError(
                f"the pattern has prompts of up to {self.task.pattern.longest} tokens, "
                f"the model's context is {sizes.context}; add 'up to {sizes.context} tokens'"
            )
        self.task.refuse_other_alphabet(self.frozen.declaration.alphabet)
        for prop in self.properties:
            if isinstance(prop, Robustness) and not prop.at.is_final_residual:
                self._refuse_misplaced(prop.at)

    def _refuse_misplaced(self, at: Interface) -> None:
        """Refuse positions that a prompt lacks and, at `logits`, those that are the last of no prompt."""
        lengths = self.task.lengths()
        refuse_misplaced(at, self.circuit, set(lengths))
        if at.node == LOGITS and not any(length - 1 in at.places(length) for length in lengths):
            refuse_unreached_prompts(at, self.task.size, self.task.size)

    def directions(self) -> Directions:
        """Return the candidates' rows of the output embedding."""
        return directions(self.frozen.unembedding(self.task.candidates))
