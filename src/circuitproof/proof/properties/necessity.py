"""Necessity: each kept edge is needed by some prompt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

from circuitproof.circuits.ablation import Zero, is_uniform
from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Edge, Head
from circuitproof.circuits.readers import constant_edges
from circuitproof.forward.cells import BiasKept, Variant
from circuitproof.forward.frozen import Frozen
from circuitproof.proof.claim import Claim
from circuitproof.proof.counterexamples import Decided, decided
from circuitproof.proof.effort import Effort
from circuitproof.proof.enclosed import Ternary
from circuitproof.proof.evidence import (
    EdgeSplit,
    OneEdge,
    Open,
    PromptSplit,
    Replay,
    Replayed,
    logits_of,
    make_leaf,
)
from circuitproof.proof.findings import EdgeWitnesses, Findings
from circuitproof.proof.fold import CandidateLogits, Folded
from circuitproof.proof.known import (
    changed_places,
    changes_nothing,
    divide,
    is_changed,
    is_clear,
    open_words,
)
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.properties.property import Property, PropertyWords
from circuitproof.proof.properties.questions import Compared, OneWitness, PropertyQuestion, Sought
from circuitproof.proof.regions.disturbed import Point
from circuitproof.proof.remarks import (
    ConstantSource,
    Decisions,
    Plain,
    Remark,
    RemarkContext,
    SharedBias,
    needs_every_edge,
    perhaps,
)
from circuitproof.proof.verdict import Answer, Battery, PropertyOutcome, Proved, Refuted, Undecided
from circuitproof.tasks.domain import Prompt

if TYPE_CHECKING:
    from circuitproof.proof.patterns.answers import PatternProver
    from circuitproof.proof.patterns.goals import Seen
    from circuitproof.proof.patterns.regions import PromptRegion


@dataclass(frozen=True, slots=True)
class Necessity(Property):
    """Each kept edge has a prompt whose clear decision changes when the edge is gone."""

    kind: ClassVar[Kind] = Kind.NECESSITY
    is_known_on_patterns: ClassVar[bool] = True
    is_enclosed_on_patterns: ClassVar[bool] = True
    is_about_edges: ClassVar[bool] = True
    wants_witnesses: ClassVar[bool] = True
    second: ClassVar[str] = "lesion"

    def meaning(self) -> PropertyWords:
        return PropertyWords(
            "Each kept edge has a prompt whose clear decision changes when the edge is cut.",
            "∀e ∈ C  ∃x ∈ D:  |d(x)| = 1,  d without e (x) ≠ d(x)",
            "An edge may matter on one prompt only, and another circuit may do without it.",
        )

    def other_circuits(self, claim: Claim) -> Sequence[Circuit]:
        return claim.circuit.lesions()

    def remarked_variants(self, claim: Claim) -> Sequence[Variant]:
        """Return the lesions with a shared bias kept."""
        return tuple(kept_biases(claim).values())

    def obligations(self, claim: Claim) -> int:
        return len(claim.circuit)

    def answer_list(self, claim: Claim, folded: Folded[CandidateLogits], _effort: Effort) -> Answer:
        before, prompts = folded.of(claim.circuit), claim.task.prompts
        witnesses = [_witnesses(claim, folded, edge) for edge in claim.circuit]
        edges = divide(found.is_needed for found in witnesses)
        leaves = [
            tuple(make_leaf(one, other) for one, other in zip(before, folded.of(lesion), strict=True))
            for lesion in claim.circuit.lesions()
        ]
        outcome: PropertyOutcome
        if edges.no:
            outcome = Refuted(OneEdge(edges.no[0], PromptSplit(leaves[edges.no[0]])))
        elif edges.open:
            values = [one for k in edges.open for x in witnesses[k].open for one in logits_of(leaves[k][x])]
            outcome = Undecided(Open(open_words(f"{len(edges.open)} of {len(leaves)} edges are", values)))
        else:
            first = [(found.flips + found.ties)[0] for found in witnesses]
            replays = [Replay((Replayed(prompts[x], row[x]),)) for x, row in zip(first, leaves, strict=True)]
            outcome = Proved(EdgeSplit(tuple(replays)))
        return Answer(self, outcome, len(leaves), len(edges.yes), Findings(edges=tuple(witnesses)))

    def known_edges(self, claim: Claim, folded: Folded[CandidateLogits]) -> tuple[EdgeWitnesses, ...]:
        kept = kept_biases(claim)
        needed = {
            edge: (claim.circuit, claim.circuit.without(edge), *([kept[edge]] if edge in kept else ()))
            for edge in claim.circuit
        }
        return tuple(
            _witnesses(claim, folded, edge) for edge, variants in needed.items() if folded.has(variants)
        )

    def answer_pattern(self, prover: "PatternProver") -> Answer:
        """Look for a prompt that needs each edge; an edge that none needs refutes."""
        witnesses: list[Replay] = []
        left: Open | None = None
        idle: OneEdge | None = None
        regions, circuit = 0, prover.claim.circuit
        for place, edge in enumerate(circuit):
            cover = prover.cover(Idle(circuit.without(edge)))
            found = cover.whole()
            regions += cover.regions
            match found:
                case Replay():
                    witnesses.append(found)
                case Open(reason):
                    left = left or Open(f"no prompt found that needs {edge}; {reason}")
                case cases:
                    idle = OneEdge(place, cases)
                    break
        outcome = Refuted(idle) if idle else Undecided(left) if left else Proved(EdgeSplit(tuple(witnesses)))
        return Answer(self, outcome, len(circuit), len(witnesses), prover.survey(outcome, regions))

    def remarks(self, battery: Battery, grounds: RemarkContext, _decisions: Decisions) -> tuple[Remark, ...]:
        implied = (Plain.IMPLIED,) * (grounds.is_equivalent and needs_every_edge(grounds))
        can_be_fixed = is_uniform(grounds.circuit.ablation)
        fixed = constant_edges(grounds.circuit, grounds.programs) if can_be_fixed else ()
        biases = _shared_biases(battery.claim, battery.folded)
        warned = [perhaps(SharedBias(edge), applies) for edge, applies in biases]
        return (*implied, *chain.from_iterable(warned), *map(ConstantSource, fixed))

    def questions(self, claim: Claim) -> tuple[PropertyQuestion, ...]:
        return tuple(_question(claim.circuit, edge) for edge in claim.circuit)

    def replayed(self, claim: Claim, prompts: Sequence[Prompt], _eta: Point) -> tuple[Decided, ...]:
        return tuple(decided(claim, claim.circuit, prompt) for prompt in prompts)


def _question(circuit: Circuit, edge: Edge) -> OneWitness:
    """Return that some prompt's clear decision changes when an edge is gone."""
    said = (
        f"is decided otherwise without {edge}: the edge is needed",
        f"needs {edge}: it is not needed there",
    )
    return OneWitness(Sought(Compared.CHANGED, (circuit, circuit.without(edge)), said), str(edge))


