"""Remarks: what a reader must know of a proved answer that tells less than its name.

The table is in docs/certificate.md; a checker finds the same remarks by itself and compares.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias, assert_never

from circuitproof.circuits.ablation import Ablation, Counterfactual, Mean, Pooling, Zero, is_uniform
from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Edge, Head
from circuitproof.circuits.readers import needs_each_edge_to_read
from circuitproof.models.declaration import ProgramHeads
from circuitproof.proof.enclosed import PERHAPS, Decision, NotKnown, Ternary
from circuitproof.proof.known import all_of, is_clear, same
from circuitproof.tasks.domain import Prompt


class Plain(StrEnum):
    """The remarks that name nothing."""

    IMPLIED = "implied by equivalence"
    CLEAR = "implied by clear decisions"
    CONSTANT = "constant answer"
    DECISION = "constant decision"
    UNEDGED = "decided without edges"
    ONE_EDGE = "one edge"
    WHOLE = "whole model"
    NO_EDGES = "no edges"
    SAME_LOGITS = "same logits"
    NO_PROGRAM = "no program head"
    UNUSED_PROGRAM = "no program head in the circuit"
    AS_MODEL = "logits of the whole model"


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
class OwnPartner:
    """So many prompts are their own partners: a cut edge carries what a kept one would in the whole model."""

    prompts: int

    def __str__(self) -> str:
        return f"own partners: {self.prompts}"


@dataclass(frozen=True, slots=True)
class SingleMean:
    """For so many prompts the mean is taken over a single prompt."""

    prompts: int

    def __str__(self) -> str:
        return f"means of one prompt: {self.prompts}"


@dataclass(frozen=True, slots=True)
class ConstantScore:
    """One answer is right for so many prompts, no fewer than are said to be right."""

    prompts: int

    def __str__(self) -> str:
        return f"no better than a constant: {self.prompts}"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """So many prompts do not count."""

    prompts: int

    def __str__(self) -> str:
        return f"prompts left out: {self.prompts}"


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


@dataclass(frozen=True, slots=True)
class OpenRemark:
    """A remark of which it is not known whether it applies: a reader must reckon with it."""

    remark: Plain | SharedBias

    def __str__(self) -> str:
        return f"{PERHAPS}{self.remark}"


Remark: TypeAlias = (
    Plain
    | SharedBias
    | ConstantSource
    | ConstantScore
    | LeftOut
    | OwnPartner
    | SingleMean
    | Tied
    | Unreached
    | OfBase
    | OpenRemark
)
Decisions: TypeAlias = Sequence[frozenset[int]]
"""What is decided, as places of candidates: of each prompt of a list, or in each region of a pattern."""


@dataclass(frozen=True, slots=True)
class RemarkContext:
    """What the remarks on a claim's answers follow from."""

    answers: Mapping[int, frozenset[int]]
    """For each class the right answers of its prompts."""
    circuit: Circuit
    programs: ProgramHeads
    is_equivalent: bool
    """Whether equivalence is claimed and proved, by itself or as a part of another property."""
    has_single_classes: bool = False
    """Whether each prompt is a class of its own."""
    unedged: Sequence[Decision] = ()
    """What the circuit without any edge decides: of each prompt of a list, of any prompt of a pattern."""
    of_prompts: tuple[Remark, ...] = ()
    """What there is to remark on the prompts that cut edges carry something of."""
    is_as_model: Ternary = False
    """Whether the circuit has the model's logits, though cut edges may carry something."""
    lacks_edges: bool = True
    """Whether the circuit cuts an edge of the model."""

    @property
    def is_constant(self) -> bool:
        """Say whether all prompts have the same right answer."""
        return len(frozenset[int]().union(*self.answers.values())) == 1


def remarks_on_prompts(ablation: Ablation, prompts: Sequence[Prompt]) -> tuple[Remark, ...]:
    """Return how many prompts stand for themselves at cut edges, or alone."""
    match ablation:
        case Zero():
            return ()
        case Mean(over=Pooling.ALL):
            single = len(prompts) if len(ablation.prompts) == 1 else 0
            return (SingleMean(single),) if single else ()
        case Mean():
            lengths = Counter(map(len, ablation.prompts))
            single = sum(lengths[len(prompt)] == 1 for prompt in prompts)
            return (SingleMean(single),) if single else ()
        case Counterfactual():
            own = sum(ablation.partners[prompt] == prompt for prompt in prompts)
            return (OwnPartner(own),) if own else ()
        case _:
            assert_never(ablation)


def perhaps(remark: Plain | SharedBias, applies: Ternary) -> tuple[Remark, ...]:
    """Return a remark if it applies; it warns, so one that may apply is not passed over."""
    if isinstance(applies, NotKnown):
        return (OpenRemark(remark),)
    return (remark,) if applies else ()


def constant(context: RemarkContext, decisions: Decisions) -> tuple[Remark, ...]:
    """Remark that every prompt is decided alike, and that no edge is needed for it."""
    is_alike = len(set(decisions)) == 1 and len(decisions[0]) == 1
    return (Plain.DECISION,) * is_alike + unedged(context, decisions)


def unedged(context: RemarkContext, decisions: Decisions) -> tuple[Remark, ...]:
    """Remark that without any edge every prompt is decided so, clearly."""
    if not decisions or len(context.unedged) not in {1, len(decisions)}:
        return ()
    if len(context.unedged) == 1 and len(set(decisions)) > 1:  # one decision for all prompts, known or not
        return ()
    without = context.unedged if len(context.unedged) > 1 else [context.unedged[0]] * len(decisions)
    pairs = zip(decisions, without, strict=True)
    alike = [same(one, other) for one, other in pairs]
    return perhaps(Plain.UNEDGED, all_of([*alike, *map(is_clear, context.unedged)]))


def needs_every_edge(context: RemarkContext) -> bool:
    """Say whether a circuit that decides two answers right needs each of its edges, whatever the weights.

    It does where each edge is on every way from what tells prompts apart to the logits: without it one
    decision (or tie) is left for all prompts, and where two answers were right, some prompt changes.
    """
    is_blind = is_uniform(context.circuit.ablation) and not context.is_constant
    return is_blind and needs_each_edge_to_read(context.circuit, context.programs)
