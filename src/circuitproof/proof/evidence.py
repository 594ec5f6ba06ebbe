"""Evidence: a closed tree of splits, whose children exhaust a question, and leaves that can be replayed."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, assert_never

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Head
from circuitproof.files.canonical import Digest
from circuitproof.files.reading import write_rational
from circuitproof.proof.enclosed import Enclosed
from circuitproof.proof.fold import CandidateLogits, Fold
from circuitproof.proof.known import known_decision
from circuitproof.proof.regions.regions import BranchTree
from circuitproof.tasks.domain import Prompt
from circuitproof.tasks.labelling import Label
from circuitproof.tasks.patterns import TokenClass


@dataclass(frozen=True, slots=True)
class FoldLeaf:
    """A prompt's exact logits, with what else the property is about.

    `second` is the fold of the circuit that it is compared with, if there is one, `radius` the exact radius,
    `regions` the evidence that a ball of perturbations keeps the decision.
    """

    fold: Fold
    second: Fold | None = None
    radius: "Radius | None" = None
    regions: BranchTree | None = None


@dataclass(frozen=True, slots=True)
class EnclosureLeaf:
    """A prompt's logits in an enclosing arithmetic, with what else the property is about.

    It never stands for exact logits: it has no equality, and shows no tie and no radius.
    """

    fold: CandidateLogits
    second: CandidateLogits | None = None


Leaf: TypeAlias = FoldLeaf | EnclosureLeaf


def logits_of(leaf: Leaf) -> Iterator[CandidateLogits]:
    """Return the logits that a leaf is about, of one circuit or two."""
    return (one for one in (leaf.fold, leaf.second) if one is not None)


def make_leaf(fold: CandidateLogits, second: CandidateLogits | None = None) -> Leaf:
    """Return the leaf of a prompt: of exact logits if all are."""
    if isinstance(fold, Enclosed) or isinstance(second, Enclosed):
        return EnclosureLeaf(fold, second)
    return FoldLeaf(fold, second)


@dataclass(frozen=True, slots=True)
class Radius:
    """The infimum of ‖η‖ over perturbations that change a decision; without a value there are none."""

    value: Fraction | None

    def exceeds(self, epsilon: Fraction) -> bool:
        """Say whether no perturbation of size at most `epsilon` changes the decision."""
        return self.value is None or self.value > epsilon

    def __str__(self) -> str:
        return "infinite" if self.value is None else write_rational(self.value)


@dataclass(frozen=True, slots=True)
class Replayed:
    """One prompt of a replay, and with a perturbation if the property has one."""

    prompt: Prompt
    leaf: Leaf
    perturbation: tuple[Fraction, ...] | None = None


@dataclass(frozen=True, slots=True)
class Replay:
    """Prompts on which anyone can see what is said."""

    prompts: tuple[Replayed, ...]


@dataclass(frozen=True, slots=True)
class PromptSplit:
    """Which prompt? One leaf per prompt of the domain, in its order."""

    children: tuple[Leaf, ...]


@dataclass(frozen=True, slots=True)
class EdgeSplit:
    """Which edge? One replay per kept edge, in their order."""

    children: tuple[Replay, ...]


@dataclass(frozen=True, slots=True)
class OneEdge:
    """An edge, by its place, and evidence about it."""

    edge: int
    evidence: "PromptSplit | Cases"


@dataclass(frozen=True, slots=True)
class CircuitSplit:
    """Which smaller circuit? For each, in order, a replay that refutes it or a proof that it suffices."""

    children: "tuple[Replay | PromptSplit, ...]"


@dataclass(frozen=True, slots=True)
class OneCircuit:
    """A smaller circuit, and evidence about it."""

    circuit: Circuit
    evidence: "Replay | PromptSplit"


@dataclass(frozen=True, slots=True)
class TensorSplit:
    """Which tensor? For each that is left without the program heads, in order of names, its one digest."""

    digests: tuple[Digest, ...]


@dataclass(frozen=True, slots=True)
class OneTensor:
    """A tensor that is not what it was."""

    name: str


@dataclass(frozen=True, slots=True)
class Evaluated:
    """So many prompts, all of the domain: whoever computes them again has the number that is claimed of."""

    prompts: int


@dataclass(frozen=True, slots=True)
class Open:
    """A question left open, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Settled:
    """Throughout a region one candidate leads each other by at least a margin.

    Margins stand in the order of the other candidates; `second` has those of the circuit that is compared.
    """

    decision: int
    """The candidate's place."""
    margins: tuple[Fraction, ...]
    second: tuple[Fraction, ...] | None = None
    is_attained: bool = True
    """Whether some prompt has each margin, so that none is larger than said."""


