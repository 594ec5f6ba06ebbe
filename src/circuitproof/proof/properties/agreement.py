"""Agreement: two circuits of a model decide alike."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

from circuitproof.circuits.ablation import Ablation, Zero
from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.readers import reads_prompt
from circuitproof.circuits.spelling import parse_edges
from circuitproof.errors import InputError, NotExactError, UsageError
from circuitproof.files.canonical import Json
from circuitproof.files.printing import plural
from circuitproof.files.reading import Fields
from circuitproof.proof.claim import Claim, refuse_other_graph
from circuitproof.proof.counterexamples import Decided, beside, fold_of
from circuitproof.proof.effort import Effort
from circuitproof.proof.evidence import Replay, make_leaf
from circuitproof.proof.fold import CandidateLogits, Folded
from circuitproof.proof.inexact import Need, inexact_circuit
from circuitproof.proof.known import all_of, divide, is_clear, same_decision, same_logits
from circuitproof.proof.properties.each_prompt import for_every_prompt, unprovable
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.properties.property import Asked, Property, PropertyWords
from circuitproof.proof.properties.questions import Compared, EachPrompt, PropertyQuestion, Sought
from circuitproof.proof.regions.disturbed import Point
from circuitproof.proof.remarks import Decisions, Plain, Remark, RemarkContext, constant, perhaps
from circuitproof.proof.verdict import Answer, Battery
from circuitproof.tasks.domain import Domain, Prompt

if TYPE_CHECKING:
    from circuitproof.proof.patterns.answers import PatternProver
    from circuitproof.proof.patterns.goals import Seen
    from circuitproof.proof.patterns.regions import PromptRegion

_TOLD = 12
"""Of so many edges at most the words of the property name each."""


@dataclass(frozen=True, slots=True)
class Agreement(Property):
    """For every prompt, the claim's circuit and another one have the same clear decision."""

    kind: ClassVar[Kind] = Kind.AGREEMENT
    is_known_on_patterns: ClassVar[bool] = True
    wants_clear: ClassVar[bool] = True
    second: ClassVar[str] = "other"
    beside: ClassVar[str] = "the other circuit"

    circuit: Circuit
    """The other one, of the granularity and under the ablation of the claim's."""

    @classmethod
    def asked(cls, asked: Asked) -> Self:
        if asked.agrees_with is None:
            raise UsageError("agreement wants another circuit: give its file with --agrees-with")
        return cls(asked.agrees_with)

    @classmethod
    def given(cls, asked: Asked) -> str:
        return "" if asked.agrees_with is None else "--agrees-with"

    @classmethod
    def read(cls, fields: Fields, circuit: Circuit) -> Self:
        fields.choice("granularity", type(circuit.graph.granularity))
        return cls(parse_edges(circuit.graph, fields.texts("edges"), fields.where, circuit.ablation))

    def to_json(self) -> dict[str, Json]:
        return {
            "kind": str(self.kind),
            "granularity": str(self.circuit.graph.granularity),
            "edges": [str(edge) for edge in self.circuit],
        }

    @property
    def name(self) -> str:
        return f"agreement with {plural(len(self.circuit), 'edge')}"

    def meaning(self) -> PropertyWords:
        edges = list(map(str, self.circuit))
        told = ", ".join(edges) if len(edges) <= _TOLD else plural(len(edges), "edge")
        return PropertyWords(
            "On every prompt the circuit and another one, C′, get the same decision, and it is clear. "
            f"C′ keeps {told}.",
            "∀x ∈ D:  d(x) = d of C′ (x), |d(x)| = 1",
            "Both may be wrong, and they may decide alike for different reasons.",
        )

    def under(self, ablation: Ablation) -> Self:
        return replace(self, circuit=replace(self.circuit, ablation=ablation))

    def refuse_misfit(self, claim: Claim) -> None:
        own, other = claim.circuit, self.circuit
        try:
            refuse_other_graph(claim.frozen, other)
        except InputError as error:
            raise InputError(f"the circuit that agreement is claimed with: {error}") from error
        if own.graph.granularity != other.graph.granularity:
            raise InputError(
                f"agreement is claimed with a circuit of granularity {other.graph.granularity}, the claim's "
                f"has {own.graph.granularity}; give both the same"
            )
        if own.ablation != other.ablation:
            raise InputError(
                f"agreement is claimed with a circuit under {other.ablation.kind} ablation, the claim's is "
                f"under {own.ablation.kind} ablation or another of that kind; give both one with --ablation"
            )
        if own.live() == other.live():
            raise InputError(
                "agreement is claimed with a circuit of the same edges, those that lead nowhere apart; "
                "give another circuit"
            )
        if isinstance(other.ablation, Zero) and not reads_prompt(other, claim.frozen.programs):
            raise InputError("agreement is claimed with a circuit that reads no prompt; give another circuit")

    def other_circuits(self, claim: Claim) -> Sequence[Circuit]:
        return (self.circuit,) if self.cannot_prove(claim) is None else ()

    def cannot_prove(self, claim: Claim) -> str | None:
        operator = inexact_circuit(claim.frozen, self.circuit, claim.arithmetic)
        return None if operator is None else Need.AGREEMENT.format(operator)

    def shown_beside(self) -> Circuit:
        return self.circuit

    def answer_list(self, claim: Claim, folded: Folded[CandidateLogits], _effort: Effort) -> Answer:
        if (reason := self.cannot_prove(claim)) is not None:
            return unprovable(claim, self, reason)
        pairs = list(zip(folded.of(claim.circuit), folded.of(self.circuit), strict=True))
        alike = divide(
            all_of((same_decision(one, other), is_clear(one.decision), is_clear(other.decision)))
            for one, other in pairs
        )
        return for_every_prompt(claim, self, [make_leaf(one, other) for one, other in pairs], alike)

    def answer_pattern(self, prover: "PatternProver") -> Answer:
        return prover.for_every_prompt(self, SameDecision(self.circuit))

    def remarks(self, battery: Battery, grounds: RemarkContext, decisions: Decisions) -> tuple[Remark, ...]:
        claim, folded = battery.claim, battery.folded
        if not isinstance(claim.task.domain, Domain):
            return constant(grounds, decisions)
        is_same = all_of(map(same_logits, folded.of(claim.circuit), folded.of(self.circuit)))
        return constant(grounds, decisions) + perhaps(Plain.SAME_LOGITS, is_same)

    def questions(self, claim: Claim) -> tuple[PropertyQuestion, ...]:
        if (reason := self.cannot_prove(claim)) is not None:
            raise NotExactError(reason)
        said = ("is not decided clearly and alike by both circuits", "is, clearly")
        return (EachPrompt(Sought(Compared.NOT_ALIKE, (claim.circuit, self.circuit), said)),)

    def replayed(self, claim: Claim, prompts: Sequence[Prompt], _eta: Point) -> tuple[Decided, ...]:
        return tuple(
            beside(claim, x, fold_of(claim, self.circuit, x).decision, fold_of(claim, claim.circuit, x))
            for x in prompts
        )


@dataclass(frozen=True, slots=True)
class SameDecision:
    """Every prompt has the same clear decision in two circuits."""

    second: Circuit

    def decision(self, _region: "PromptRegion", first: "Seen") -> int:
        return first.exact.winner

    def least(self, _winner: int, _other: int) -> Fraction:
        return Fraction(0)

    def broken_by(self, seen: "Seen") -> Replay | None:
        """Return a prompt that is a tie, or that the other circuit decides otherwise."""
        is_unlike = Compared.NOT_ALIKE.holds(seen.exact, seen.exact_second)
        return Replay((seen.replayed(),)) if is_unlike else None
