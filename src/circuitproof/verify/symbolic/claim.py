"""A claim about every prompt of a pattern. Holding one is proof that its parts fit together."""

from dataclasses import dataclass
from typing import TypeAlias

from circuitproof.circuits.circuit import Circuit
from circuitproof.errors import InputError
from circuitproof.semantics.frozen import Frozen
from circuitproof.tasks.symbolic import SymbolicTask
from circuitproof.verify.claim import refuse_misfit
from circuitproof.verify.properties import Equivalence, Invariance, Necessity, Robustness
from circuitproof.verify.robustness import Directions, directions

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

    def directions(self) -> Directions:
        """Return the candidates' rows of the output embedding."""
        return directions(self.frozen.unembedding(self.task.candidates))
