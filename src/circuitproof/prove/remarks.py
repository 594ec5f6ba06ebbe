"""Remarks: what a reader must know of a proved answer that tells less than its name.

The table is in docs/certificate.md; a checker finds the same remarks by itself and compares.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias, assert_never

from circuitproof.declare.circuits.circuit import Circuit
from circuitproof.declare.circuits.graph import Edge
from circuitproof.declare.programs.syntax import Otherwise
from circuitproof.forward.declaration import ProgramHeads
from circuitproof.prove.properties import Kind


class Plain(StrEnum):
    """The remarks that name nothing."""

    IMPLIED = "implied by equivalence"
    CLEAR = "implied by clear decisions"
    CONSTANT = "constant answer"


@dataclass(frozen=True, slots=True)
class SharedBias:
    """Without an edge, but with the bias that heads share, no prompt would be decided otherwise."""

    edge: Edge

    def __str__(self) -> str:
        return f"shared bias: {self.edge}"


@dataclass(frozen=True, slots=True)
class Unreached:
    """So many prompts have logits that the perturbation does not reach."""

    prompts: int

    def __str__(self) -> str:
        return f"unreached prompts: {self.prompts}"


Remark: TypeAlias = Plain | SharedBias | Unreached


@dataclass(frozen=True, slots=True)
class Grounds:
    """What the remarks on a claim's answers follow from."""

    answers: Mapping[int, frozenset[int]]
    """For each class the right answers of its prompts."""
    circuit: Circuit
    programs: ProgramHeads
    is_equivalent: bool
    """Whether equivalence is claimed and proved."""
    shared_biases: tuple[Edge, ...] = ()
    """The edges that change no decision as long as a shared bias is kept, in order."""
    unreached: int = 0
    """How many listed prompts a perturbation does not reach."""
    has_single_classes: bool = False
    """Whether the prompts are listed and each is a class of its own."""

    @property
    def is_constant(self) -> bool:
        """Say whether all prompts have the same right answer."""
        return len(frozenset[int]().union(*self.answers.values())) == 1


def remarks(kind: Kind, grounds: Grounds) -> tuple[Remark, ...]:
    """Return what there is to remark on the proof of a property, in the order of the table."""
    match kind:
        case Kind.EQUIVALENCE | Kind.SUBSET_MINIMALITY | Kind.MINIMUM:
            return (Plain.CONSTANT,) * grounds.is_constant
        case Kind.INVARIANCE:
            has_one_each = all(len(answers) == 1 for answers in grounds.answers.values())
            implied = (Plain.IMPLIED,) * (grounds.is_equivalent and has_one_each)
            return implied + (Plain.CLEAR,) * grounds.has_single_classes
        case Kind.NECESSITY:
            implied = (Plain.IMPLIED,) * implies_necessity(grounds)
            return implied + tuple(map(SharedBias, grounds.shared_biases))
        case Kind.ROBUSTNESS:
            return (Unreached(grounds.unreached),) if grounds.unreached else ()
        case Kind.FAITHFULNESS | Kind.LESION_IDENTITY:
            return ()
        case _:
            assert_never(kind)


def implies_necessity(grounds: Grounds) -> bool:
    """Say whether necessity follows from equivalence alone, so that proving it adds nothing.

    A chain passes everything through each of its edges. Without one of them the rest reads a constant,
    and attention rows that sum to one pass a constant on, so one decision (or tie) is left for all
    prompts: where two answers were right, some prompt changes. Rows that attend nowhere break this.
    """
    is_varied = grounds.is_equivalent and not grounds.is_constant
    return is_varied and is_chain(grounds.circuit) and not _attends_nowhere(grounds)


def is_chain(circuit: Circuit) -> bool:
    """Say whether the kept edges are one path from `embed` to `logits`."""
    sources = Counter(edge.source for edge in circuit.edges)
    targets = Counter(edge.target for edge in circuit.edges)
    return circuit.live() == circuit and max(sources.values()) == 1 and max(targets.values()) == 1


def _attends_nowhere(grounds: Grounds) -> bool:
    heads = [head for head in grounds.circuit.heads() if head in grounds.programs]
    return any(grounds.programs[head].otherwise is Otherwise.NOWHERE for head in heads)
