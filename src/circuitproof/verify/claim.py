"""A claim: model × circuit × task × properties. Holding one is proof that the parts fit together."""

from dataclasses import dataclass

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import EMBED, LOGITS, Node
from circuitproof.errors import InputError
from circuitproof.semantics.cells import refuse_unreadable
from circuitproof.semantics.frozen import Frozen
from circuitproof.tasks.task import Task
from circuitproof.verify.properties import Faithfulness, Property, kind_of


@dataclass(frozen=True, slots=True)
class Claim:
    """What is to be proved of a frozen model's circuit on a task."""

    frozen: Frozen
    circuit: Circuit
    task: Task
    properties: tuple[Property, ...]

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
        self.task.refuse_other_alphabet(self.frozen.declaration.alphabet)
        kinds = [kind_of(prop) for prop in self.properties]
        if not kinds or len(set(kinds)) != len(kinds):
            raise InputError(
                f"a claim wants one or more distinct properties, got {', '.join(kinds) or 'none'}"
            )
        if max(self.task.candidates) >= sizes.vocabulary:
            raise InputError(
                f"candidate {max(self.task.candidates)} is not in the model's {sizes.vocabulary} tokens"
            )
        refuse_unreadable(self.task.domain.prompts, sizes.vocabulary, sizes.context)

    @property
    def needs_whole_model(self) -> bool:
        """Say whether the whole model is to be computed beside the circuit, and can be."""
        is_asked = any(isinstance(prop, Faithfulness) for prop in self.properties)
        return is_asked and self.frozen.declaration.inexact_operator is None


def reads_prompt(circuit: Circuit) -> bool:
    """Say whether `embed` reaches `logits` along kept edges."""
    reached: set[Node] = {EMBED}
    for edge in circuit:
        if edge.source in reached:
            reached.add(edge.target)
    return LOGITS in reached