@dataclass(frozen=True, slots=True)
class BoxWeights:
    """How much each bound on what a head adds counts: two integers for each head of a sum."""

    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RatioCut:
    """What a head adds is below a first number, between two, or above the last; they count 2^-16."""

    head: Head
    at: tuple[int, ...]
    parts: "tuple[CutTree, ...]"


CutTree: TypeAlias = BoxWeights | RatioCut
"""Why no prompt of a region lets a rival catch up, whatever each head adds."""


@dataclass(frozen=True, slots=True)
class Led:
    """Throughout a region one candidate leads each other, in an enclosing arithmetic."""

    decision: int
    """The candidate's place."""
    cuts: tuple[tuple[tuple[int, ...], CutTree], ...] = ()
    """For some rivals the tree that shows it; the plain weights do for the others."""


@dataclass(frozen=True, slots=True)
class Listed:
    """All prompts of a small region, each to be computed by itself."""

    prompts: tuple[Replayed, ...]


@dataclass(frozen=True, slots=True)
class ByLabel:
    """Which answer and class? A child for each that some prompt has."""

    children: "tuple[tuple[Label, Cases], ...]"


@dataclass(frozen=True, slots=True)
class ByLength:
    """How long? A child for each length that some prompt has."""

    children: "tuple[tuple[int, Cases], ...]"


@dataclass(frozen=True, slots=True)
class ByToken:
    """Which token at a position? Classes that do not overlap."""

    position: int
    children: "tuple[tuple[TokenClass, Cases], ...]"


@dataclass(frozen=True, slots=True)
class BySum:
    """What do the weights of a head's row sum to, before they are divided by it?"""

    head: Head
    children: "tuple[tuple[Fraction, Cases], ...]"


@dataclass(frozen=True, slots=True)
class ByKey:
    """Where do the keys of a head's row stand? Ranges of positions that hold all, and at least one."""

    head: Head
    children: "tuple[tuple[tuple[int, int], Cases], ...]"


CaseSplit: TypeAlias = ByLabel | ByLength | ByToken | BySum | ByKey
Cases: TypeAlias = Settled | Led | Listed | CaseSplit
"""What covers the prompts of a pattern, or of a region of it."""
Proving: TypeAlias = PromptSplit | EdgeSplit | CircuitSplit | TensorSplit | Cases | Replay | Evaluated
Refuting: TypeAlias = Replay | OneEdge | OneCircuit | OneTensor | Evaluated | Cases
Evidence: TypeAlias = Proving | Refuting | Open


def shown_prompts(evidence: Evidence) -> Iterator[Replayed]:
    """Return the prompts that some evidence shows one by one, in order of appearance."""
    for leaf in _leaves(evidence):
        if isinstance(leaf, Replay | Listed):
            yield from leaf.prompts


def settled(evidence: Evidence) -> Iterator[Settled]:
    """Return the regions of a pattern that margins settle."""
    return (leaf for leaf in _leaves(evidence) if isinstance(leaf, Settled))


def decisions(evidence: Evidence) -> Iterator[frozenset[int]]:
    """Return what a proof about every prompt says is decided: prompt by prompt, or region by region."""
    for leaf in _leaves(evidence):
        match leaf:
            case PromptSplit(children):
                yield from (known_decision(child.fold) for child in children)
            case Listed(prompts):
                yield from (known_decision(one.leaf.fold) for one in prompts)
            case Settled(decision) | Led(decision):
                yield frozenset({decision})
            case _:
                pass


def _leaves(evidence: Evidence) -> Iterator[Evidence]:
    match evidence:
        case EdgeSplit(children) | CircuitSplit(children):
            for child in children:
                yield from _leaves(child)
        case OneEdge(_, part) | OneCircuit(_, part):
            yield from _leaves(part)
        case ByLabel() | ByLength() | ByToken() | BySum() | ByKey():
            for _, child in evidence.children:
                yield from _leaves(child)
        case (
            Replay()
            | Listed()
            | Settled()
            | Led()
            | PromptSplit()
            | TensorSplit()
            | OneTensor()
            | Evaluated()
            | Open()
        ):
            yield evidence
        case _:
            assert_never(evidence)
