"""Remarks: what a reader must know of a proved answer that tells less than its name.

The table is in docs/certificate.md; a checker finds the same remarks by itself and compares.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias, assert_never

from circuitproof.declare.circuits.circuit import Circuit
from circuitproof.declare.circuits.graph import LOGITS, Edge, Head
from circuitproof.declare.circuits.readers import constant_edges, needs_each_edge_to_read, readers
from circuitproof.forward.declaration import ProgramHeads
from circuitproof.prove.properties import Kind


class Plain(StrEnum):
    """The remarks that name nothing."""

    IMPLIED = "implied by equivalence"
    CLEAR = "implied by clear decisions"
    CONSTANT = "constant answer"
    DECISION = "constant decision"
    UNEDGED = "decided without edges"
    ONE_EDGE = "one edge"
    WHOLE = "whole model"
    NO_PROGRAM = "no program head"
    UNUSED_PROGRAM = "no program head in the circuit"


@dataclass(frozen=True, slots=True)
class SharedBias:
    """Without an edge, but with the bias that heads share, no prompt would be decided otherwise."""

    edge: Edge

    def __str__(self) -> str:
        return f"shared bias: {self.edge}"


@dataclass(frozen=True, slots=True)
class ConstantSource:
    """What an edge carries is the same at every position of every prompt."""

    edge: Edge

    def __str__(self) -> str:
        return f"constant source: {self.edge}"


@dataclass(frozen=True, slots=True)
class Tied:
    """So many prompts are decided by nobody, in the circuit as in the model."""

    prompts: int

    def __str__(self) -> str:
        return f"tied prompts: {self.prompts}"


@dataclass(frozen=True, slots=True)
class Unreached:
    """So many prompts have logits that the perturbation does not reach."""

    prompts: int

    def __str__(self) -> str:
        return f"unreached prompts: {self.prompts}"


@dataclass(frozen=True, slots=True)
class OfBase:
    """A head has the same program in the base."""

    head: Head

    def __str__(self) -> str:
        return f"program of the base: {self.head}"


Remark: TypeAlias = Plain | SharedBias | ConstantSource | Tied | Unreached | OfBase
Decisions: TypeAlias = Sequence[frozenset[int]]
"""What is decided, as places of candidates: of each prompt of a list, or in each region of a pattern."""


@dataclass(frozen=True, slots=True)
class Grounds:
    """What the remarks on a claim's answers follow from."""

    answers: Mapping[int, frozenset[int]]
    """For each class the right answers of its prompts."""
    circuit: Circuit
    programs: ProgramHeads
    is_equivalent: bool
    """Whether equivalence is claimed and proved, by itself or as a part of another property."""
    shared_biases: tuple[Edge, ...] = ()
    """The edges that change no decision as long as a shared bias is kept, in order."""
    unreached: int = 0
    """How many listed prompts a perturbation does not reach."""
    has_single_classes: bool = False
    """Whether each prompt is a class of its own."""
    unedged: frozenset[int] = frozenset()
    """What the circuit without any edge decides."""
    is_whole: bool = False
    """Whether the circuit lacks no edge but those from or to nodes that put out zero."""
    listed: int = 0
    """How many circuits are said to be the smallest."""
    of_base: tuple[Head, ...] = ()
    """The heads that have the same program in the base of a lesion identity, in order."""

    @property
    def is_constant(self) -> bool:
        """Say whether all prompts have the same right answer."""
        return len(frozenset[int]().union(*self.answers.values())) == 1


def remarks(kind: Kind, grounds: Grounds, decisions: Decisions = ()) -> tuple[Remark, ...]:
    """Return what there is to remark on the proof of a property, in the order of the table."""
    match kind:
        case Kind.EQUIVALENCE:
            return (Plain.CONSTANT,) * grounds.is_constant + _unedged(grounds, decisions)
        case Kind.SUBSET_MINIMALITY:
            return (Plain.IMPLIED,) * needs_every_edge(grounds) + (Plain.CONSTANT,) * grounds.is_constant
        case Kind.MINIMUM:
            is_one = len(grounds.circuit) == 1 and not grounds.is_constant
            has_rivals = grounds.listed < len(readers(grounds.programs))
            implied = (Plain.IMPLIED,) * (is_one and not has_rivals)
            return implied + (Plain.CONSTANT,) * grounds.is_constant + (Plain.ONE_EDGE,) * is_one
        case Kind.INVARIANCE:
            has_one_each = all(len(answers) == 1 for answers in grounds.answers.values())
            implied = (Plain.IMPLIED,) * (grounds.is_equivalent and has_one_each)
            return implied + (Plain.CLEAR,) * grounds.has_single_classes + _constant(grounds, decisions)
        case Kind.NECESSITY:
            implied = (Plain.IMPLIED,) * (grounds.is_equivalent and needs_every_edge(grounds))
            constant = constant_edges(grounds.circuit, grounds.programs)
            return (*implied, *map(SharedBias, grounds.shared_biases), *map(ConstantSource, constant))
        case Kind.ROBUSTNESS:
            unreached = (Unreached(grounds.unreached),) if grounds.unreached else ()
            return _constant(grounds, decisions) + unreached
        case Kind.FAITHFULNESS:
            tied = sum(len(decision) > 1 for decision in decisions)
            ties = (Tied(tied),) if tied else ()
            return _constant(grounds, decisions) + (Plain.WHOLE,) * grounds.is_whole + ties
        case Kind.LESION_IDENTITY:
            return _of_lesion(grounds)
        case _:
            assert_never(kind)


def _constant(grounds: Grounds, decisions: Decisions) -> tuple[Plain, ...]:
    """Remark that every prompt is decided alike, and that no edge is needed for it."""
    is_alike = len(set(decisions)) == 1 and len(decisions[0]) == 1
    return (Plain.DECISION,) * is_alike + _unedged(grounds, decisions)


def _unedged(grounds: Grounds, decisions: Decisions) -> tuple[Plain, ...]:
    is_same = len(grounds.unedged) == 1 and set(decisions) == {grounds.unedged}
    return (Plain.UNEDGED,) * is_same


def _of_lesion(grounds: Grounds) -> tuple[Remark, ...]:
    """Remark that there is nothing to silence, here or in the circuit, and on heads that the base has too."""
    attending = {head for head, program in grounds.programs.items() if not program.never_attends}
    is_unused = attending.isdisjoint(grounds.circuit.upstream([LOGITS]))
    plain = Plain.UNUSED_PROGRAM if grounds.programs else Plain.NO_PROGRAM
    return ((plain,) if is_unused else ()) + tuple(map(OfBase, grounds.of_base))


def needs_every_edge(grounds: Grounds) -> bool:
    """Say whether a circuit that decides two answers right needs each of its edges, whatever the weights.

    It does where each edge is on every way from what tells prompts apart to the logits: without it one
    decision (or tie) is left for all prompts, and where two answers were right, some prompt changes.
    """
    return not grounds.is_constant and needs_each_edge_to_read(grounds.circuit, grounds.programs)
