"""A claim about every prompt of a pattern. Holding one is proof that its parts fit together."""

from dataclasses import dataclass
from typing import TypeAlias

from circuitproof.circuits.circuit import Circuit
from circuitproof.errors import InputError
from circuitproof.semantics.frozen import Frozen
from circuitproof.tasks.symbolic import SymbolicTask
from circuitproof.verify.claim import reads_prompt
from circuitproof.verify.properties import Equivalence, Invariance, Necessity, Robustness, kind_of
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
        if self.circuit.graph != self.frozen.graph:
            raise InputError(
                f"the circuit is of {self.circuit.graph.layers} layers of {self.circuit.graph.heads} heads, "
                f"the model has {sizes.layers} of {sizes.heads}"
            )
        if not reads_prompt(self.circuit):
            raise InputError(
                "embed does not reach logits along kept edges; such a circuit cannot read its prompt"
            )
        kinds = [kind_of(prop) for prop in self.properties]
        if not kinds or len(set(kinds)) != len(kinds):
            raise InputError(
                f"a claim wants one or more distinct properties, got {', '.join(kinds) or 'none'}"
            )
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