def _witnesses(claim: Claim, folded: Folded[CandidateLogits], edge: Edge) -> EdgeWitnesses:
    """Return the prompts whose clear decision is another clear one, or a tie, without an edge."""
    before, after = folded.of(claim.circuit), folded.of(claim.circuit.without(edge))
    changed = changed_places(before, after)
    flips = tuple(x for x in changed.yes if is_clear(after[x].decision) is True)
    ties = tuple(x for x in changed.yes if is_clear(after[x].decision) is False)
    kept = bias_kept(claim.frozen, claim.circuit, edge)
    is_biased = kept is not None and changes_nothing(before, folded.of(kept)) is True
    return EdgeWitnesses(edge, flips, ties, only_bias=is_biased, open=changed.open)


def _shared_biases(claim: Claim, folded: Folded[CandidateLogits]) -> tuple[tuple[Edge, Ternary], ...]:
    """Say whether edges change no decision as long as a shared bias is kept, where there is one."""
    kept = kept_biases(claim)
    before = folded.of(claim.circuit) if kept else ()
    return tuple((edge, changes_nothing(before, folded.of(variant))) for edge, variant in kept.items())


def kept_biases(claim: Claim) -> Mapping[Edge, BiasKept]:
    """Return the lesions with a shared bias kept, by edge, where there is one."""
    kept = {edge: bias_kept(claim.frozen, claim.circuit, edge) for edge in claim.circuit}
    return {edge: variant for edge, variant in kept.items() if variant is not None}


def bias_kept(frozen: Frozen, circuit: Circuit, edge: Edge) -> BiasKept | None:
    """Return a circuit without an edge whose target still reads the bias that went with it, if one did.

    One did if the edge comes from the only head of its layer that the target keeps.
    """
    is_shared = frozen.architecture.biases and isinstance(circuit.ablation, Zero)
    if not isinstance(edge.source, Head) or not is_shared:
        return None
    layer = edge.source.layer
    rivals = [s for s in circuit.sources(edge.target) if isinstance(s, Head) and s.layer == layer]
    return BiasKept(circuit.without(edge), edge.target, layer) if len(rivals) == 1 else None


@dataclass(frozen=True, slots=True)
class Idle:
    """No prompt with a clear decision is decided differently without an edge; one that is needs the edge."""

    second: Circuit
    """The circuit without the edge."""

    def decision(self, _region: "PromptRegion", first: "Seen") -> int:
        """Return one of the candidates that lead on one prompt of the region."""
        return first.fold.leader

    def least(self, _winner: int, _other: int) -> Fraction:
        return Fraction(0)

    def broken_by(self, seen: "Seen") -> Replay | None:
        """Return a prompt that needs the edge."""
        assert seen.second is not None  # noqa: S101  # the solver looks at the lesion that the goal names
        is_needed = is_changed(seen.fold, seen.second) is True
        return Replay((seen.replayed(),)) if is_needed else None
